"""`argus demo --full`: run audit, repair, judged questions and supersession on the library.

`full_demo`: the standard library of this Python -> a folder of results with one report. It calls
the jobs of the other folders in order. The corpus and its questions are in `argus.knowledge`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from argus.authority.audit import AuthorityAuditResult, audit_opened
from argus.authority.config import AuthoritySource
from argus.authority.opening import OpenedAuthority
from argus.authority.relation import Authority
from argus.authority.rules import Edge
from argus.authority.rules import Record as Dated
from argus.commands import command
from argus.corpora.opening import read_corpus
from argus.data.documents import as_rows
from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.types import Document
from argus.data.writing import one_writer, write_jsonl
from argus.encoders import DEFAULT_MODEL, EncoderConfig
from argus.indexes.job import build_index
from argus.indexes.views import ViewIndex
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.knowledge import KnowledgeBase
from argus.knowledge.stdlib import (
    deprecations,
    standard_library,
    standard_reference,
    write_sample_corpus,
)
from argus.progress import announce
from argus.remedies.blend import BlendResult, blend_index
from argus.remedies.config import ReferenceConfig
from argus.remedies.diagnosis import headline as diagnosis_headline
from argus.remedies.expansion import expand_index
from argus.remedies.receipt import RepairResult
from argus.remedies.undo import rollback
from argus.reports import write_report
from argus.retrievability.audit import AuditResult, audit_knowledge
from argus.retrievability.config import AuditConfig, ExposureConfig, ProbeConfig
from argus.retrievability.exposure import ExposureResult, exposure
from argus.retrievability.probes.fit import HOME as PROBE
from argus.retrievability.probes.fit import fit_probe
from argus.retrievability.rps import HIGH
from argus.scenarios.ablation.findings import AblateConfig
from argus.scenarios.ablation.job import AblateResult, ablate_scenarios
from argus.scenarios.files import read_profiles
from argus.scenarios.profile import Component
from argus.scenarios.remedy import ScenariosResult, add_scenarios


def audit_deprecations(
    base: KnowledgeBase,
    corpus: Sequence[Document],
    folder: ArtifactFolder,
    encoder: EncoderConfig | str,
    k: int,
) -> AuthorityAuditResult | None:
    """Ask with every deprecated entity's documentation for that of its replacement.

    Writes the edges to `corpus/supersedes.jsonl`, for `argus authority` to try. None where a part
    of the library holds no deprecation.
    """
    changes = deprecations(base)
    if not changes:
        return None
    path, edges, rows = folder / "corpus", [], []
    for d in changes:
        edge = Edge(d["replacement_id"], d["deprecated_id"], f"deprecated, says its {d['source']}")
        edges.append(edge)
        pair = {"superseder": edge.superseder, "superseded": edge.superseded}
        rows.append({**pair, "rule": edge.rule, "since": d["since"], "evidence": d["evidence"]})
    write_jsonl(path / "supersedes.jsonl", rows)
    records = [Dated(d.id, "documentation", text=d.text, title=d.title) for d in corpus]
    source = AuthoritySource(records=path, edges=path / "supersedes.jsonl")
    authority = OpenedAuthority(Authority(records, edges=edges), [], source)
    inputs: dict[str, Path | None] = {"corpus": path / "corpus.jsonl", "edges": source.edges}
    record = Record("authority", {"k": k, "relation": "deprecations"}, inputs)
    return audit_opened(authority, folder, record, encoder=encoder, k=k)


@dataclass(frozen=True)
class DemoScenarios:
    """The scenarios in the demo's index, and their effect on its questions."""

    added: ScenariosResult
    """`--lambda` weighs them in every search of that index. `rollback` takes them out."""
    ablation: AblateResult


def add_and_ablate(folder: ArtifactFolder, encoder: EncoderConfig | str) -> DemoScenarios:
    """Measure the shipped scenarios on documents as they are, then add them to the demo's index.

    The ablation knows nothing of the repair: its documents have one view, their own text.
    """
    corpus, profiles = folder / "corpus", folder / "corpus" / "profiles.jsonl"
    ablation = ablate_scenarios(
        corpus, profiles, corpus, corpus / "qrels" / "test.tsv", out=folder.path, encoder=encoder,
        expansions=corpus / "expansions.jsonl", config=AblateConfig(components=(Component.ME,)),
    )  # fmt: skip
    return DemoScenarios(
        add_scenarios(folder.path, read_profiles(profiles), encoder=encoder), ablation
    )


MIN_SCORED = 1000
"""Scored entities from which a probe is fitted. Fewer, under a small `limit`, would teach noise."""


