"""Fusing rankings: normalised scores or reciprocal ranks, named, ties by document id.

Of a vector search and BM25, scores scaled to 0..1 and weighed are the default, BM25 by 0.2: over
sixteen judged collections that gained +0.012 nDCG@10 in the mean and harmed one. In the search of
an index the weight follows the question (`question_weight`). Reciprocal ranks are a gamble: +0.059
to -0.013 with a good BM25, -0.018 in the mean with a plain one (docs/results.md#blend).

A document that one run lacks was not found by that retriever: it gets nothing from it under
`min-max` and `rrf`, and that run's lowest standard score under `z`, where 0 would mean average.
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

Fusion = Literal["min-max", "rrf", "z"]
FUSIONS: tuple[Fusion, ...] = get_args(Fusion)
FUSION: Fusion = "min-max"
BM25_WEIGHT = 0.2
"""What BM25 counts against the vectors under `min-max`."""
LEAST_SHARE, PER_COVERAGE, MOST_SHARE = 0.5, 3.0, 2.0
"""How that follows the question; see `question_weight`."""
RRF_CONSTANT = 60.0
"""k of Cormack, Clarke and Büttcher (SIGIR 2009), the value of their experiments."""

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
            (*contribution(run.get(query, {})), count)
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


def reciprocal_ranks(scores: Scores) -> tuple[dict[str, float], float]:
    """Return 1 / (60 + rank) per document, and 0 for those that were not found."""
    ranked = ranking(scores)
    return {doc: 1 / (RRF_CONSTANT + rank) for rank, doc in enumerate(ranked, 1)}, 0.0


def min_max(scores: Scores) -> tuple[dict[str, float], float]:
    """Return scores scaled to 0..1 (all 1 where they are equal), and 0 for those not found."""
    if not scores:
        return {}, 0.0
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0), 0.0
    return {doc: (score - low) / (high - low) for doc, score in scores.items()}, 0.0


def standard_scores(scores: Scores) -> tuple[dict[str, float], float]:
    """Return scores less their mean over their deviation, and the lowest for those not found."""
    if not scores:
        return {}, 0.0
    values = np.array(list(scores.values()), np.float64)
    deviation = float(values.std())
    centred = (values - values.mean()) / deviation if deviation > 0 else np.zeros(len(values))
    return dict(zip(scores, centred.tolist(), strict=True)), float(centred.min())


_METHODS: dict[Fusion, Callable[[Scores], tuple[dict[str, float], float]]] = {
    "rrf": reciprocal_ranks,
    "min-max": min_max,
    "z": standard_scores,
}


def _top(parts: Sequence[tuple[dict[str, float], float, float]], k: int) -> dict[str, float]:
    """Sum the parts (score per document, score of a document not found, weight)."""
    total = dict.fromkeys(chain.from_iterable(scores for scores, _, _ in parts), 0.0)
    for scores, absent, weight in parts:
        for doc in total:
            total[doc] += weight * scores.get(doc, absent)
    return {doc: total[doc] for doc in ranking(total)[:k]}
