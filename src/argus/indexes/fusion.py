"""Fuse the rankings of vector search and BM25: weighted min-max, reciprocal ranks, or DBSF.

From runs (query -> document -> score) to one run of the k best documents, ties by document id.
`argus.indexes.retriever` calls it in a hybrid search, where the weight of BM25 follows the question
(`question_weights`). A document that one run lacks gets nothing from it. No fixed fusion is safe:
each of `RIVALS` gains on some collections and loses on others (docs/results/blend.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from argus.data.runs import ranking
from argus.data.types import Run
from argus.errors import InputError
from argus.indexes.blend import FUSION, FUSIONS, Fusion
from argus.indexes.snapshot import check_k

# Weight of BM25 against the vectors under `min-max`.
BM25_WEIGHT = 0.2
# Dependence of the weight of BM25 on the question (see `question_weights`).
MIN_SHARE, PER_COVERAGE, MAX_SHARE = 0.5, 3.0, 2.0
# k of Cormack, Clarke and Büttcher (SIGIR 2009), the value of their experiments.
RRF_CONSTANT = 60.0

# Common fusions of vectors and BM25: method, and weight of BM25.
RIVALS: dict[str, tuple[Fusion, float]] = {
    "min-max 0.3": ("min-max", 0.3),
    "min-max 0.5": ("min-max", 0.5),
    "RRF (60)": ("rrf", 0.5),
    "DBSF": ("dbsf", 0.5),
}

Scores = dict[str, float]


def fuse(
    runs: Sequence[Run],
    k: int,
    method: Fusion = FUSION,
    weights: Sequence[float] | Mapping[str, Sequence[float]] | None = None,
) -> Run:
    """Return the k best documents per query over all runs.

    Queries are those of any run. weights: one per run, or that by query. None weighs all alike.
    Raises InputError for an unknown method, ValueError for weights that are not one per run.
    """
    check_k(k)
    scale = _METHODS[check_fusion(method)]
    fused: Run = {}
    for query in dict.fromkeys(query for run in runs for query in run):
        own = weights[query] if isinstance(weights, Mapping) else weights
        scaled = [scale(run.get(query, {})) for run in runs]
        total = {doc: 0.0 for scores in scaled for doc in scores}
        for scores, weight in zip(scaled, [1.0] * len(runs) if own is None else own, strict=True):
            for doc, score in scores.items():
                total[doc] += weight * score
        fused[query] = {doc: total[doc] for doc in ranking(total)[:k]}
    return fused


def question_weights(
    weight: float, query_ids: Sequence[str], coverage: Sequence[float]
) -> dict[str, float]:
    """Return the weight of BM25 for each query, by the share of it that the best document covers.

    weight: of a question covered to a sixth. Half of it where nothing is covered, twice from a half
    up. Words say little of a question that no document shares them with. coverage: 0 to 1
    (`argus.indexes.lexical.Hits`). Chosen on theoremqa, cranfield and wiki2, tested on others
    (docs/results/blend.md).
    """
    shares = (min(MAX_SHARE, MIN_SHARE + PER_COVERAGE * one) for one in coverage)
    return {q: min(1.0, weight * share) for q, share in zip(query_ids, shares, strict=True)}


def fuse_with_bm25(
    vectors: Run,
    bm25: Run,
    k: int,
    method: Fusion = FUSION,
    weight: float | Mapping[str, float] = BM25_WEIGHT,
) -> Run:
    """Return the k best documents of a vector search and BM25, best first.

    weight: of BM25 under `min-max`, for all questions or by query. The other methods weigh both
    alike, as published.
    """
    runs = [vectors, bm25]
    if method != "min-max":
        return fuse(runs, k, method)
    if isinstance(weight, Mapping):
        return fuse(runs, k, method, {query: (1 - of, of) for query, of in weight.items()})
    return fuse(runs, k, method, (1 - weight, weight))


def check_fusion(name: str) -> Fusion:
    """Return `name` as a fusion. Raises InputError listing them when it is none."""
    if name not in FUSIONS:
        expected = f"one of {', '.join(FUSIONS)}"
        raise InputError(f"fusion {name!r}", expected=expected, fix=f"Take {FUSION} if in doubt.")
    return name


def reciprocal_ranks(scores: Scores, constant: float = RRF_CONSTANT) -> Scores:
    """Return 1 / (constant + rank) per document."""
    return {doc: 1 / (constant + rank) for rank, doc in enumerate(ranking(scores), 1)}


def min_max(scores: Scores) -> Scores:
    """Return scores scaled to 0..1, all 1 where they are equal."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {doc: (score - low) / (high - low) for doc, score in scores.items()}


def distribution_based(scores: Scores) -> Scores:
    """Return scores less mean - 3σ, over 6σ. Equal scores all become 0.5.

    Distribution-based score fusion as Qdrant has it: σ of a sample, nothing clipped.
    """
    deviation = float(np.std(list(scores.values()), ddof=1)) if len(scores) > 1 else 0.0
    if deviation == 0:
        return dict.fromkeys(scores, 0.5)
    mean = float(np.mean(list(scores.values())))
    return {doc: 0.5 + (score - mean) / (6 * deviation) for doc, score in scores.items()}


_METHODS: dict[Fusion, Callable[[Scores], Scores]] = {
    "rrf": reciprocal_ranks,
    "rrf-2": partial(reciprocal_ranks, constant=2.0),  # k = 3 of Qdrant, whose ranks begin at 0
    "min-max": min_max,
    "dbsf": distribution_based,
}