@dataclass(frozen=True, repr=False)
class DemoResult(Result):
    """The demo's parts. All of it is in `folder`, the report in `report`."""

    folder: Path
    summary: dict[str, Any]
    """All of summary.json: a section per job."""
    audit: AuditResult
    exposure: ExposureResult
    authority: AuthorityAuditResult | None
    """Deprecated entities and their replacements. None under a `limit` that leaves none."""
    blend: BlendResult | None
    """The repair that needs nothing but the documents. None where there is no `repair`."""
    repair: RepairResult | None
    """Expansion by the text that the corpus leaves out, on top of the blend. None under a `limit`
    that leaves too few entities to fit a probe on."""
    scenarios: DemoScenarios | None
    """None where there is no repair: they go into its index."""
    report: Path

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from self.audit.headline()
        yield from self.exposure.headline()
        if self.authority is not None:
            yield from self.authority.headline()
        if self.blend is not None:
            yield from self.blend.headline()
        if self.repair is None:
            yield f"fewer than {MIN_SCORED:,} scored entities: too few to fit a probe and repair by"
        else:
            yield "now with the rest of every docstring, which the corpus leaves out:"
            yield from diagnosis_headline(self.summary["diagnosis"])
            yield from self.repair.headline()
        if self.scenarios is not None:
            yield from self.scenarios.ablation.headline()

    def last_lines(self) -> Iterator[str]:
        """Yield the command that serves it."""
        yield f"to work in: {command('serve', self.folder)}"


@one_writer
def full_demo(
    *,
    out: Path | str = Path("argus-demo"),
    encoder: EncoderConfig | str = DEFAULT_MODEL,
    seed: int = 0,
    limit: int | None = None,
    fresh: bool = False,
) -> DemoResult:
    """Audit a retriever on this Python's standard library, and repair it. See `argus.demo.job`."""
    folder = ArtifactFolder(Path(out), fresh=fresh)
    base = standard_library()
    if limit is not None:
        base = base.first(limit)
    device = encoder.device if isinstance(encoder, EncoderConfig) else None
    config, n = AuditConfig(seed=seed, device=device), len(base.entities)
    pool = max(2, n // 2)
    if max(config.pool) > pool:  # k stays 5% of N
        at = f"k={config.k[0]}, N={config.pool[0]}"
        announce(f"only {n} entities: k=5% of N={pool} instead of {at}")
        config = replace(config, k=(max(1, pool // 20),), pool=(pool,))
    folder.open()
    questions, _ = write_sample_corpus(folder / "corpus", base)
    about = {
        "corpus_name": "Python standard library",
        "relations": "contains, inherits, refers to by name",
    }
    inputs = {"corpus": folder / "corpus" / "corpus.jsonl"}
    record = Record("audit", asdict(config) | about, inputs)
    audit = audit_knowledge(base, folder, encoder, config, record)
    corpus = read_corpus(folder / "corpus")
    exposure_result = exposure(
        corpus, out=folder.path, encoder=encoder, config=ExposureConfig(seed=config.seed),
        queries=questions,
    )  # fmt: skip
    authority = audit_deprecations(base, corpus, folder, encoder, exposure_result.summary["k"])
    blend = remedy = scenarios = None
    if audit.summary["entities"]["measured"] >= MIN_SCORED:
        blend, remedy = repair(base, folder, encoder)
        scenarios = add_and_ablate(folder, encoder)
    report = write_report(folder.path)
    return DemoResult(
        folder.path, folder.read_json(SUMMARY), audit, exposure_result, authority, blend, remedy,
        scenarios, report,
    )  # fmt: skip


def repair(
    base: KnowledgeBase, folder: ArtifactFolder, encoder: EncoderConfig | str
) -> tuple[BlendResult, RepairResult]:
    """Fit a probe to the demo's own audit, index its corpus, repair it, evaluate both repairs.

    The blend needs nothing but the documents. Expansion comes on top of it and is told apart: its
    text was taken out of the corpus. The knowledge base is the rest of the docstrings, of which the
    corpus holds the beginning. An entity is at risk if the probe does not place it in the high
    band: its own τ would leave 1% (a document names its entity in full, "abc.ABCMeta", and is
    easier to find than the "ABCMeta" of the audit).
    """
    corpus, kb = folder / "corpus", folder / "corpus" / "kb.jsonl"
    write_jsonl(kb, as_rows(standard_reference(base)))
    fit_probe(folder.path, out=folder.path, config=ProbeConfig(families=("ridge",)))
    build_index(corpus, out=folder.path, encoder=encoder)
    for earlier in ViewIndex.open(folder.path).remedies():  # of a demo that is run again
        rollback(folder.path, earlier.id)
    questions, judgements = corpus, corpus / "qrels" / "test.tsv"
    blend = blend_index(folder.path, queries=questions, qrels=judgements, out=folder.path)
    expansion = expand_index(
        folder.path, reference=ReferenceConfig(kb=(kb,)), probe=folder / PROBE, tau=HIGH,
        queries=questions, qrels=judgements, corpus=corpus, out=folder.path,
    )  # fmt: skip
    return blend, expansion
