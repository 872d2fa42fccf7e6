"""The audit: RPS of every entity, end to end (docs/design.md §5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.types import Document, FloatArray, State
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, Item, Role, embed
from argus.encoders.embed import Embedded
from argus.errors import InputError
from argus.knowledge import KnowledgeBase, KnowledgeSource, RelationGraph, ground, load_knowledge
from argus.reports import write_report
from argus.retrievability import rps
from argus.retrievability.displacement import displacers
from argus.retrievability.geometry import project_bands
from argus.retrievability.ranks import PairRanks
from argus.workflows.rank_parts import ranks_in_parts
from argus.workflows.workspace import Record, open_encoder, read_documents, require_some, texts_cut

POOLINGS = ("span", "sentence")
RESERVOIR_FROM = 50_000
RESERVOIR = 20_000
WORST = 200
CURVE_K = 100


@dataclass(frozen=True, kw_only=True)
class AuditConfig:
    """What an audit measures.

    k, pool: one or more values of k and N; the first of each is the headline. pooling: "span"
    pools the mention's token vectors (the paper), "sentence" takes the vector that the index
    holds. reservoir: neutrals per 1,024 queries; None is exact up to RESERVOIR_FROM entities and
    RESERVOIR beyond, 0 is exact always. device: where ranks are counted; None takes a GPU when
    there is one.
    """

    k: tuple[int, ...] = (rps.DEFAULT_K,)
    pool: tuple[int, ...] = (rps.DEFAULT_POOL,)
    pooling: str = "span"
    reservoir: int | None = None
    device: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, values in (("--k", self.k), ("--pool", self.pool)):
            if not values or min(values) < 1:
                raise InputError(
                    f"{values}", expected="whole numbers from 1", fix="For example 50.", where=name
                )
        if max(self.k) > min(self.pool):
            raise InputError(
                f"k={max(self.k)} with a pool of N={min(self.pool)}",
                expected="k <= N, since an entity ranks among N candidates",
                fix=f"Use --k up to {min(self.pool)}, or a larger --pool.",
                where="--k",
            )
        if self.pooling not in POOLINGS:
            raise InputError(
                f"{self.pooling!r}",
                expected="span or sentence",
                fix="Leave it out for span.",
                where="--pooling",
            )

    def reservoir_for(self, n: int) -> int | None:
        """Return the reservoir size for n entities; None is exact."""
        if self.reservoir == 0 or (self.reservoir is None and n <= RESERVOIR_FROM):
            return None
        return self.reservoir or RESERVOIR


@dataclass(frozen=True)
class AuditResult:
    """What an audit found; everything in it is also in `folder`."""

    folder: Path
    report: Path
    summary: dict[str, Any]
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
) -> AuditResult:
    """Measure how probable it is that the retriever brings each entity back (ARGUS §3).

    corpus: a BEIR folder, a file, or documents. out: folder for the results; what is there from an
    interrupted run is used again. source: where entities and relations come from. Raises
    InputError for bad input and ArgusError when nothing can be measured.
    """
    config, source = config or AuditConfig(), source or KnowledgeSource()
    if limit is not None:  # edges lead out of a cut corpus as a matter of course
        source = replace(source, skip_unknown=True)
    documents, path = read_documents(corpus, source.fields, limit)
    base, relations = load_knowledge(documents, source, corpus=path)
    if limit is not None and source.entities:
        base = _first(base, limit)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        "audit",
        {**asdict(config), "relations": str(relations), "limit": limit},
        {
            "corpus": path,
            "entities": source.entities,
            "relations": relations if isinstance(relations, Path) else None,
        },
    )
    return audit_knowledge(base, folder, encoder, config, record, store=store)


def audit_knowledge(
    base: KnowledgeBase,
    folder: ArtifactFolder,
    encoder: Encoder | EncoderConfig | str,
    config: AuditConfig,
    record: Record,
    *,
    store: Path | None = None,
) -> AuditResult:
    """Audit a knowledge base whose entities are ordered by id; write and return the results."""
    has_text = np.array([bool(e.paragraph.strip()) for e in base.entities], bool)
    require_some(
        int(has_text.sum()), "entity has a paragraph", "Check --text-field, or --entities."
    )
    graph = base.relations.restrict(has_text)
    _check_pool(graph, config)
    items = _items(base, has_text, config.pooling)
    with (
        open_encoder(
            folder, encoder, record, sample=[i.text for i in items], store=store
        ) as opened,
        record.timed("embedding"),
    ):
        embedded = embed(items, *opened, what="entities")
        cut = texts_cut(opened[0], [i.text for i in items])
    graph = graph.restrict(embedded.ok)
    with record.timed("ranking"):
        ranks = ranks_in_parts(
            embedded.vectors, graph, folder, config, config.reservoir_for(graph.n)
        )
    measured = np.flatnonzero(has_text)[embedded.ok]  # position in the restricted graph -> in base
    with record.timed("scoring"):
        table, summary = _summarise(base, measured, embedded, graph, ranks, config)
    summary |= {"text_window": cut, "relations_from": record.config.get("relations")}
    _write(folder, table, ranks, [base.entities[i].id for i in measured])
    folder.write_section("summary.json", "audit", summary)
    folder.write_section("manifest.json", "audit", record.manifest(summary["entities"]))
    ids = [base.entities[i].id for i in measured]
    return AuditResult(folder.path, write_report(folder.path), summary, table, ranks, ids)


def _first(base: KnowledgeBase, limit: int) -> KnowledgeBase:
    keep = np.arange(len(base.entities)) < limit
    return KnowledgeBase(base.entities[:limit], base.relations.restrict(keep))


def _check_pool(graph: RelationGraph, config: AuditConfig) -> None:
    related = graph.degree[graph.degree > 0]
    require_some(
        len(related),
        "two related entities have paragraphs",
        "Give --relations, or titles that the texts mention.",
    )
    largest = graph.n - 1 - int(related.min())
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


def _items(base: KnowledgeBase, has_text: npt.NDArray[np.bool_], pooling: str) -> list[Item]:
    """Ground every label in its paragraph and say what to embed (ARGUS §B.1, §B.4)."""
    items = []
    for entity, usable in zip(base.entities, has_text, strict=True):
        if not usable:
            continue
        grounded = ground(entity.label, entity.paragraph)
        if pooling == "span" and grounded.span is not None:
            items.append(Item(grounded.text, Role.SPAN, grounded.span))
        else:
            items.append(Item(grounded.text, Role.DOCUMENT))
    return items


def _summarise(
    base: KnowledgeBase,
    measured: npt.NDArray[np.int64],
    embedded: Embedded,
    graph: RelationGraph,
    ranks: PairRanks,
    config: AuditConfig,
) -> tuple[pa.Table, dict[str, Any]]:
    all_scores = [
        rps.score(ranks, graph.n, k=k, pool=pool) for k in config.k for pool in config.pool
    ]
    headline = all_scores[0]
    states, reasons = _states(base, measured, embedded, graph, headline)
    bands = rps.band(headline.rps)
    worst = _worst(headline)
    named = _displaced_by(base, measured, embedded.vectors, graph, worst, headline.k)
    projection = _projection(embedded.vectors, bands, headline.measured, config.seed)
    table = _table(base, measured, all_scores, states, reasons, bands, named, projection)
    values = headline.rps[headline.measured]
    # The curve's last N is one that 99% of the pairs allow: its population hardly changes.
    largest_pool = int(np.quantile(ranks.pool, 0.01, method="lower")) + 1 if len(ranks) else 0
    summary = {
        "k": headline.k,
        "pool": headline.pool,
        "mean_rps": _rounded(values.mean()) if len(values) else None,
        "share_below_0.33": _rounded((values < rps.LOW).mean()) if len(values) else None,
        "share_above_0.5": _rounded((values > 0.5).mean()) if len(values) else None,
        "entities": {
            "total": len(base.entities),
            **{str(s): int((states == str(s)).sum()) for s in State},
            "reasons": dict(Counter(r for r in reasons if r)),
        },
        "bands": {name: int((bands == name).sum()) for name in ("low", "mid", "high")},
        "pairs": {
            "related": base.relations.n_pairs,
            "measured": len(ranks) - headline.pairs_without_pool,
            "pool_too_small": headline.pairs_without_pool,
            "without_vector": base.relations.n_pairs - len(ranks),
            "triples": base.relations.triples,
            "self_loops": base.relations.self_loops,
            "unknown_ids": base.relations.unknown,
        },
        "settings": [_setting(s) for s in all_scores],
        "histogram": np.histogram(values, bins=20, range=(0, 1))[0].tolist(),
        "curve_over_pool": asdict(
            rps.curve_over_pool(ranks, graph.n, k=headline.k, pools=_pools(largest_pool, headline))
        ),
        "curve_over_k": asdict(
            rps.curve_over_k(ranks, graph.n, k_max=min(CURVE_K, headline.pool), pool=headline.pool)
        ),
        "reservoir": _reservoir(config, graph.n, ranks, headline),
        "projection": projection[1],
        "pooling": config.pooling,
    }
    return table, summary


def _pools(largest: int, headline: rps.Scores) -> list[int]:
    grid = rps.pool_grid(largest, wanted=headline.pool)
    return [pool for pool in grid if pool >= headline.k]


def _reservoir(
    config: AuditConfig, n: int, ranks: PairRanks, headline: rps.Scores
) -> dict[str, Any] | None:
    size = config.reservoir_for(n)
    if size is None or size >= n:
        return None
    error = rps.reservoir_error(ranks, n, k=headline.k, pool=headline.pool)
    return {"size": size, "mean_standard_error": error}


def _states(
    base: KnowledgeBase,
    measured: npt.NDArray[np.int64],
    embedded: Embedded,
    graph: RelationGraph,
    scores: rps.Scores,
) -> tuple[npt.NDArray[np.str_], list[str]]:
    """Say of every entity whether it was measured, and if not, why."""
    states = np.full(len(base.entities), str(State.NOT_APPLICABLE), dtype="<U16")
    reasons = ["no paragraph"] * len(base.entities)
    with_text = np.flatnonzero([bool(e.paragraph.strip()) for e in base.entities])
    for position, why in embedded.failures.items():
        states[with_text[position]] = State.FAILED
        reasons[with_text[position]] = why
    for i, entity in enumerate(measured):
        if scores.measured[i]:
            states[entity], reasons[entity] = str(State.MEASURED), ""
        elif graph.degree[i]:
            reasons[entity] = f"fewer than {scores.pool - 1} neutrals for every related entity"
        elif base.relations.degree[entity]:
            reasons[entity] = "no related entity has a vector"
        else:
            reasons[entity] = "no related entity"
    return states, reasons


def _worst(scores: rps.Scores) -> npt.NDArray[np.int64]:
    """Return the surest blind spots: lowest upper bound first, so one bad pair does not lead."""
    order = np.lexsort((np.arange(len(scores.rps)), scores.rps, scores.high))
    return order[scores.measured[order]][:WORST]


def _displaced_by(
    base: KnowledgeBase,
    measured: npt.NDArray[np.int64],
    vectors: FloatArray,
    graph: RelationGraph,
    worst: npt.NDArray[np.int64],
    k: int,
) -> dict[int, str]:
    found = displacers(vectors, graph, worst.tolist(), k=k, top=3)
    labels = Counter(e.label for e in base.entities)
    entities = [base.entities[i] for i in measured]
    names = [e.label if labels[e.label] == 1 and e.label else e.id for e in entities]
    return {
        int(measured[x]): "; ".join(
            f"{names[z]} ({count} of {len(graph.neighbours(int(x)))})" for z, count in above
        )
        for x, above in zip(worst, found, strict=True)
    }


def _projection(
    vectors: FloatArray, bands: npt.NDArray[np.str_], scored: npt.NDArray[np.bool_], seed: int
) -> tuple[npt.NDArray[np.float64], str | None]:
    points = np.full((len(vectors), 2), np.nan)
    projected = project_bands(vectors[scored], bands[scored], seed=seed)
    if projected is None:
        return points, None
    points[scored] = projected.points
    return points, projected.method


def _table(
    base: KnowledgeBase,
    measured: npt.NDArray[np.int64],
    all_scores: list[rps.Scores],
    states: npt.NDArray[np.str_],
    reasons: list[str],
    bands: npt.NDArray[np.str_],
    named: dict[int, str],
    projection: tuple[npt.NDArray[np.float64], str | None],
) -> pa.Table:
    n = len(base.entities)

    def spread(values: npt.NDArray[Any]) -> pa.Array:
        whole = np.full(n, np.nan)
        whole[measured] = values
        return pa.array(whole, mask=np.isnan(whole))

    headline = all_scores[0]
    related = np.zeros(n, np.int64)
    related[measured] = headline.related
    all_bands = np.full(n, "", dtype="<U4")
    all_bands[measured] = bands
    columns: dict[str, Any] = {
        "id": [e.id for e in base.entities],
        "label": [e.label for e in base.entities],
        "rps": spread(headline.rps),
        "low": spread(headline.low),
        "high": spread(headline.high),
        "related": related,
        "state": states.tolist(),
        "band": [b or None for b in all_bands.tolist()],
        "reason": reasons,
        "displaced_by": pa.array([named.get(i) for i in range(n)], pa.string()),
        "x": spread(projection[0][:, 0]),
        "y": spread(projection[0][:, 1]),
    }
    for scores in all_scores[1:]:
        columns[f"rps_k{scores.k}_n{scores.pool}"] = spread(scores.rps)
    return pa.table(columns)


def _write(folder: ArtifactFolder, table: pa.Table, ranks: PairRanks, ids: list[str]) -> None:
    names = pa.array(ids)

    def by_id(positions: np.ndarray) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(positions), names)

    folder.write_table("retrievability", table, csv=True)
    folder.write_table(
        "pair_ranks",
        pa.table(
            {
                "entity": by_id(ranks.entity),
                "related": by_id(ranks.related),
                "similarity": ranks.similarity,
                "above": ranks.above,
                "pool": ranks.pool,
            }
        ),
    )


def _setting(scores: rps.Scores) -> dict[str, Any]:
    values = scores.rps[scores.measured]
    return {
        "k": scores.k,
        "pool": scores.pool,
        "entities": len(values),
        "mean_rps": _rounded(values.mean()) if len(values) else None,
        "share_below_0.33": _rounded((values < rps.LOW).mean()) if len(values) else None,
        "share_above_0.5": _rounded((values > 0.5).mean()) if len(values) else None,
    }


def _rounded(value: float) -> float:
    return round(float(value), 6)
