"""`research audit`: measure how probably a search finds each entity of a knowledge base (RPS).

Entities, their relations and an encoder -> retrievability.parquet with one row per entity. The
Retrieval Probability Score is the probability that an entity comes into the top k for a related
entity, among N - 1 unrelated ones (ARGUS §3, docs/score.md). The steps: embed, rank all pairs
(`argus.retrievability.ranks`), score (`argus.retrievability.rps`), and describe
(`argus.retrievability.audit_findings`). Documents are audited in `argus.retrievability.exposure`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.tables import read_table
from argus.data.types import State
from argus.data.writing import one_writer
from argus.devices import check_device
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, Item, Role, Rows, embed
from argus.encoders.config import COSINE
from argus.encoders.protocol import arrays_of, pools_spans, similarity_of
from argus.engine import Engine, EngineConfig, Work, open_given
from argus.errors import InputError, NothingMeasured
from argus.jobs import options as o
from argus.jobs.result import TableResult
from argus.jobs.workspace import Parts, Record, any_encoder, corpus_for, remove_parts, texts_cut
from argus.knowledge import KnowledgeBase, KnowledgeSource, RelationGraph, ground, read_knowledge
from argus.knowledge.base import ids_of
from argus.measures.slices import Slicing, Trials, rank_slices, slice_lines, slice_shares, slicings
from argus.progress import progress
from argus.reports import figures, write_report
from argus.reports.section import MAX_ROWS, Section, naming, slices_table, table
from argus.retrievability.audit_findings import describe_audit
from argus.retrievability.config import AuditConfig
from argus.retrievability.ranks import RESERVOIR_QUERIES, SCHEMA, PairRanks, ranker
from argus.retrievability.rps import LOW

PART_QUERIES = 4 * RESERVOIR_QUERIES


@dataclass(frozen=True, repr=False)
class AuditResult(TableResult):
    """Result of an audit. Everything in it is also in `folder`.

    table: id, label, rps, low, high, related, state, band, reason, ...: one row per entity.
    ranks: its positions refer to `measured_ids`.
    summary: as follows. The headline's figures of `settings` are also its own.

    entities: counts by state, and reasons of those without a score.
    bands: entities by band of RPS: below 0.33, below 0.66, and above (ARGUS §4.2).
    terciles: thirds of the scored entities: counts, low_up_to (largest RPS of the low third),
    high_from (smallest of the high one), None where it is empty.
    pairs: pairs (x, t) of related entities. related: all. measured: ranked. pool_too_small: with
    fewer than N - 1 unrelated entities. without_vector: of which one has no vector.
    not_of_the_sample: there for others' sake alone. triples: relations that were read. self_loops,
    unknown_ids: of these, to an entity itself, and to an id that is no entity.
    settings: figures at every k and N. scored: entities with a score. mean_rps: mean RPS.
    share_below_0.33: blind spots. share_above_0.5. None without a score.
    histogram: entities per interval of RPS.
    curve_over_pool, curve_over_k: mean RPS, and share above 0.5, over N and over k.
    reservoir: size: unrelated entities that each pair is ranked among. mean_standard_error: of an
    RPS, that comes of it. None where all were ranked.
    projection: picture of the embedding space (`argus.retrievability.audit_findings.Projection`).
    sample: scored entities that it shows, where not all. None where it was not made.
    slices: shares by slice, where fields were named.
    stored_vectors: of vectors that came with the corpus.
    text_window: how much of texts embedded whole the encoder reads. None where not known.
    pooling: vectors of entities: span or sentence.
    relations_from: where relations came from: a file, "mentions", or a knowledge base.
    """

    ranks: PairRanks
    measured_ids: list[str]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def audit(
    corpus: o.Corpus,
    *,
    out: o.Out = o.OUT,
    source: KnowledgeSource | None = None,
    encoder: o.Encoder = DEFAULT_MODEL,
    config: AuditConfig | None = None,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    engine: o.Engine = None,
) -> AuditResult:
    """Measure how reachable entities are: RPS, which tells nothing of real questions (ARGUS §3).

    Writes retrievability.parquet and .csv, pair_ranks.parquet, summary.json, manifest.json and
    report.html. A run that was stopped goes on where it was.

    corpus: a BEIR folder, a file, a store, or documents. Of a store, whose records are the entities
    unless `source` names others, the vectors that it holds are scored. source: where entities and
    relations come from. engine: embeds and ranks. None is this process. On a cluster of several
    machines, vectors beyond 2 GiB need an `out` (or `store`) on storage that all of them see.
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
    slices: Sequence[Slicing] = ()
    if config.by:
        documents = sorted(knowledge.documents, key=lambda document: document.id)
        if not documents:
            got, expected = "a knowledge base has no payload", "a corpus of documents"
            raise InputError(got, expected=expected, fix="Leave it out.", where="--by")
        places = {document.id: place for place, document in enumerate(documents)}
        rows = [[places[id_]] if id_ in places else [] for id_ in ids_of(knowledge.base.entities)]
        slices = [one.of(rows) for one in slicings(documents, config.by)]
        del documents, places
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
        open_given(engine) as running,
        any_encoder(folder, encoder, record, store=store, engine=running) as opened,
    ):
        model, vectors = opened
        with record.timed("embedding"):
            embedded = embed(items, model, vectors, what="entities")
            window = texts_cut(model, [i.text for i in items if i.role is Role.DOCUMENT])
            del items, texts  # millions, perhaps
        home, path = folder.path.resolve(), vectors.path.resolve()
        # A store inside of the folder moves with it.
        place = path.relative_to(home) if path.is_relative_to(home) else path
        record.encoder |= {"store": str(place), "dim": model.dim}
        graph = graph.restrict(embedded.ok)
        with record.timed("ranking"):
            unit = similarity_of(model) == COSINE
            ranks = rank_in_parts(embedded.vectors, graph, config, folder, running, unit=unit)
        measured = np.flatnonzero(base.has_text)[embedded.ok]
        if base.targets is not None:
            ranks = ranks.of_targets(base.targets[measured])
        relations = record.config.get("relations")
        with record.timed("scoring"):
            table, figures, scores = describe_audit(base, embedded, graph, ranks, config)
            if slices:
                items, values = measured[scores.measured], scores.rps[scores.measured]
                low, high = (values < LOW).astype(np.float64), (values > 0.5).astype(np.float64)
                trials = (
                    Trials(f"RPS below {LOW:g}", items, low, is_bad=True),
                    Trials("RPS above 0.5", items, high),
                    Trials("mean RPS", items, values),
                )
                shares = slice_shares(slices, trials)
                figures["slices"], shares = rank_slices([one.figures for one in slices], shares)
                folder.write_table(SLICES, shares, csv=True)
            summary = {
                **figures,
                **record.of_store(),
                "text_window": window,
                "pooling": config.pooling if pools_spans(model) else "sentence",
                "relations_from": None if relations is None else str(relations),
            }
        every = ids_of(base.entities)
        ids = [every[i] for i in measured]
        with record.timed("writing"):
            folder.write_table("retrievability", table, csv=True)
            folder.write_table("pair_ranks", ranks.table(ids))
        folder.write_results("audit", summary, record.manifest(summary["entities"]))
        remove_parts(folder)
    return AuditResult(folder.path, write_report(folder.path), summary, table, ranks, ids)


