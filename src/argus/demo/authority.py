"""The demo's authority relation: what the standard library itself calls deprecated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from argus.authority.jobs.audit import AuthorityAuditResult, audit_opened
from argus.authority.jobs.config import AuthoritySource
from argus.authority.jobs.inputs import OpenedAuthority
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge
from argus.data.artifacts import ArtifactFolder
from argus.data.beir import write_jsonl
from argus.data.types import Document
from argus.encoders import EncoderConfig
from argus.jobs import workspace
from argus.knowledge import KnowledgeBase
from argus.knowledge.deprecations import deprecations


def audit_deprecations(
    base: KnowledgeBase,
    corpus: Sequence[Document],
    folder: ArtifactFolder,
    encoder: EncoderConfig | str,
    k: int,
) -> AuthorityAuditResult | None:
    """Ask with every deprecated entity's documentation for that of what replaces it.

    Writes the edges to `corpus/supersedes.jsonl`, for `argus authority` to try. None where a part
    of the library holds no deprecation.
    """
    changes = deprecations(base)
    if not changes:
        return None
    path = folder / "corpus"
    edges = [
        Edge(d.replacement_id, d.deprecated_id, f"deprecated, says its {d.source}") for d in changes
    ]
    write_jsonl(
        path / "supersedes.jsonl",
        (
            {
                "superseder": d.replacement_id, "superseded": d.deprecated_id,
                "rule": edge.rule, "since": d.since, "evidence": d.evidence,
            }
            for d, edge in zip(changes, edges, strict=True)
        ),
    )  # fmt: skip
    records = [Record(d.id, "documentation", text=d.text, title=d.title) for d in corpus]
    source = AuthoritySource(records=path, edges=path / "supersedes.jsonl")
    authority = OpenedAuthority(Authority(records, edges=edges), [], source)
    inputs: dict[str, Path | None] = {"corpus": path / "corpus.jsonl", "edges": source.edges}
    record = workspace.Record("authority", {"k": k, "relation": "deprecations"}, inputs)
    return audit_opened(authority, folder, record, encoder=encoder, k=k)
