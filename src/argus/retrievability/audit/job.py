"""The audit: RPS of every entity, end to end (docs/design.md §5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.types import Document
from argus.devices import check_device
from argus.encoders import (
    DEFAULT_MODEL,
    EmbeddingStore,
    Encoder,
    EncoderConfig,
    Item,
    Role,
    embed,
)
from argus.engine import Engine, EngineConfig
from argus.errors import InputError
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.on_engine import require_shared
from argus.jobs.parts import remove_parts
from argus.jobs.workspace import (
    Record,
    TextWindow,
    open_encoder,
    read_knowledge,
    require_some,
    texts_cut,
)
from argus.knowledge import KnowledgeBase, KnowledgeSource, RelationGraph, ground
from argus.knowledge.base import ids_of
from argus.reports import write_report
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.findings import Findings, write_results
from argus.retrievability.audit.rank_parts import ranks_in_parts
from argus.retrievability.audit.summary import AuditSummary
from argus.retrievability.pairs import PairRanks


@dataclass(frozen=True)
class AuditResult:
    """What an audit found; everything in it is also in `folder`."""

    folder: Path
    report: Path
    summary: AuditSummary
    table: pa.Table
    """id, label, rps, low, high, related, state, band, reason, ...: one row per entity."""
    ranks: PairRanks
    """Positions refer to `measured_ids`."""
    measured_ids: list[str]


def audit(
    corpus: Path | str | Sequence[Document],
    *,
    out: Path | str,
    source: KnowledgeSource | None = None,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    config: AuditConfig | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> AuditResult:
    """Measure how probable it is that the retriever brings each entity back (ARGUS §3).

    corpus: a BEIR folder, a file, or documents. out: folder for the results; what is there from an
    interrupted run is used again, whatever engine it ran on. source: where entities and relations
    come from. engine: what embeds and ranks; None is this process. On a cluster of several
    machines, vectors beyond 2 GiB need an `out` (or `store`) on storage that all of them see.
    Raises InputError for bad input and ArgusError when nothing can be measured.
    """
    config, source = config or AuditConfig(), source or KnowledgeSource()
    base, relations, path = read_knowledge(corpus, source, limit)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        "audit",
        {**asdict(config), "relations": str(relations), "limit": limit},
        {
            "corpus": path,
            "entities": source.entities_file,
            "relations": relations if isinstance(relations, Path) else None,
        },
    )
    return audit_knowledge(base, folder, encoder, config, record, store=store, engine=engine)


def audit_knowledge(
    base: KnowledgeBase,
    folder: ArtifactFolder,
    encoder: Encoder | EncoderConfig | str,
    config: AuditConfig,
    record: Record,
    *,
    store: Path | None = None,
    engine: EngineConfig | Engine | None = None,
) -> AuditResult:
    """Audit a knowledge base whose entities are ordered by id; write and return the results."""
    has_text = base.has_text
    require_some(
        int(has_text.sum()), "entity has a paragraph", "Check --text-field, or --entities."
    )
    graph = _among(base.relations, has_text)
    check_pool(graph, config)
    if engine is None:  # else each worker looks for itself
        config = replace(config, device=check_device(config.device))
    with record.timed("grounding"):
        items = entity_items(base, config.pooling)
    with (
        open_engine(engine) as running,
        open_encoder(
            folder, encoder, record, sample=[i.text for i in items], store=store, engine=running
        ) as (model, opened),
    ):  # fmt: skip
        require_shared(running, opened.path, len(items), model.dim)
        with record.timed("embedding"):
            embedded = embed(items, model, opened, what="entities")
            window = _window(model, items)
            del items  # millions, perhaps
        measured = np.flatnonzero(has_text)[embedded.ok]  # restricted graph -> base
        record.encoder |= {"store": _store_of(folder, opened), "dim": model.dim}
        graph = _among(graph, embedded.ok)
        with record.timed("ranking"):
            ranks = ranks_in_parts(
                embedded.vectors, graph, folder, config, config.reservoir_for(graph.n), running
            )
            if base.targets is not None:
                ranks = ranks.of_targets(base.targets[measured])
        with record.timed("scoring"):
            findings = Findings(base, measured, embedded, graph, ranks, config)
            table, figures = findings.table(), findings.summary()
        every = ids_of(base.entities)
        ids = [every[i] for i in measured]
        relations = record.config.get("relations")
        summary: AuditSummary = {
            **figures,
            "text_window": window,
            "pooling": _pooling(model, config),
            "relations_from": None if relations is None else str(relations),
        }
        _write(folder, record, table, summary, ranks, ids)
    return AuditResult(folder.path, write_report(folder.path), summary, table, ranks, ids)


def _store_of(folder: ArtifactFolder, store: EmbeddingStore) -> str:
    """Return where the vectors are: relative inside the folder, which may move with its store."""
    path, home = store.path.resolve(), folder.path.resolve()
    return str(path.relative_to(home) if path.is_relative_to(home) else path)


def _among(graph: RelationGraph, keep: npt.NDArray[np.bool_]) -> RelationGraph:
    """Return the graph among the entities kept: itself where that is all of them."""
    return graph if keep.all() else graph.restrict(keep)


def _write(
    folder: ArtifactFolder,
    record: Record,
    table: pa.Table,
    summary: AuditSummary,
    ranks: PairRanks,
    ids: list[str],
) -> None:
    """Write everything but the report; then the parts of the ranking are needed no more."""
    with record.timed("writing"):
        write_results(folder, table, ranks, ids)
    folder.write_section("summary.json", "audit", summary)
    folder.write_section("manifest.json", "audit", record.manifest(summary["entities"]))
    remove_parts(folder)


def _window(model: Encoder, items: Sequence[Item]) -> TextWindow | None:
    """Return how much of the texts that are embedded whole the model does not read."""
    return texts_cut(model, [item.text for item in items if item.role is Role.DOCUMENT])


def _pooling(model: Encoder, config: AuditConfig) -> str:
    """Return how entities were pooled: an encoder without token vectors gives the sentence."""
    return config.pooling if getattr(model, "pools_spans", True) else "sentence"


def check_pool(graph: RelationGraph, config: AuditConfig) -> None:
    """Raise ArgusError when too few entities are related or neutral for N; graph: with text."""
    related = graph.degree[graph.degree > 0]
    require_some(
        len(related),
        "two related entities have paragraphs",
        "Give --relations, or titles that the texts mention.",
    )
    largest = graph.n - 1 - int(related.min())
    reservoir = config.reservoir_for(graph.n)
    if reservoir is not None and reservoir < graph.n and reservoir < 2 * max(config.pool):
        raise InputError(
            f"a reservoir of {reservoir} for N={max(config.pool)}",
            expected="at least twice N, so that enough neutrals are left of it for every query",
            fix=f"Use --reservoir {2 * max(config.pool)} or more, or 0 for none.",
            where="--reservoir",
        )
    if max(config.pool) - 1 > largest:
        raise InputError(
            f"N={max(config.pool)} needs {max(config.pool) - 1} neutrals per query",
            expected=(
                f"at most the {largest} that are eligible ({graph.n} entities with text, less the "
                "query and its neighbours)"
            ),
            fix=f"Use --pool {largest + 1} or less (and --k no larger).",
            where="--pool",
        )


def entity_items(base: KnowledgeBase, pooling: str) -> list[Item]:
    """Ground every label in its paragraph and say what to embed (ARGUS §B.1, §B.4).

    One item per entity that has a paragraph, in the order of `base`; pooling as in AuditConfig.
    """
    items = []
    for entity, usable in zip(base.entities, base.has_text, strict=True):
        if not usable:
            continue
        grounded = ground(entity.label, entity.paragraph)
        if pooling == "span" and grounded.span is not None:
            items.append(Item(grounded.text, Role.SPAN, grounded.span))
        else:
            items.append(Item(grounded.text, Role.DOCUMENT))
    return items
