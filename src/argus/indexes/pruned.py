"""Search over documents and their side views that looks at few of these, and loses nothing by it.

Side views are sentences, which a blend mixes in, and scenarios. All vectors are unit rows, so
angles obey the triangle inequality on the sphere: a vector v within δ of an anchor a scores at
most `cos(max(0, θ - δ))` for a query at angle θ from a. A document's side views are bounded twice:
by its own views, and by themselves in eight bits a number (`argus.indexes.codes`). With s_doc its
own score and b a bound on the side views, its score is at most `λ·s_doc + (1-λ)·max(s_doc, b)`,
less what the blend takes off it.

Documents are scored first: those of one query by their codes, which bound s_doc and are read faster
than the vectors; those of several by one product of matrices. The side views of the best few give a
score that k documents reach; then only documents whose bound reaches it can matter, best bound
first, until the next one's lies below the k-th score. Results are those of `fold.top_documents`.

Memory beyond the snapshot: the vectors of all views that are no side views once more, and a quarter
of all vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.cores import available_cores, worker_threads
from argus.data.rounding import rounding_bound
from argus.data.types import FloatArray, IntArray
from argus.indexes.bounds import mixed_scores, reach, within
from argus.indexes.codes import TOLERANCE, CodedQuery, Codes
from argus.indexes.fold import Folded, Layout, ranked

SEEDS = 64
"""Documents whose scenarios are looked at to begin with, or 2k where that is more."""
HEAD = 512
"""Documents of the highest bounds, whose scores come first. What of the rest can still reach them
is read in the order in which it lies in memory: far faster, where that is a large part of all."""
PART = 4_000
"""Documents of the rest that are worth a thread, where one query is asked."""
BY_CODES = 2
"""Queries at once, at most, whose documents are scored by codes."""


@dataclass(frozen=True)
class SideViews:
    """Views of one kind that are weighed against the others of their documents.

    rows: their rows by document; starts: (n_documents + 1,) over those. codes: of those rows.
    angle: (n_documents, 2), cosine and sine of the greatest angle between a side view and the
    nearest own view.
    """

    rows: IntArray
    starts: IntArray
    codes: Codes
    angle: FloatArray
    widest: float
    """The greatest of those angles."""

    @classmethod
    def none(cls, n: int) -> SideViews:
        """Return what stands for a kind that no document has."""
        rows, angle = np.zeros(0, np.int64), np.zeros((0, 2), np.float32)
        codes = Codes.of(np.zeros((0, 0), np.float32), rows)
        return cls(rows, np.zeros(n + 1, np.int64), codes, angle, 0.0)


@dataclass(frozen=True)
class SideLayout:
    """What the search needs of a snapshot's views, made once.

    own: (n_own, dim), the vectors of all views that are no side views, contiguous; own_rows: where
    they are in the snapshot; own_starts: (n_documents + 1,) over them.
    """

    own: FloatArray
    own_rows: IntArray
    own_starts: IntArray
    own_codes: Codes
    sentences: SideViews
    scenarios: SideViews
    off_unit: float
    """How far a row's length is from 1 at most."""

    @classmethod
    def of(cls, vectors: FloatArray, layout: Layout) -> SideLayout | None:
        """Return the layout; None where a document has side views alone, or rows are not unit."""
        off_unit = off_unit_length(vectors)
        is_own = ~layout.sides
        own_starts = _starts(is_own, layout.starts)
        if (np.diff(own_starts) == 0).any() or not off_unit <= TOLERANCE:
            return None
        own_rows = np.flatnonzero(is_own)
        own = np.ascontiguousarray(vectors[own_rows])
        sentences, scenarios = (
            _side_views(vectors, own, own_starts, mask, layout.starts)
            for mask in (layout.mixed.sentence, layout.scenario)
        )
        codes = Codes.of(vectors, own_rows)
        return cls(own, own_rows, own_starts, codes, sentences, scenarios, off_unit)


