"""Summarise the scores of an entity audit: the table of entities, the figures, a 2D projection.

Called by `argus.retrievability.audit`, after the ranking. From pair ranks and vectors to the rows
of retrievability.parquet (state, band, who outranks the entity) and to the curves of the report.
`project_bands` finds the two axes that separate low and high scores best (LDA).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.types import FloatArray, State, count_states
from argus.encoders import Embedded, Rows
from argus.knowledge import KnowledgeBase, RelationGraph
from argus.knowledge.base import ids_of
from argus.retrievability import rps
from argus.retrievability.config import AuditConfig
from argus.retrievability.ranks import PairRanks, displacers

CURVE_K = 100
WORST = 200  # entities for which it is looked up who outranks them
CODES = tuple(State)
_TEXT, _NUMBER = pa.string(), pa.float64()
TABLE = pa.schema(
    [
        ("id", _TEXT), ("label", _TEXT), ("rps", _NUMBER), ("low", _NUMBER), ("high", _NUMBER),
        ("related", pa.int64()), ("state", _TEXT), ("band", _TEXT), ("tercile", _TEXT),
        ("reason", _TEXT), ("vector", _TEXT), ("displaced_by", _TEXT), ("x", _NUMBER),
        ("y", _NUMBER),
    ]
)  # fmt: skip


def describe_audit(
    base: KnowledgeBase,
    embedded: Embedded[Rows],
    graph: RelationGraph,
    ranks: PairRanks,
    config: AuditConfig,
) -> tuple[pa.Table, dict[str, Any], rps.Scores]:
    """Return the table of entities, the figures of the summary, and the headline scores.

    embedded: of the entities of `base` that have text. graph, ranks: of those that have a vector.
    The table has one row per entity, in the order of `base`. Null where there is no score.

    rps: RPS at the first k and N, from 0 to 1. At further k and N: `rps_kK_nN`.
    low, high: its 95% Wilson interval.
    related: related entities that were ranked for it.
    tercile: low, mid or high third of the scored entities.
    vector: key of its vector in the store of embeddings.
    displaced_by: of the 200 worst: who outranks it, and for how many related ones.
    x, y: place in the picture of the embedding space.
    """
    measured, n = np.flatnonzero(base.has_text)[embedded.ok], len(base.entities)
    every = [rps.score(ranks, graph.n, k=k, pool=pool) for k in config.k for pool in config.pool]
    headline = every[0]
    bands, terciles = rps.band(headline.rps), rps.tercile(headline.rps)
    states, reasons, why = _states(base, embedded, graph, headline, measured)
    shown, projection = np.flatnonzero(headline.measured), None
    if len(shown) > PROJECTED:
        rng = np.random.default_rng(config.seed)
        shown = np.sort(rng.choice(shown, PROJECTED, replace=False))
    vectors = embedded.vectors[shown]
    if isinstance(vectors, np.ndarray):  # others are several vectors each
        projection = project_bands(vectors, bands[shown], seed=config.seed)
    points = np.full((graph.n, 2), np.nan)
    if projection is not None:
        points[shown] = projection.points
    outranked = _displaced_by(base, embedded.vectors, graph, headline, measured)
    related = np.zeros(n, np.int64)
    related[measured] = headline.related

    def spread(values: npt.NDArray[np.float64]) -> pa.Array:
        """Return values of entities that have a vector, over all of `base`. NaN becomes null."""
        whole = np.full(n, np.nan)
        whole[measured] = values
        return pa.array(whole, mask=np.isnan(whole))

    def place(values: pa.Array, positions: npt.NDArray[np.int64]) -> pa.Array:
        """Return values at positions of `base`. Null elsewhere."""
        rows = np.full(n, -1)
        rows[positions] = np.arange(len(positions))
        return values.take(pa.array(rows, mask=rows < 0))

    columns = {
        "id": pa.array(ids_of(base.entities), pa.string()),
        "label": pa.array((entity.label for entity in base.entities), pa.string(), size=n),
        "rps": spread(headline.rps),
        "low": spread(headline.low),
        "high": spread(headline.high),
        "related": pa.array(related),
        "state": _decode(states, [str(state) for state in CODES]),
        "band": place(pa.array(bands, mask=bands == ""), measured),
        "tercile": place(pa.array(terciles, mask=terciles == ""), measured),
        "reason": _decode(reasons, why),
        "vector": place(pa.array([key.hex() for key in embedded.keys], pa.string()), measured),
        "displaced_by": place(
            pa.array(outranked.values(), pa.string()), np.fromiter(outranked, np.int64)
        ),
        "x": spread(points[:, 0]),
        "y": spread(points[:, 1]),
        **{f"rps_k{scores.k}_n{scores.pool}": spread(scores.rps) for scores in every[1:]},
    }
    more = [(name, pa.float64()) for name in list(columns)[len(TABLE) :]]
    table = pa.table(columns, schema=pa.schema([*TABLE, *more]))
    figures = _figures(base, graph, ranks, every, bands, terciles)
    numbers, first, times = np.unique(reasons, return_index=True, return_counts=True)
    figures["entities"] = count_states(
        {state: int((states == i).sum()) for i, state in enumerate(CODES)},
        {why[numbers[i]]: int(times[i]) for i in np.argsort(first) if why[numbers[i]]},
    )
    size = config.reservoir_for(graph.n)
    if size is not None and size < graph.n:
        error = rps.reservoir_error(ranks, graph.n, k=headline.k, pool=headline.pool)
        figures["reservoir"] = {"size": size, "mean_standard_error": error}
    if projection is not None:
        names = ("method", "accuracy", "majority")
        figures["projection"] = {name: getattr(projection, name) for name in names}
        if len(shown) < int(headline.measured.sum()):
            figures["projection"]["sample"] = len(shown)
    return table, figures, headline


def _figures(
    base: KnowledgeBase,
    graph: RelationGraph,
    ranks: PairRanks,
    every: Sequence[rps.Scores],
    bands: rps.Bands,
    terciles: rps.Bands,
) -> dict[str, Any]:
    """Return the summary's figures of scores and pairs, and the curves over N and over k.

    N is doubled from 100 on as far as 99% of the pairs allow: the population hardly changes.
    """
    headline, relations = every[0], base.relations
    k, pool, n = headline.k, headline.pool, len(headline.rps)
    counts, _ = np.histogram(headline.rps[headline.measured], bins=rps.HISTOGRAM_EDGES)
    pools: set[int] = set()
    if len(ranks):
        largest = int(np.quantile(ranks.pool, 0.01, method="lower")) + 1
        doubled = (100 << i for i in range(largest.bit_length()))
        pools = {largest, pool, *(size for size in doubled if size < largest)}
    pools = {size for size in pools if size >= k}
    sampled = {} if base.targets is None else {"not_of_the_sample": graph.n_pairs - len(ranks)}
    return {
        **_setting(headline),
        "entities": {},
        "bands": rps.count_bands(bands),
        "terciles": {
            "counts": rps.count_bands(terciles),
            "low_up_to": _end(headline.rps[terciles == "low"], max),
            "high_from": _end(headline.rps[terciles == "high"], min),
        },
        "pairs": {
            "related": relations.n_pairs,
            "measured": len(ranks) - headline.pairs_without_pool,
            "pool_too_small": headline.pairs_without_pool,
            "without_vector": relations.n_pairs - graph.n_pairs,
            **sampled,
            "triples": relations.triples,
            "self_loops": relations.self_loops,
            "unknown_ids": relations.unknown,
        },
        "settings": [_setting(scores) for scores in every],
        "histogram": {"edges": rps.HISTOGRAM_EDGES, "entities": counts.tolist()},
        "curve_over_pool": rps.curve_over_pool(ranks, n, k=k, pools=sorted(pools)),
        "curve_over_k": rps.curve_over_k(ranks, k_max=min(CURVE_K, pool), pool=pool),
        "reservoir": None,
        "projection": None,
    }


def _states(
    base: KnowledgeBase,
    embedded: Embedded[Rows],
    graph: RelationGraph,
    headline: rps.Scores,
    measured: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], list[str]]:
    """Per entity of `base` its state (of CODES) and why it was not measured (of the list)."""
    why = [
        "", "came along with the sample",
        f"under {headline.pool - 1} neutrals for all that is related",
        "no related entity has a vector", "no related entity", "no paragraph",
    ]  # fmt: skip
    n = len(base.entities)
    targets = np.ones(n, bool) if base.targets is None else base.targets
    related = base.relations.degree[measured] > 0
    states = np.full(n, CODES.index(State.NOT_APPLICABLE), np.uint8)
    states[measured[headline.measured]] = CODES.index(State.MEASURED)
    reasons = np.full(n, len(why) - 1, np.int32)
    cases = [headline.measured, ~targets[measured] & related, graph.degree > 0, related]
    reasons[measured] = np.select(cases, [0, 1, 2, 3], 4)
    with_text = np.flatnonzero(base.has_text)
    numbers = {reason: i for i, reason in enumerate(why)}
    for position, reason in embedded.failures.items():
        states[with_text[position]] = CODES.index(State.FAILED)
        reasons[with_text[position]] = numbers.setdefault(reason, len(numbers))
    return states, reasons, list(numbers)


def _displaced_by(
    base: KnowledgeBase,
    vectors: Rows,
    graph: RelationGraph,
    headline: rps.Scores,
    measured: npt.NDArray[np.int64],
) -> dict[int, str]:
    """Return, by position in `base`, who outranks each of the least reachable, in words.

    The lowest upper bound comes first, so one bad pair cannot lead.
    """
    order = np.lexsort((np.arange(graph.n), headline.rps, headline.high))
    worst = order[headline.measured[order]][:WORST]
    rivals = displacers(vectors, graph, worst.tolist(), k=headline.k, top=3)
    entities = {z: base.entities[measured[z]] for above in rivals for z, _ in above}
    names = {z: entity.label or entity.id for z, entity in entities.items()}
    return {
        int(measured[x]): "; ".join(
            f"{names[z]} ({times} of {len(graph.neighbours(int(x)))})" for z, times in above
        )
        for x, above in zip(worst, rivals, strict=True)
    }


def _decode(codes: npt.NDArray[Any], names: Sequence[str]) -> pa.Array:
    """Return the name of each code. The empty string stays one."""
    return pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string())).dictionary_decode()


def _setting(scores: rps.Scores) -> dict[str, Any]:
    """Return the figures of one k and N. None where no entity has a score."""
    values = scores.rps[scores.measured]

    def mean(of: npt.NDArray[Any]) -> float | None:
        return round(float(of.mean()), 6) if len(of) else None

    return {
        "k": scores.k,
        "pool": scores.pool,
        "scored": len(values),
        "mean_rps": mean(values),
        "share_below_0.33": mean(values < rps.LOW),
        "share_above_0.5": mean(values > 0.5),
    }


def _end(values: npt.NDArray[np.float64], of: Any) -> float | None:
    return round(float(of(values)), 6) if len(values) else None


PROJECTED = 50_000  # entities that are projected: of more, a uniform sample; the report shows fewer
FOLDS = 3
MIN_MEMBERS = FOLDS  # a band of fewer entities has no spread to speak of, and none for every fold
TOO_CLOSE = "the embeddings lie too close together for"


@dataclass(frozen=True)
class Projection:
    """Two coordinates per entity, (n, 2), and how they were made.

    accuracy: share of entities whose band LDA names right, on folds it was not fitted on.
    majority: the same for always naming the commonest band.
    """

    points: npt.NDArray[np.float64]
    method: str
    accuracy: float | None = None
    majority: float | None = None


def project_bands(
    vectors: FloatArray, bands: npt.NDArray[np.str_], *, seed: int = 0
) -> Projection | None:
    """Project to the two axes that best separate the bands. None when there is too little to.

    vectors: (n, dim). bands: (n,) "low", "mid" or "high". With three bands both axes come from
    linear discriminant analysis. With two, the second is the first principal component of what
    LDA leaves over. With one band there is nothing to separate, and PCA is shown and named, as it
    is where the vectors are so nearly equal that LDA has no spread to divide by.
    """
    from sklearn.model_selection import StratifiedKFold

    n, dim = vectors.shape
    if n < 3 or dim < 2:
        return None
    classes, members = np.unique(bands, return_counts=True)
    is_large = members >= MIN_MEMBERS
    if is_large.sum() < 2:
        return Projection(_principal(vectors, 2, seed), "PCA")
    of_large = np.isin(bands, classes[is_large])  # the rest is projected, not fitted
    fitted, of = vectors[of_large], bands[of_large]
    try:
        lda = _discriminant(fitted, of)
        right = [
            _discriminant(fitted[train], of[train]).score(fitted[test], of[test])
            for train, test in StratifiedKFold(FOLDS).split(fitted, of)
        ]
    except np.linalg.LinAlgError:
        return Projection(_principal(vectors, 2, seed), f"PCA ({TOO_CLOSE} LDA)")
    axes = lda.transform(vectors)[:, :2]
    method = "LDA"
    if axes.shape[1] == 1:
        direction = lda.scalings_[:, :1] / np.linalg.norm(lda.scalings_[:, :1])
        rest = vectors - (vectors @ direction) @ direction.T
        axes = np.hstack([axes, _principal(rest, 1, seed)])
        method = "LDA and the first principal component of the rest"
    majority = round(float(members[is_large].max() / len(of)), 4)
    accuracy = round(float(np.mean(right)), 4)
    return Projection(axes, method, accuracy, majority)


def _principal(vectors: FloatArray, n: int, seed: int) -> npt.NDArray[np.float64]:
    """Return the first n principal components, shape (n_vectors, n)."""
    from sklearn.decomposition import PCA

    with np.errstate(invalid="ignore"):  # equal vectors: 0 of 0 variance is explained
        points: npt.NDArray[np.float64] = PCA(n, random_state=seed).fit_transform(vectors)
    return points


def _discriminant(vectors: FloatArray, bands: npt.NDArray[np.str_]) -> Any:
    """Fit LDA. LinAlgError where the members of the bands have no spread."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    # Shrunk, since few points in many dimensions look separated whatever their bands.
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
    with np.errstate(invalid="ignore", divide="ignore"):  # as for _principal
        return lda.fit(vectors, bands)
