"""From scores of views to one score per document: the maximum, exact, ties by document id.

Views lie ordered by (document, view), so the views of document d are the columns
`starts[d]:starts[d + 1]`. Float32 products round, so views within the rounding bound of a place
in the result are compared again in float64: equal vectors tie wherever they lie, and neither the
number of queries nor the order in which they come changes a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.rounding import rounding_bound
from argus.data.types import FloatArray, IntArray, Run

Float64Array = npt.NDArray[np.float64]
PAIR_ROWS = 16_384  # (query, view) pairs compared again at a time


@dataclass(frozen=True)
class TopDocuments:
    """Ranked documents per query, best first; a query may have fewer than k."""

    doc_ids: list[list[str]]
    scores: list[list[float]]
    view_ids: list[list[str]]
    """The view that gave each document its score; the smaller id of equal ones."""

    def run(self, query_ids: Sequence[str]) -> Run:
        """Return `query_id -> doc_id -> score`, in rank order."""
        if len(query_ids) != len(self.doc_ids):
            raise ValueError(f"{len(query_ids)} query ids for {len(self.doc_ids)} results")
        return {
            query: dict(zip(docs, scores, strict=True))
            for query, docs, scores in zip(query_ids, self.doc_ids, self.scores, strict=True)
        }


@dataclass(frozen=True)
class Folded:
    """The best documents of each query as (query, document) pairs, by query and rank."""

    query: IntArray
    document: IntArray
    view: IntArray
    """Row of the view that won."""
    score: Float64Array


def max_fold(scores: FloatArray, starts: IntArray) -> FloatArray:
    """Return the best view's score per document.

    scores: (n_queries, n_views); starts: (n_documents + 1,), every document with a view.
    """
    folded: FloatArray = np.maximum.reduceat(scores, starts[:-1], axis=1)
    return folded  # (n_queries, n_documents)


def top_documents(
    queries: FloatArray, vectors: FloatArray, starts: IntArray, scores: FloatArray, k: int
) -> Folded:
    """Return the k documents of highest max-folded score for each query.

    queries: (n_queries, dim); vectors: (n_views, dim); scores: their float32 products.
    """
    bound = rounding_bound(vectors.shape[1])
    best = max_fold(scores, starts)
    k = min(k, best.shape[1])
    kth = np.partition(best, -k, axis=1)[:, -k][:, None]
    query, document = np.nonzero(best >= kth - bound)
    view, score = _exact(queries, vectors, starts, scores, best, query, document, bound)
    order = np.lexsort((document, -score, query))
    query, document, view, score = query[order], document[order], view[order], score[order]
    first = np.searchsorted(query, np.arange(len(queries)))
    kept = np.arange(len(query)) - first[query] < k
    return Folded(query[kept], document[kept], view[kept], score[kept])


def target_ranks(
    queries: FloatArray,
    vectors: FloatArray,
    starts: IntArray,
    scores: FloatArray,
    targets: IntArray,
) -> IntArray:
    """Return the 1-based rank of document `targets[i]` in query i, ties by document."""
    bound = rounding_bound(vectors.shape[1])
    best = max_fold(scores, starts)
    rows = np.arange(len(targets))
    _, own = _exact(queries, vectors, starts, scores, best, rows, targets, bound)
    ranks = 1 + (best > own[:, None] + bound).sum(axis=1)
    near = np.abs(best - own[:, None]) <= bound
    near[rows, targets] = False
    query, rival = np.nonzero(near)
    _, score = _exact(queries, vectors, starts, scores, best, query, rival, bound)
    above = (score > own[query]) | ((score == own[query]) & (rival < targets[query]))
    np.add.at(ranks, query[above], 1)
    return np.asarray(ranks, np.int64)


def _exact(
    queries: FloatArray,
    vectors: FloatArray,
    starts: IntArray,
    scores: FloatArray,
    best: FloatArray,
    query: IntArray,
    document: IntArray,
    bound: float,
) -> tuple[IntArray, Float64Array]:
    """Return winning view and float64 score of each (query, document) pair."""
    counts = starts[document + 1] - starts[document]
    pair = np.repeat(np.arange(len(query)), counts)
    offset = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    view = starts[document][pair] + offset
    close = scores[query[pair], view] >= best[query, document][pair] - bound
    pair, view = pair[close], view[close]
    exact = pair_products(queries, vectors, query[pair], view)
    order = np.lexsort((view, -exact, pair))  # the best view of each pair first, ties by view
    winner = order[np.searchsorted(pair[order], np.arange(len(query)))]
    return view[winner], exact[winner]


def pair_products(
    queries: FloatArray, vectors: FloatArray, query: IntArray, view: IntArray
) -> Float64Array:
    """Return the float64 dot products of `queries[query]` with `vectors[view]`, pair by pair."""
    out = np.empty(len(query), np.float64)
    for start in range(0, len(query), PAIR_ROWS):
        part = slice(start, start + PAIR_ROWS)
        left, right = queries[query[part]].astype(float), vectors[view[part]].astype(float)
        out[part] = np.einsum("ij,ij->i", left, right)
    return out
