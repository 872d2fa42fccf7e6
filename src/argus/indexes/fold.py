"""From scores of views to one score per document: exact, ties by document id.

Views lie ordered by (document, view), so the views of document d are the columns
`starts[d]:starts[d + 1]`. A document scores as its best view (max fold). Where it has scenarios,
its score is `λ·s_doc + (1-λ)·max s_scenario` (SPIKE eq. 3), s_doc the best of its other views; one
without scenarios scores s_doc, so that no document is ever lost for want of them. Where a blend is
active, sentences are mixed into s_doc and hubs taken down (`argus.indexes.blend`).

Float32 products round, so documents within the rounding bound of a place in the result are compared
again in float64: equal vectors tie wherever they lie, and neither the number of queries nor the
order in which they come changes a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from argus.data.rounding import product_bound
from argus.data.types import FloatArray, IntArray, Run
from argus.encoders.scoring import reach_of
from argus.indexes.weighing import DOCUMENTS_ALONE as DOCUMENTS_ALONE
from argus.indexes.weighing import RELEVANCE_WEIGHT as RELEVANCE_WEIGHT
from argus.indexes.weighing import check_weight as check_weight

Float64Array = npt.NDArray[np.float64]
SCENARIO = "scenario"
"""Kind of the views that are weighed against all others of a document."""
PAIR_ROWS = 16_384  # (query, view) pairs compared again at a time


@dataclass(frozen=True)
class TopDocuments:
    """Ranked documents per query, best first; a query may have fewer than k."""

    doc_ids: list[list[str]]
    scores: list[list[float]]
    view_ids: list[list[str]]
    """The best view of each document that is no scenario; the smaller id of equal ones."""
    scenario_ids: list[list[str]] = field(default_factory=list)
    """The scenario that matched best, "" for a document without; no lists where there is none."""

    def run(self, query_ids: Sequence[str]) -> Run:
        """Return `query_id -> doc_id -> score`, in rank order."""
        if len(query_ids) != len(self.doc_ids):
            raise ValueError(f"{len(query_ids)} query ids for {len(self.doc_ids)} results")
        return {
            query: dict(zip(docs, scores, strict=True))
            for query, docs, scores in zip(query_ids, self.doc_ids, self.scores, strict=True)
        }


@dataclass(frozen=True)
class Mixed:
    """A blend laid over the documents and views of a snapshot.

    weight: λ. sentence: (n_views,), which views are sentences, None where none counts. penalty:
    (n_documents,), β·r, None where nothing is taken off.
    """

    weight: float = 1.0
    sentence: npt.NDArray[np.bool_] | None = None
    penalty: FloatArray | None = None

    def less(
        self, scores: npt.NDArray[np.floating], documents: IntArray | slice = slice(None)
    ) -> FloatArray:
        """Return scores less what is taken off their documents (the last axis)."""
        if self.penalty is None:
            return scores
        lowered: FloatArray = scores - self.penalty[documents].astype(scores.dtype)
        return lowered


@dataclass(frozen=True)
class Layout:
    """Which views belong to which document, and how they are weighed.

    starts: (n_documents + 1,), every document with a view. scenario: (n_views,), None where no view
    is one. weight: λ, from 0 to 1. reach: length of the longest view's vector, 1 for unit rows.
    mixed: the blend that is active.
    """

    starts: IntArray
    scenario: npt.NDArray[np.bool_] | None = None
    weight: float = RELEVANCE_WEIGHT
    reach: float = 1.0
    mixed: Mixed = field(default_factory=Mixed)

    @property
    def plain(self) -> bool:
        """Whether a document scores as the best of all its views."""
        return self.scenario is None and self.mixed.sentence is None

    @property
    def sides(self) -> npt.NDArray[np.bool_]:
        """Which views are weighed against the others: scenarios and sentences, shape (n_views,)."""
        masks = [mask for mask in (self.scenario, self.mixed.sentence) if mask is not None]
        sides: npt.NDArray[np.bool_] = np.logical_or.reduce(masks)
        return sides

    def bound(self, queries: FloatArray) -> float:
        """Return how far two float32 scores of these queries may be from their exact difference."""
        return product_bound(queries.shape[1], self.reach * reach_of(queries))


@dataclass(frozen=True)
class Folded:
    """The best documents of each query as (query, document) pairs, by query and rank."""

    query: IntArray
    document: IntArray
    view: IntArray
    """Row of the best view that is no scenario; of the best scenario where there is no other."""
    scenario: IntArray
    """Row of the best scenario, -1 where there is none."""
    score: Float64Array


def fold(scores: FloatArray, layout: Layout) -> FloatArray:
    """Return one score per document, shape (n_queries, n_documents).

    scores: (n_queries, n_views).
    """
    first, mixed = layout.starts[:-1], layout.mixed
    if layout.plain:
        return mixed.less(np.maximum.reduceat(scores, first, axis=1))
    low = np.float32(-np.inf)

    def best(views: npt.NDArray[np.bool_]) -> FloatArray:
        held: FloatArray = np.maximum.reduceat(np.where(views, scores, low), first, axis=1)
        return held

    own = best(~layout.sides)
    if mixed.sentence is not None:
        own = mix_sentences(own, best(mixed.sentence), mixed.weight)
    if layout.scenario is not None:
        own = mix(own, best(layout.scenario), layout.weight)
    return mixed.less(own)


def ends(scores: FloatArray, layout: Layout) -> tuple[FloatArray, FloatArray]:
    """Return the scores at λ = 1 and λ = 0, between which every other lies on a line."""
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
    with np.errstate(invalid="ignore"):  # 0 · -inf, which is not taken
        mixed = dtype(weight) * own + dtype(1 - weight) * scenario
    without = np.isneginf(own)
    out: FloatArray = np.where(np.isneginf(scenario), own, np.where(without, scenario, mixed))
    return out


def mix_sentences(
    own: npt.NDArray[np.floating], sentence: npt.NDArray[np.floating], weight: float
) -> FloatArray:
    """Return `λ·own + (1-λ)·max(own, sentence)`; own where there is no sentence (-inf)."""
    dtype = own.dtype.type
    best = np.maximum(own, sentence)
    with np.errstate(invalid="ignore"):  # -inf where there is no other view, which is not taken
        mixed = dtype(weight) * own + dtype(1 - weight) * best
    out: FloatArray = np.where(np.isneginf(own), best, np.where(sentence > own, mixed, own))
    return out


def top_documents(
    queries: FloatArray, vectors: FloatArray, scores: FloatArray, layout: Layout, k: int
) -> Folded:
    """Return the k documents of highest score for each query.

    queries: (n_queries, dim); vectors: (n_views, dim); scores: their float32 products.
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
    view, scenario, score = exact(queries, vectors, layout, query, document)
    order = np.lexsort((document, -score, query))
    query = query[order]
    first = np.searchsorted(query, np.arange(len(queries)))
    best = order[np.arange(len(query)) - first[query] < k]
    query = query[np.arange(len(query)) - first[query] < k]
    return Folded(query, document[best], view[best], scenario[best], score[best])


