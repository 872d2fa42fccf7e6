"""The audit: RPS of every entity, end to end (docs/methods.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa

from argus.corpora import Corpus
from argus.data.folders import ArtifactFolder
from argus.data.writing import one_writer
from argus.devices import check_device
from argus.encoders import (
    DEFAULT_MODEL,
    Encoder,
    EncoderConfig,
    Role,
    Rows,
    Store,
    embed,
)
from argus.encoders.protocol import similarity_of
from argus.engine import Engine, EngineConfig
from argus.errors import NothingMeasured
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.on_engine import require_shared
from argus.jobs.result import Result
from argus.jobs.workspace import Record, any_encoder, corpus_for, texts_cut
from argus.knowledge import KnowledgeBase, KnowledgeSource, RelationGraph, read_knowledge
from argus.measures.slices import Slicing
from argus.reports import write_report
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.findings import Findings, write_results
from argus.retrievability.audit.rank_parts import Ranking, ranks_in_parts
from argus.retrievability.audit.slices import entity_slicings, write_slices
from argus.retrievability.audit.summary import AuditSummary, headline
from argus.retrievability.items import entity_items
from argus.retrievability.pairs import PairRanks


@dataclass(frozen=True, repr=False)
class AuditResult(Result):
    """Result of an audit. Everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: AuditSummary
    table: pa.Table
    """id, label, rps, low, high, related, state, band, reason, ...: one row per entity."""
    ranks: PairRanks
    """Positions refer to `measured_ids`."""
    measured_ids: list[str]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def audit(
    corpus: Corpus,
    *,
    out: Path | str,
    source: KnowledgeSource | None = None,
    encoder: Encoder[Rows] | EncoderConfig | str = DEFAULT_MODEL,
    config: AuditConfig | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> AuditResult:
    """Measure how probable it is that the retriever brings each entity back (ARGUS §3).

    Reachability does not tell which real questions fail (docs/results/what-reachability-tells.md).

    corpus: a BEIR folder, a file, a store, or documents. Of a store, whose records are the entities
    unless `source` names others, the vectors that it holds are scored. out: folder for the results.
    Results of an interrupted run are used again, from any engine. source: where
    entities and relations come from. engine: embeds and ranks. None is this process. On a
    cluster of several machines, vectors beyond 2 GiB need an `out` (or `store`) on storage that all
    of them see.
    Raises InputError for bad input and ArgusError when nothing can be measured.
    """
    config, source = config or AuditConfig(), source or KnowledgeSource()
    opened = corpus_for(corpus, encoder, limit)
    knowledge = read_knowledge(opened, source)
    if opened.stored is not None and source.entities is None:
        config = replace(config, pooling="sentence")  # a store holds no other vectors
    relations = str(knowledge.relations)
    settings = {**asdict(config), "relations": relations, "limit": limit}
    record = Record("audit", settings, knowledge.inputs)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    slices = entity_slicings(knowledge, config.by)
    knowledge = replace(knowledge, documents=())  # millions, perhaps
    return audit_knowledge(
        knowledge.base, folder, encoder, config, record,
        store=store, engine=engine, slices=slices,
    )  # fmt: skip


def audit_knowledge(
    base: KnowledgeBase,
    folder: ArtifactFolder,
    encoder: Encoder[Rows] | EncoderConfig | str,
    config: AuditConfig,
    record: Record,
    *,
    store: Path | None = None,
    engine: EngineConfig | Engine | None = None,
    slices: Sequence[Slicing] = (),
) -> AuditResult:
    """Audit a knowledge base whose entities are ordered by id. Write and return the results.

    slices: of its entities, to tell shares by.
    """
    if not base.has_text.any():
        raise NothingMeasured("entity has a paragraph", "Check --text-field, or --entities.")
    graph = base.relations.restrict(base.has_text)
    check_pool(graph, config)
    if engine is None:  # else each worker looks for itself
        config = replace(config, device=check_device(config.device))
    with record.timed("grounding"):
        items = entity_items(base, config.pooling)
        texts = [item.text for item in items]
    with (
        open_engine(engine) as running,
        any_encoder(folder, encoder, record, sample=texts, store=store, engine=running) as opened,
    ):
        model, vectors = opened
        require_shared(running, vectors.path, len(texts), vectors.mapped_dim)
        with record.timed("embedding"):
            embedded = embed(items, model, vectors, what="entities")
            embedded = replace(embedded, keys=vectors.keep(embedded.keys))  # for `probe fit`
            window = texts_cut(model, [i.text for i in items if i.role is Role.DOCUMENT])
            del items, texts  # millions, perhaps
        record.encoder |= {"store": _store_of(folder, vectors), "dim": model.dim}
        graph = graph.restrict(embedded.ok)
        ranking = Ranking.of(embedded.vectors, graph, config, similarity_of(model))
        with record.timed("ranking"):
            ranks = ranks_in_parts(ranking, folder, running)
        findings = Findings.of(base, embedded, graph, ranks, config)
        relations = record.config.get("relations")
        with record.timed("scoring"):
            table = findings.table()
            summary: AuditSummary = {
                **findings.figures(),
                **write_slices(folder, findings, slices),
                **record.of_store(),
                "text_window": window,
                "pooling": config.pooling if getattr(model, "pools_spans", True) else "sentence",
                "relations_from": None if relations is None else str(relations),
            }
        write_results(folder, record, findings, table, summary)
    report = write_report(folder.path)
    return AuditResult(folder.path, report, summary, table, findings.ranks, findings.ids)


def _store_of(folder: ArtifactFolder, store: Store[Rows]) -> str:
    """Return where the vectors are: relative inside the folder, which may move with its store."""
    path, home = store.path.resolve(), folder.path.resolve()
    return str(path.relative_to(home) if path.is_relative_to(home) else path)


def check_pool(graph: RelationGraph, config: AuditConfig) -> None:
    """Raise ArgusError when too few entities are related or neutral for N. graph: with text."""
    related = graph.degree[graph.degree > 0]
    if not len(related):
        raise NothingMeasured(
            "two related entities have paragraphs",
            "Give --relations, or titles that the texts mention.",
        )
    config.check_pool(graph.n, int(related.min()))