def _side_views(
    vectors: FloatArray,
    own: FloatArray,
    own_starts: IntArray,
    mask: npt.NDArray[np.bool_] | None,
    view_starts: IntArray,
) -> SideViews:
    n = len(view_starts) - 1
    if mask is None:
        return SideViews.none(n)
    rows, starts = np.flatnonzero(mask), _starts(mask, view_starts)
    owner = np.repeat(np.arange(n), np.diff(starts))
    nearest = _nearest_own(vectors, own, own_starts, rows, owner)
    angle = _widest(nearest, owner, n)
    widest = float(angle.max())
    return SideViews(rows, starts, Codes.of(vectors, rows), _cosine_and_sine(angle), widest)


def top_documents_pruned(
    queries: FloatArray,
    vectors: FloatArray,
    layout: Layout,
    views: SideLayout,
    k: int,
) -> Folded:
    """Return what `fold.top_documents` does.

    queries: (n_queries, dim), unit rows; vectors: (n_views, dim). Both λ must be above 0.
    """
    is_few = len(queries) <= BY_CODES
    k_there, at_once = min(k, len(layout.starts) - 1), available_cores() if is_few else 1
    search = _Search(vectors, layout, views, k_there, at_once)
    coded = map(CodedQuery.of, queries)
    if is_few:
        candidates = [search.candidates(query, search.most(query)) for query in coded]
    else:
        threads = worker_threads()
        candidates = list(threads.map(search.candidates, coded, _own_scores(queries, views)))
    query = np.repeat(np.arange(len(queries)), [len(documents) for documents in candidates])
    return ranked(queries, vectors, layout, query, np.concatenate(candidates), k)


def _own_scores(queries: FloatArray, views: SideLayout) -> FloatArray:
    """Return the documents' scores without side views, (n_queries, n_documents)."""
    scores: FloatArray = queries @ views.own.T
    if len(views.own) == len(views.own_starts) - 1:
        return scores
    return np.maximum.reduceat(scores, views.own_starts[:-1], axis=1)


