"""Fuse rankings: scaled scores or reciprocal ranks, named, ties by document id.

Vectors and BM25 with scores scaled to 0..1 and weighed are the default. In the search of an index
the weight follows the question (`question_weight`). No fixed fusion is safe: each of `RIVALS`
gains on some collections and loses on others (docs/results/blend.md).

A document that one run lacks was not found by that retriever and gets nothing from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Literal, get_args

import numpy as np

from argus.data.runs import ranking
from argus.data.types import Run
from argus.errors import InputError
from argus.indexes.snapshot import check_k

Fusion = Literal["min-max", "rrf", "dbsf"]
FUSIONS: tuple[Fusion, ...] = get_args(Fusion)
FUSION: Fusion = "min-max"
BM25_WEIGHT = 0.2
"""What BM25 counts against the vectors under `min-max`."""
LEAST_SHARE, PER_COVERAGE, MOST_SHARE = 0.5, 3.0, 2.0
"""How that follows the question; see `question_weight`."""
RRF_CONSTANT = 60.0
"""k of Cormack, Clarke and Büttcher (SIGIR 2009), the value of their experiments."""

RIVALS: dict[str, tuple[Fusion, float]] = {
    "min-max 0.3": ("min-max", 0.3),
    "min-max 0.5": ("min-max", 0.5),
    "RRF (60)": ("rrf", 0.5),
    "DBSF": ("dbsf", 0.5),
}
"""Fusions of vectors and BM25 that everybody has at hand: method, and what BM25 counts."""

Scores = dict[str, float]


def fuse(
    runs: Sequence[Run], k: int, method: Fusion = FUSION, weights: Sequence[float] | None = None
) -> Run:
    """Return the k best documents per query over all runs.

    Queries are those of any run. weights: what each run counts; None counts all alike. Raises
    InputError for an unknown method, ValueError for weights that are not one per run.
    """
    check_k(k)
    check_fusion(method)
    counts = [1.0] * len(runs) if weights is None else list(weights)
    queries = dict.fromkeys(query for run in runs for query in run)
    return {query: _fused(runs, query, k, method, counts) for query in queries}


def _fused(
    runs: Sequence[Run], query: str, k: int, method: Fusion, counts: Sequence[float]
) -> Scores:
    """Return the k best documents of one query; counts: what each run counts."""
    contribution = _METHODS[method]
    return _top(
        [
            (contribution(run.get(query, {})), count)
            for run, count in zip(runs, counts, strict=True)
        ],
        k,
    )


def question_weight(weight: float, coverage: float) -> float:
    """Return what BM25 counts for a question whose best document covers so much of it.

    weight: of a question covered to a sixth; half of it where nothing is covered, twice from a half
    up. Words tell little of a question that no document shares them with. coverage: 0 to 1
    (`argus.indexes.lexical.Hits`). Found on theoremqa, cranfield and wiki2, told on others
    (docs/results.md#blend).
    """
    return min(1.0, weight * min(MOST_SHARE, LEAST_SHARE + PER_COVERAGE * coverage))


def question_weights(
    weight: float, query_ids: Sequence[str], coverage: Sequence[float]
) -> dict[str, float]:
    """Return `question_weight` of each query, by its id."""
    shares = (question_weight(weight, one) for one in coverage)
    return dict(zip(query_ids, shares, strict=True))


def fuse_with_bm25(
    vectors: Run,
    bm25: Run,
    k: int,
    method: Fusion = FUSION,
    weight: float | Mapping[str, float] = BM25_WEIGHT,
) -> Run:
    """Return the k best documents of a vector search and BM25, best first.

    weight: what BM25 counts under `min-max`, of all questions or by query; the other methods count
    both alike, as published.
    """
    runs = [vectors, bm25]
    if method != "min-max":
        return fuse(runs, k, method)
    check_k(k)
    queries = dict.fromkeys([*vectors, *bm25])
    of = weight if isinstance(weight, Mapping) else dict.fromkeys(queries, weight)
    return {query: _fused(runs, query, k, method, (1 - of[query], of[query])) for query in queries}


def check_fusion(name: str) -> Fusion:
    """Return `name` as a fusion; InputError listing them when it is none."""
    for fusion in FUSIONS:
        if fusion == name:
            return fusion
    raise InputError(
        f"fusion {name!r}",
        expected=f"one of {', '.join(FUSIONS)}",
        fix=f"Take {FUSION} if in doubt.",
    )


def reciprocal_ranks(scores: Scores) -> Scores:
    """Return 1 / (60 + rank) per document."""
    ranked = ranking(scores)
    return {doc: 1 / (RRF_CONSTANT + rank) for rank, doc in enumerate(ranked, 1)}


def min_max(scores: Scores) -> Scores:
    """Return scores scaled to 0..1, all 1 where they are equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {doc: (score - low) / (high - low) for doc, score in scores.items()}


def distribution_based(scores: Scores) -> Scores:
    """Return scores less mean - 3σ, over 6σ; all 0.5 where they are equal.

    Distribution-based score fusion as Qdrant has it: σ of a sample, nothing clipped.
    """
    deviation = float(np.std(list(scores.values()), ddof=1)) if len(scores) > 1 else 0.0
    if deviation == 0:
        return dict.fromkeys(scores, 0.5)
    mean = float(np.mean(list(scores.values())))
    return {doc: 0.5 + (score - mean) / (6 * deviation) for doc, score in scores.items()}


_METHODS: dict[Fusion, Callable[[Scores], Scores]] = {
    "rrf": reciprocal_ranks,
    "min-max": min_max,
    "dbsf": distribution_based,
}


def _top(parts: Sequence[tuple[Scores, float]], k: int) -> Scores:
    """Sum the parts (score per document, weight) and return the k best."""
    total = dict.fromkeys(chain.from_iterable(scores for scores, _ in parts), 0.0)
    for scores, weight in parts:
        for doc, score in scores.items():
            total[doc] += weight * score
    return {doc: total[doc] for doc in ranking(total)[:k]}