def check_pool(graph: RelationGraph, config: AuditConfig) -> None:
    """Raise ArgusError when too few entities are related or neutral for N. graph: with text."""
    related = graph.degree[graph.degree > 0]
    if not len(related):
        raise NothingMeasured(
            "two related entities have paragraphs",
            "Give --relations, or titles that the texts mention.",
        )
    config.check_pool(graph.n, int(related.min()))


def entity_items(base: KnowledgeBase, pooling: str) -> list[Item]:
    """Ground every label in its paragraph and choose the items to embed (ARGUS §B.1, §B.4).

    One item per entity that has a paragraph, in the order of `base`: its name in the paragraph, or
    the paragraph whole. Pooling as in AuditConfig. An entity whose vector comes with the corpus is
    what was embedded of it.
    """
    items = []
    for entity, usable in zip(base.entities, base.has_text, strict=True):
        if not usable:
            continue
        if entity.embedded:
            items.append(Item(entity.embedded, Role.DOCUMENT))
            continue
        grounded = ground(entity.label, entity.paragraph)
        if pooling == "span" and grounded.span is not None:
            items.append(Item(grounded.text, Role.SPAN, grounded.span))
        else:
            items.append(Item(grounded.text, Role.DOCUMENT))
    return items


def rank_in_parts(
    vectors: Rows,
    graph: RelationGraph,
    config: AuditConfig,
    folder: ArtifactFolder,
    engine: Engine | None = None,
    *,
    unit: bool = True,
) -> PairRanks:
    """Return `pair_ranks` of all queries, computing only the parts not on disk from before.

    Parts are keyed by all that determines them, but not by the engine that ranks them: a killed
    audit goes on anywhere. `remove_parts` removes them when the results are written. Vectors that
    are memory-mapped go to workers as the name of their file.
    """
    reservoir, seed = config.reservoir_for(graph.n), config.seed
    arrays = (*arrays_of(vectors), graph.indptr, graph.indices)
    hashed = (np.ascontiguousarray(a).data for a in arrays)
    parts = Parts(folder, content_hash(*hashed, str(reservoir), str(seed), size=8).hex())
    starts = range(0, graph.n, PART_QUERIES)
    ranges = [range(start, min(start + PART_QUERIES, graph.n)) for start in starts]
    missing = [queries for queries in ranges if queries.start not in parts]
    shared: dict[str, Any] = {"vectors": vectors, "graph": graph, "reservoir": reservoir}
    shared |= {"seed": seed, "unit": unit, "device": config.device}
    with progress("ranking", graph.n, done=graph.n - sum(map(len, missing))) as advance:
        if missing and engine is None:
            rank = ranker(**shared | {"device": config.device or "cpu"})
            for queries in missing:
                parts.write(queries.start, vars(rank(queries, advance)))
        elif missing and engine is not None:
            work = Work(setup=begin_ranking, shared=shared, what="ranking", threaded=True)
            for number, ranks in engine.run(work, missing):
                parts.write(missing[number].start, vars(ranks))
                advance(len(missing[number]))
    # Into arrays made for all: never two copies at once.
    whole = {name: np.empty(graph.n_pairs, np.int32) for name in SCHEMA.names}
    whole["similarity"] = np.empty(graph.n_pairs, np.float32)
    for queries in ranges:
        place = slice(graph.indptr[queries.start], graph.indptr[queries.stop])
        for name, values in parts.read(queries.start).items():
            whole[name][place] = values
    return PairRanks(**whole)


