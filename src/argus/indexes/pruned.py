"""Search over documents and their scenarios that looks at few scenarios, and loses nothing by it.

All vectors are unit rows, so angles obey the triangle inequality on the sphere: a vector v within δ
of an anchor a scores at most `cos(max(0, θ - δ))` for a query at angle θ from a. A document's
scenarios are bounded twice: by its own views, whose scores are known, and by the mean direction of
the scenarios, which lies near all of them since they tell of one topic. With s_doc its own score
and b a bound on its scenarios, its score is at most `λ·s_doc + (1-λ)·b`.

Documents are scored first. The scenarios of the best few give a score that k documents reach; then
only documents whose bound reaches it can matter, best bound first, until the next one's lies below
the k-th score. Results are those of `fold.top_documents`.

Memory beyond the snapshot: the vectors of all views that are no scenarios once more, and one vector
per document.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from argus.cores import available_cores
from argus.data.rounding import rounding_bound
from argus.data.types import FloatArray, IntArray
from argus.indexes.fold import Folded, Layout, ranked

SEEDS = 64
"""Documents whose scenarios are looked at to begin with, or 2k where that is more."""
_UNIT = 1e-3  # vectors are taken for unit rows within this


@dataclass(frozen=True)
class ScenarioLayout:
    """What the search needs of a snapshot's views, made once.

    own: (n_own, dim), the vectors of all views that are no scenarios, contiguous; own_starts:
    (n_documents + 1,) over them. scenarios: rows of the scenarios by document; starts:
    (n_documents + 1,) over those. middle: (n_documents, dim), the mean direction of a document's
    scenarios; spread: (n_documents,), cosine and sine of the greatest angle between it and one of
    them. angle: (n_documents, 2), the same of a scenario and the nearest own view.
    """

    own: FloatArray
    own_starts: IntArray
    scenarios: IntArray
    starts: IntArray
    middle: FloatArray
    spread: FloatArray
    angle: FloatArray
    widest: float
    """The greatest of those angles."""
    off_unit: float
    """How far a row's length is from 1 at most."""

    @classmethod
    def of(cls, vectors: FloatArray, layout: Layout) -> ScenarioLayout | None:
        """Return the layout; None where a document has scenarios alone, or rows are not unit."""
        assert layout.scenario is not None
        off_unit = off_unit_length(vectors)
        own_starts = _starts(~layout.scenario, layout.starts)
        if (np.diff(own_starts) == 0).any() or not off_unit <= _UNIT:
            return None
        scenarios, starts = np.flatnonzero(layout.scenario), _starts(layout.scenario, layout.starts)
        own = np.ascontiguousarray(vectors[~layout.scenario])
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        middle, spread = _middle(vectors, scenarios, owner, len(starts) - 1)
        nearest = _nearest_own(vectors, own, own_starts, scenarios, owner)
        angle = _widest(nearest, owner, len(middle))
        return cls(
            own, own_starts, scenarios, starts, middle, _cosine_and_sine(spread),
            _cosine_and_sine(angle), float(angle.max()), off_unit,
        )  # fmt: skip


def top_documents_pruned(
    queries: FloatArray,
    vectors: FloatArray,
    layout: Layout,
    views: ScenarioLayout,
    k: int,
) -> Folded:
    """Return what `fold.top_documents` does.

    queries: (n_queries, dim), unit rows; vectors: (n_views, dim). λ must be above 0.
    """
    scores = queries @ views.own.T
    if scores.shape[1] > len(views.middle):  # documents of several views
        scores = np.maximum.reduceat(scores, views.own_starts[:-1], axis=1)
    search = _Search(vectors, views, layout.weight, min(k, len(views.middle)))
    if len(queries) == 1:
        candidates = [search.candidates(queries[0], scores[0])]
    else:
        with ThreadPoolExecutor(available_cores()) as threads:
            candidates = list(threads.map(search.candidates, queries, scores))
    query = np.repeat(np.arange(len(queries)), [len(documents) for documents in candidates])
    return ranked(queries, vectors, layout, query, np.concatenate(candidates), k)


class _Search:
    """Candidates of one query after another; safe to use from many threads."""

    def __init__(self, vectors: FloatArray, views: ScenarioLayout, weight: float, k: int) -> None:
        self.vectors, self.views, self.weight, self.k = vectors, views, weight, k
        self.slack = rounding_bound(vectors.shape[1]) + 2 * views.off_unit

    def candidates(self, query: FloatArray, own: FloatArray) -> IntArray:
        """Return the documents that can be among the k best.

        own: (n_documents,), their scores without scenarios.
        """
        n = len(own)
        seeds = min(n, max(SEEDS, 2 * self.k))
        first = np.argpartition(own, n - seeds)[n - seeds :]
        least = self._best(query, own, first, np.ones(seeds, np.float32), -np.inf)[1]
        # Whatever lies below `reach` cannot get to `least`; then each by its own angle.
        near = np.flatnonzero(own >= reach(least - self.slack, self.views.widest, self.weight))
        bound = upper_bound(own[near], self.views.angle[near], self.weight) + self.slack
        order = np.argsort(-bound[bound >= least], kind="stable")
        near, bound = near[bound >= least][order], bound[bound >= least][order]
        scores, least = self._best(query, own, near, bound, least)
        documents: IntArray = near[scores >= least]
        return documents

    def _best(
        self,
        query: FloatArray,
        own: FloatArray,
        documents: IntArray,
        bound: FloatArray,
        least: float,
    ) -> tuple[FloatArray, float]:
        views = self.views
        return _mixed(  # type: ignore[no-any-return]
            query, self.vectors, views.scenarios, views.starts, views.middle, views.spread,
            own, documents, bound, np.float32(self.weight), self.k, np.float32(self.slack),
            np.float32(least),
        )  # fmt: skip