def target_ranks(
    queries: FloatArray,
    vectors: FloatArray,
    best: FloatArray,
    layout: Layout,
    targets: IntArray,
    *,
    stand_in: Float64Array | None = None,
) -> tuple[IntArray, IntArray]:
    """Return the 1-based rank of document `targets[i]` in query i, and what scores strictly higher.

    best: (n_queries, n_documents), what `fold` made of the float32 products. Ranks break ties by
    document. stand_in: (n_queries,), scores that take the place of the targets' own, in float64
    and as `exact` gives them (a document less one of its views). Both results: (n_queries,).
    """
    rows, bound = np.arange(len(targets)), layout.bound(queries)
    own = exact(queries, vectors, layout, rows, targets)[2] if stand_in is None else stand_in
    higher = best > (own + bound)[:, None]
    near = (best >= (own - bound)[:, None]) & ~higher
    higher[rows, targets] = near[rows, targets] = False
    above = higher.sum(axis=1)
    ranks = 1 + above
    query, rival = np.nonzero(near)
    for start in range(0, len(query), PAIR_ROWS):
        pairs = slice(start, start + PAIR_ROWS)
        row, other = query[pairs], rival[pairs]
        _, _, score = exact(queries, vectors, layout, row, other)
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
) -> tuple[IntArray, IntArray, Float64Array]:
    """Return best view, best scenario (-1: none) and score of (query, document) pairs.

    All in float64; of equal views the first row.
    """
    if not len(query):
        none = np.zeros(0, np.int64)
        return none, none, np.zeros(0)
    counts = layout.starts[document + 1] - layout.starts[document]
    first = np.cumsum(counts) - counts
    pair = np.repeat(np.arange(len(query)), counts)
    view = layout.starts[document][pair] + np.arange(len(pair)) - first[pair]
    scores = pair_products(queries, vectors, query[pair], view)

    def best(of: npt.NDArray[np.bool_]) -> tuple[IntArray, Float64Array]:
        return _best(np.where(of[view], scores, -np.inf), view, pair, first)

    mixed = layout.mixed
    if layout.plain:
        row, score = _best(scores, view, pair, first)
        return row, np.full(len(query), -1), np.asarray(mixed.less(score, document), np.float64)
    row, score = best(~layout.sides)
    if mixed.sentence is not None:
        sentence_row, sentence = best(mixed.sentence)
        row = np.where(sentence > score, sentence_row, row)
        score = np.asarray(mix_sentences(score, sentence, mixed.weight), np.float64)
    scenario_row = np.full(len(query), -1)
    if layout.scenario is not None:
        scenario_row, scenario = best(layout.scenario)
        row = np.where(np.isneginf(score), scenario_row, row)
        score = np.asarray(mix(score, scenario, layout.weight), np.float64)
        scenario_row = np.where(np.isneginf(scenario), -1, scenario_row)
    return row, scenario_row, np.asarray(mixed.less(score, document), np.float64)


def _best(
    scores: Float64Array, view: IntArray, pair: IntArray, first: IntArray
) -> tuple[IntArray, Float64Array]:
    """Return the best view of each pair and its score; the first of equal ones."""
    best = np.maximum.reduceat(scores, first)
    hits = np.flatnonzero(scores == best[pair])
    winner = hits[np.searchsorted(pair[hits], np.arange(len(first)))]
    return view[winner], best


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
