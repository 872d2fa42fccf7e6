"""Score each document by its best vector (max pooling), and rank documents exactly, ties by id.

From scores of views (indexed texts, several per document) to one score per document: the step of a
search between `argus.indexes.snapshot`, which holds the vectors, and the ranked result. The views
of document d are the columns `starts[d]:starts[d + 1]`. With scenarios a document scores
`λ·s_doc + (1-λ)·max s_scenario` (SPIKE eq. 3), where s_doc is the best of its other views. One
without scenarios scores s_doc. `argus.indexes.blend` defines the weight of sentences.

Float32 products round. Documents within the rounding bound of a place in the result are compared
again in float64: equal vectors tie wherever they lie, and neither the number of queries nor their
order changes a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray, Run
from argus.indexes.blend import RELEVANCE_WEIGHT
from argus.indexes.exact import Float64Array, product_bound, reach_of

BoolArray = npt.NDArray[np.bool_]
# Kind of a document's own text, and the state (`as_of`) of an index without any remedy.
ORIGINAL = "original"
# Kind of the views that are weighed against all others of a document.
SCENARIO = "scenario"
PAIR_ROWS = 16_384  # (query, view) pairs compared again at a time


@dataclass(frozen=True)
class TopDocuments:
    """Ranked documents per query, best first. A query may have fewer than k.

    view_ids: the best view of each document that is no scenario, the smaller id of equal ones, and
    the best scenario of one without.
    """

    doc_ids: list[list[str]]
    scores: list[list[float]]
    view_ids: list[list[str]]

    def run(self, query_ids: Sequence[str]) -> Run:
        """Return `query_id -> doc_id -> score`, in rank order."""
        return {
            query: dict(zip(docs, scores, strict=True))
            for query, docs, scores in zip(query_ids, self.doc_ids, self.scores, strict=True)
        }


@dataclass(frozen=True)
class Layout:
    """Owners of views, and their weights.

    starts: (n_documents + 1,), every document with a view. scenario, sentence: (n_views,), which
    views are of that kind, None where none counts. weight: λ against scenarios. sentence_weight: λ
    against sentences. Both lie from 0 to 1. reach: length of the longest vector, 1 for unit rows.
    """

    starts: IntArray
    scenario: BoolArray | None = None
    weight: float = RELEVANCE_WEIGHT
    reach: float = 1.0
    sentence: BoolArray | None = None
    sentence_weight: float = 1.0

    @property
    def plain(self) -> bool:
        """True if a document scores as the best of all its views."""
        return self.scenario is None and self.sentence is None

    @property
    def sides(self) -> BoolArray:
        """Views that are weighed against the others: scenarios and sentences, (n_views,)."""
        masks = [mask for mask in (self.scenario, self.sentence) if mask is not None]
        sides: BoolArray = np.logical_or.reduce(masks)
        return sides

    def bound(self, queries: FloatArray) -> float:
        """Return how far two float32 scores of these queries may be from their exact difference."""
        return product_bound(queries.shape[1], self.reach * reach_of(queries))


@dataclass(frozen=True)
class Folded:
    """The best documents of each query as (query, document) pairs, by query and rank.

    view: row of the best view that is no scenario, of the best scenario where there is no other.
    """

    query: IntArray
    document: IntArray
    view: IntArray
    score: Float64Array


def fold(scores: FloatArray, layout: Layout) -> FloatArray:
    """Return the score of every document, (n_queries, n_documents).

    scores: (n_queries, n_views). The same array where each document is one plain view.
    """
    first = layout.starts[:-1]
    if layout.plain:
        alone = len(first) == scores.shape[1]  # one view per document
        return scores if alone else np.maximum.reduceat(scores, first, axis=1)

    def best(views: BoolArray) -> FloatArray:
        of: FloatArray = np.where(views, scores, np.float32(-np.inf))
        return np.maximum.reduceat(of, first, axis=1)

    own = best(~layout.sides)
    if layout.sentence is not None:
        own = mix_sentences(own, best(layout.sentence), layout.sentence_weight)
    if layout.scenario is not None:
        own = mix(own, best(layout.scenario), layout.weight)
    return own


def ends(scores: FloatArray, layout: Layout) -> tuple[FloatArray, FloatArray]:
    """Return the scores at λ = 1 and λ = 0. Those at every other λ lie on a line between."""
    by_document, by_scenario = (fold(scores, replace(layout, weight=w)) for w in (1.0, 0.0))
    return by_document, by_scenario


def between(both: tuple[FloatArray, FloatArray], weight: float) -> FloatArray:
    """Return the scores at a λ, from those at both `ends`."""
    scores: FloatArray = np.float32(weight) * both[0] + np.float32(1 - weight) * both[1]
    return scores


def mix(
    own: npt.NDArray[np.floating], scenario: npt.NDArray[np.floating], weight: float
) -> FloatArray:
    """Return `λ·own + (1-λ)·scenario` (SPIKE eq. 3), the other one where one is -inf."""
    dtype = own.dtype.type
    with np.errstate(invalid="ignore"):  # 0 · -inf, which is replaced below
        mixed = dtype(weight) * own + dtype(1 - weight) * scenario
    without = np.isneginf(own)
    out: FloatArray = np.where(np.isneginf(scenario), own, np.where(without, scenario, mixed))
    return out


def mix_sentences(
    own: npt.NDArray[np.floating], sentence: npt.NDArray[np.floating], weight: float
) -> FloatArray:
    """Return `λ·own + (1-λ)·max(own, sentence)`, or own where there is no sentence (-inf)."""
    mixed = mix(own, np.maximum(own, sentence), weight)
    out: FloatArray = np.where((sentence > own) | np.isneginf(own), mixed, own)
    return out


def top_documents(
    queries: FloatArray, vectors: FloatArray, scores: FloatArray, layout: Layout, k: int
) -> Folded:
    """Return the k documents of highest score for each query.

    queries: (n_queries, dim). vectors: (n_views, dim). scores: their float32 products.
    """
    best = fold(scores, layout)
    k = min(k, best.shape[1])
    kth = np.partition(best, -k, axis=1)[:, -k][:, None]
    query, document = np.nonzero(best >= kth - layout.bound(queries))
    return ranked(queries, vectors, layout, query, document, k)


def ranked(
    queries: FloatArray,
    vectors: FloatArray,
    layout: Layout,
    query: IntArray,
    document: IntArray,
    k: int,
) -> Folded:
    """Return the k best of the (query, document) pairs of each query, compared in float64."""
    view, score = exact(queries, vectors, layout, query, document)
    order = np.lexsort((document, -score, query))
    query = query[order]
    first = np.searchsorted(query, np.arange(len(queries)))
    within = np.arange(len(query)) - first[query] < k
    best, query = order[within], query[within]
    return Folded(query, document[best], view[best], score[best])


def target_ranks(
    queries: FloatArray,
    vectors: FloatArray,
    best: FloatArray,
    layout: Layout,
    targets: IntArray,
    *,
    stand_in: Float64Array | None = None,
) -> tuple[IntArray, IntArray]:
    """Return the 1-based rank of document `targets[i]` in query i, and how many score higher.

    best: (n_queries, n_documents), the fold of the float32 products. Ranks break ties by document.
    stand_in: (n_queries,), scores in place of the targets' own, in float64 and as `exact` gives
    them (a document less one of its views). Both results: (n_queries,).
    """
    rows, bound = np.arange(len(targets)), layout.bound(queries)
    own = exact(queries, vectors, layout, rows, targets)[1] if stand_in is None else stand_in
    higher = best > (own + bound)[:, None]
    near = (best >= (own - bound)[:, None]) & ~higher
    higher[rows, targets] = near[rows, targets] = False
    above = higher.sum(axis=1)
    ranks = 1 + above
    query, rival = np.nonzero(near)
    for start in range(0, len(query), PAIR_ROWS):
        pairs = slice(start, start + PAIR_ROWS)
        row, other = query[pairs], rival[pairs]
        score = exact(queries, vectors, layout, row, other)[1]
        first = (score == own[row]) & (other < targets[row])
        np.add.at(above, row[score > own[row]], 1)
        np.add.at(ranks, row[(score > own[row]) | first], 1)
    return np.asarray(ranks, np.int64), np.asarray(above, np.int64)


def exact(
    queries: FloatArray,
    vectors: FloatArray,
    layout: Layout,
    query: IntArray,
    document: IntArray,
) -> tuple[IntArray, Float64Array]:
    """Return best view and float64 score of (query, document) pairs.

    Of equal views the first row counts.
    """
    if not len(query):
        return np.zeros(0, np.int64), np.zeros(0)
    counts = layout.starts[document + 1] - layout.starts[document]
    first = np.cumsum(counts) - counts
    pair = np.repeat(np.arange(len(query)), counts)
    view = layout.starts[document][pair] + np.arange(len(pair)) - first[pair]
    products = pair_products(queries, vectors, query[pair], view)

    def best(of: BoolArray | None = None) -> tuple[IntArray, Float64Array]:
        scores = products if of is None else np.where(of[view], products, -np.inf)
        highest = np.maximum.reduceat(scores, first)
        hits = np.flatnonzero(scores == highest[pair])
        return view[hits[np.searchsorted(pair[hits], np.arange(len(first)))]], highest

    row, score = best(None if layout.plain else ~layout.sides)
    if layout.sentence is not None:
        sentence_row, sentence = best(layout.sentence)
        row = np.where(sentence > score, sentence_row, row)
        score = np.asarray(mix_sentences(score, sentence, layout.sentence_weight), np.float64)
    if layout.scenario is not None:
        scenario_row, scenario = best(layout.scenario)
        row = np.where(np.isneginf(score), scenario_row, row)
        score = np.asarray(mix(score, scenario, layout.weight), np.float64)
    return row, score


def pair_products(
    queries: FloatArray, vectors: FloatArray, query: IntArray, view: IntArray
) -> Float64Array:
    """Return the float64 dot products of `queries[query]` with `vectors[view]`, pair by pair."""
    out = np.empty(len(query), np.float64)
    for start in range(0, len(query), PAIR_ROWS):
        part = slice(start, start + PAIR_ROWS)
        right = vectors[view[part]]
        left = queries if len(queries) == 1 else queries[query[part]]
        out[part] = np.einsum("ij,ij->i", np.broadcast_to(left, right.shape), right, dtype=float)
    return out