def off_unit_length(vectors: FloatArray) -> float:
    """Return how far the length of a row is from 1 at most; NaN where a row is not finite."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return float(np.abs(lengths - 1).max(initial=0.0))


def upper_bound(own: FloatArray, angle: FloatArray, weight: float) -> FloatArray:
    """Return the most that documents of these scores can reach.

    own: (n,); angle: (n, 2), cosine and sine of the angle within which their scenarios lie.
    """
    cosine, sine = angle[:, 0], angle[:, 1]
    beside = own * cosine + np.sqrt(np.maximum(0, 1 - own * own)) * sine
    scenario = np.where(own >= cosine, np.float32(1), beside)
    bound = np.float32(weight) * own + np.float32(1 - weight) * scenario
    most: FloatArray = np.maximum(bound, own)  # one without scenarios scores as it is
    return most


def reach(least: float, angle: float, weight: float) -> float:
    """Return the own score below which no document gets to `least`: `upper_bound`, inverted.

    Below cos δ the bound is `A·cos θ + B·sin θ = R·cos(θ - φ)`.
    """
    sine = max(0.0, float(np.sin(angle)))  # π in float32 is more than π
    across, beside = weight + (1 - weight) * np.cos(angle), (1 - weight) * sine
    if least >= weight * np.cos(angle) + 1 - weight:
        return float((least - (1 - weight)) / weight)
    turn = np.arctan2(beside, across)
    theta = turn + np.arccos(np.clip(least / np.hypot(across, beside), -1, 1))
    return float(np.cos(theta)) if theta < np.pi else -np.inf


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def _dot(left, right):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    total = np.float32(0)
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@numba.njit(cache=True, nogil=True)
def _mixed(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    query, vectors, scenarios, starts, middle, spread, own, documents, bound, weight, k, slack,
    least,
):  # fmt: skip
    """Score documents in the order of their bounds; return scores and what the k-th best reaches.

    A document that cannot reach `least`, which rises as scores come in, is left at -inf.
    """
    scores = np.full(len(documents), -np.inf, np.float32)
    best = np.full(k, -np.inf, np.float32)  # the k best so far, ascending
    rest = np.float32(1) - weight
    for i in range(len(documents)):
        if bound[i] < least:
            break
        d = documents[i]
        score = own[d]
        if starts[d + 1] > starts[d]:
            cosine = _dot(query, middle[d])
            if cosine < spread[d, 0]:
                sine = np.sqrt(max(np.float32(0), np.float32(1) - cosine * cosine))
                most = cosine * spread[d, 0] + sine * spread[d, 1]
                if weight * own[d] + rest * most + slack < least:
                    continue
            nearest = np.float32(-np.inf)
            for row in range(starts[d], starts[d + 1]):
                nearest = max(nearest, _dot(query, vectors[scenarios[row]]))
            score = weight * own[d] + rest * nearest
        scores[i] = score
        if score > best[0]:
            at = 0
            while at + 1 < k and best[at + 1] < score:
                best[at] = best[at + 1]
                at += 1
            best[at] = score
            least = max(least, best[0] - slack)
    return scores, least


def _starts(mask: npt.NDArray[np.bool_], starts: IntArray) -> IntArray:
    """Return where each document's views of the mask begin among all views of it."""
    before = np.concatenate([[0], np.cumsum(mask)])
    return np.asarray(before[starts], np.int64)


def _middle(
    vectors: FloatArray, scenarios: IntArray, owner: IntArray, n: int
) -> tuple[FloatArray, FloatArray]:
    """Return the mean direction of each document's scenarios and the greatest angle to one."""
    middle = np.zeros((n, vectors.shape[1]), np.float32)
    rows = vectors[scenarios]
    owners, first = np.unique(owner, return_index=True)
    middle[owners] = np.add.reduceat(rows, first, axis=0)
    middle /= np.maximum(np.linalg.norm(middle, axis=1, keepdims=True), np.float32(1e-12))
    cosine = np.einsum("ij,ij->i", rows, middle[owner])
    return middle, _widest(cosine, owner, n)


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
    angle = np.arccos(np.clip(cosine - 4 * _UNIT, -1, 1)).astype(np.float32)
    widest = np.zeros(n, np.float32)
    np.maximum.at(widest, owner, angle)
    return widest