def begin_ranking(shared: dict[str, Any]) -> Callable[[range], PairRanks]:
    """Return, in a worker, the ranker of the related entities of a range of queries."""
    rank = ranker(**shared | {"device": check_device(shared["device"])})
    return lambda queries: rank(queries, None)


SLICES = "audit_slices"  # the table of shares: an exposure in the same folder has one, too
COLUMNS = (
    "id", "label", "rps", "low", "high", "related", "band", "displaced_by", "x", "y", "state",
)  # fmt: skip


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the mean RPS, how many entities are blind spots, and the settings."""
    counts = summary["entities"]
    if summary["mean_rps"] is None:
        yield "no entity could be scored; the reasons are in the report"
        return
    yield (
        f"RPS at k={summary['k']}, N={summary['pool']}: mean {summary['mean_rps']:.3f}; "
        f"{summary['share_below_0.33']:.1%} of entities below 0.33 (blind spots), "
        f"{summary['share_above_0.5']:.1%} above 0.5"
    )
    yield (
        f"entities: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable; pairs: {summary['pairs']['measured']:,}"
    )
    for setting in summary["settings"][1:]:
        if setting["mean_rps"] is not None:
            yield f"  k={setting['k']}, N={setting['pool']}: mean {setting['mean_rps']:.3f}"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the audit's section from retrievability.parquet: distribution, curves, entities."""
    k, pool = summary["k"], summary["pool"]
    plots = {"distribution": figures.distribution(summary["histogram"], k, pool)}
    if summary["curve_over_pool"]["values"]:
        plots["over_pool"] = figures.share_over_pool(summary["curve_over_pool"], k)
    plots["over_k"] = figures.share_over_k(summary["curve_over_k"], k, pool)
    rows = read_table(folder / "retrievability.parquet", COLUMNS).to_pylist()
    measured = [row for row in rows if row["state"] == State.MEASURED]
    if placed := [row for row in measured if row["x"] is not None]:
        plots["projection"] = figures.projection(
            np.array([[row["x"], row["y"]] for row in placed]),
            [row["band"] for row in placed],
            [row["label"] or row["id"] for row in placed],
            [row["rps"] for row in placed],
        )
    measured.sort(key=lambda row: (row["high"], row["rps"], row["id"]))
    columns = {
        "entity": "text", "RPS": "share", "95% interval": "interval", "related": "count",
        "band": "band", "outranked by (in how many of its queries)": "text",
    }  # fmt: skip
    shown = [
        [
            naming(row["label"], row["id"]), row["rps"], [row["low"], row["high"]],
            row["related"], row["band"], row["displaced_by"] or "",
        ]
        for row in measured[:MAX_ROWS]
    ]  # fmt: skip
    tables = {"entities": table(columns, shown, total=len(measured))}
    if "slices" in summary:
        tables[SLICES] = slices_table(folder, SLICES)
    brief = "no entity could be scored"
    if summary["mean_rps"] is not None:
        brief = (
            f"{summary['share_below_0.33']:.1%} of {summary['entities']['measured']:,} are blind "
            f"spots (RPS below 0.33 at k={k}, N={pool:,})"
        )
    return Section(plots, tables, brief)