class _Search:
    """Candidates of one query after another; safe to use from many threads.

    threads: how many score the documents of one query.
    """

    def __init__(
        self, vectors: FloatArray, layout: Layout, views: SideLayout, k: int, threads: int
    ) -> None:
        self.vectors, self.layout, self.views, self.k = vectors, layout, views, k
        self.threads = threads
        self.slack = rounding_bound(vectors.shape[1]) + 2 * views.off_unit
        n = len(layout.starts) - 1
        penalty = layout.mixed.penalty
        self.penalty = np.zeros(n, np.float32) if penalty is None else penalty
        self.lightest = float(self.penalty.min(initial=0.0 if penalty is None else np.inf))
        self.weights = (layout.mixed.weight, layout.weight)
        self.sides = [
            (side, weight)
            for side, weight in zip((views.sentences, views.scenarios), self.weights, strict=True)
            if len(side.rows)
        ]

    def most(self, query: CodedQuery) -> FloatArray:
        """Return the most that documents score without side views, by codes, (n_documents,)."""
        views = self.views
        return views.own_codes.most(query, views.own_starts, self.threads)

    def candidates(self, query: CodedQuery, own: FloatArray) -> IntArray:
        """Return the documents that can be among the k best.

        own: (n_documents,), the most that they score without side views, nothing taken off.
        """
        n = len(own)
        seeds = min(n, max(SEEDS, 2 * self.k))
        lowered = own - self.penalty
        first = np.argpartition(lowered, n - seeds)[n - seeds :]
        least = self._score(query, own, first, np.ones(seeds, np.float32), self._none(), -np.inf)[1]
        near, bound = self._near(own, least)
        scores, least = self._by_bound(query, own, near, bound, least)
        documents: IntArray = near[scores >= least]
        return documents

    def _by_bound(
        self, query: CodedQuery, own: FloatArray, near: IntArray, bound: FloatArray, least: float
    ) -> tuple[FloatArray, float]:
        """Score those of the highest bounds first, then, as they lie in memory, the rest."""
        scores, best = np.full(len(near), -np.inf, np.float32), self._none()
        head = np.arange(len(near))
        if len(near) > HEAD:
            head = np.sort(np.argpartition(bound, len(near) - HEAD)[len(near) - HEAD :])
        scores[head], least = self._score(query, own, near[head], bound[head], best, least)
        is_rest = bound >= least
        is_rest[head] = False
        rest = np.flatnonzero(is_rest)

        def score(rows: IntArray) -> float:
            taken, reached = near[rows], bound[rows]
            scores[rows], most = self._score(query, own, taken, reached, best.copy(), least)
            return most

        parts = np.array_split(rest, max(1, min(self.threads, len(rest) // PART)))
        if len(parts) == 1:
            return scores, score(rest)
        return scores, max(worker_threads().map(score, parts))

    def _none(self) -> FloatArray:
        """Return what stands for the k best scores before there are any."""
        return np.full(self.k, -np.inf, np.float32)

    def _near(self, own: FloatArray, least: float) -> tuple[IntArray, FloatArray]:
        """Return the documents that can get to `least`, by the angles of their side views.

        And how far each can get. Whatever lies below `reach` cannot, whatever its angle.
        """
        widest = max(side.widest for side, _ in self.sides)
        weight = float(np.prod([weight for _, weight in self.sides]))
        lowest = reach(least + self.lightest - self.slack, widest, weight)
        sentences, scenarios = self.views.sentences, self.views.scenarios
        return within(  # type: ignore[no-any-return]
            own, self.penalty, sentences.starts, sentences.angle, scenarios.starts, scenarios.angle,
            np.float32(self.weights[0]), np.float32(self.weights[1]),
            np.float32(lowest), np.float32(least), np.float32(self.slack),
        )  # fmt: skip

    def _score(
        self,
        query: CodedQuery,
        own: FloatArray,
        documents: IntArray,
        bound: FloatArray,
        best: FloatArray,
        least: float,
    ) -> tuple[FloatArray, float]:
        """Return the scores of documents that can reach `least`, and what it has become.

        best: (k,), the k best scores so far, ascending; it is brought up to date.
        """
        sentences, scenarios = self.views.sentences, self.views.scenarios
        return mixed_scores(  # type: ignore[no-any-return]
            query, self.vectors, self.views.own_rows, self.views.own_starts,
            sentences.rows, sentences.starts, sentences.codes,
            scenarios.rows, scenarios.starts, scenarios.codes,
            np.float32(self.weights[0]), np.float32(self.weights[1]),
            own, self.penalty, documents, bound, best, np.float32(self.slack), np.float32(least),
        )  # fmt: skip


def off_unit_length(vectors: FloatArray) -> float:
    """Return how far the length of a row is from 1 at most; NaN where a row is not finite."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return float(np.abs(lengths - 1).max(initial=0.0))


def _starts(mask: npt.NDArray[np.bool_], starts: IntArray) -> IntArray:
    """Return where each document's views of the mask begin among all views of it."""
    before = np.concatenate([[0], np.cumsum(mask)])
    return np.asarray(before[starts], np.int64)


def _nearest_own(
    vectors: FloatArray, own: FloatArray, own_starts: IntArray, scenarios: IntArray, owner: IntArray
) -> FloatArray:
    """Return the cosine of each scenario with the nearest own view of its document."""
    nearest = np.full(len(scenarios), -1.0, np.float32)
    for nth in range(int(np.diff(own_starts).max())):
        there = np.flatnonzero(own_starts[owner] + nth < own_starts[owner + 1])
        anchor = own[own_starts[owner[there]] + nth]
        cosine = np.einsum("ij,ij->i", vectors[scenarios[there]], anchor)
        nearest[there] = np.maximum(nearest[there], cosine)
    return nearest


def _cosine_and_sine(angle: FloatArray) -> FloatArray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _widest(cosine: FloatArray, owner: IntArray, n: int) -> FloatArray:
    """Return each document's greatest angle, rounded up: too wide a bound only costs time."""
    angle = np.arccos(np.clip(cosine - 4 * TOLERANCE, -1, 1)).astype(np.float32)
    widest = np.zeros(n, np.float32)
    np.maximum.at(widest, owner, angle)
    return widest
