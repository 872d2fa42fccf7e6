"""What documents with side views can score at most, and what they do: compiled.

Side views of the first kind are sentences, of the second scenarios (`argus.indexes.pruned`).
"""

from __future__ import annotations

import numba
import numpy as np

from argus.indexes.codes import dot, most_of
from argus.indexes.lanes import read_ahead


def reach(least: float, angle: float, weight: float) -> float:
    """Return the own score below which no document gets to `least`: `highest`, mixed, inverted.

    weight: λ, or the product of both: what is mixed twice lies below what is mixed once by that.
    Below cos δ the bound is `A·cos θ + B·sin θ = R·cos(θ - φ)`.
    """
    sine = max(0.0, float(np.sin(angle)))  # π in float32 is more than π
    across, beside = weight + (1 - weight) * np.cos(angle), (1 - weight) * sine
    if least >= weight * np.cos(angle) + 1 - weight:
        return float((least - (1 - weight)) / weight)
    turn = np.arctan2(beside, across)
    theta = turn + np.arccos(np.clip(least / np.hypot(across, beside), -1, 1))
    return float(np.cos(theta)) if theta < np.pi else -np.inf


@numba.vectorize(cache=True)  # type: ignore[no-untyped-call]
def highest(own, cosine, sine):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the most that a side view of a document of this score can score, at least `own`.

    cosine, sine: of the angle within which the side views lie.
    """
    if own >= cosine:
        return np.float32(1)
    return max(own, own * cosine + np.sqrt(max(np.float32(0), 1 - own * own)) * sine)


@numba.njit(cache=True, nogil=True)
def within(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    own, penalty, starts_1, angle_1, starts_2, angle_2, weight_1, weight_2, lowest, least, slack
):
    """Return the documents that can get to `least`, and how far; 1: sentences; 2: scenarios."""
    documents, bound = np.empty(len(own), np.int64), np.empty(len(own), np.float32)
    n = 0
    for d in range(len(own)):
        if own[d] < lowest:
            continue
        most = own[d]
        if starts_1[d + 1] > starts_1[d]:
            beside = highest(own[d], angle_1[d, 0], angle_1[d, 1])
            most = weight_1 * most + (1 - weight_1) * beside
        if starts_2[d + 1] > starts_2[d]:
            beside = highest(own[d], angle_2[d, 0], angle_2[d, 1])
            most = weight_2 * most + (1 - weight_2) * beside
        most = max(most, own[d]) - penalty[d] + slack
        if most >= least:
            documents[n], bound[n] = d, most
            n += 1
    return documents[:n], bound[:n]


@numba.njit(cache=True, nogil=True)
def _nearest(query, vectors, rows, start, end):  # type: ignore[no-untyped-def]  # pragma: no cover
    nearest = np.float32(-np.inf)
    for row in range(start, end):
        nearest = max(nearest, dot(query, vectors[rows[row]]))
    return nearest


@numba.njit(cache=True, nogil=True)
def _keep(best, score):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Put a score among the k best, which rise, in place of the lowest."""
    at = 0
    while at + 1 < len(best) and best[at + 1] < score:
        best[at] = best[at + 1]
        at += 1
    best[at] = score


@numba.njit(cache=True, nogil=True, inline="always")
def _bring_near(rows, starts, documents, i):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Have the side views of the i-th document read ahead; there may be none."""
    if i < len(documents):
        for row in range(starts[documents[i]], starts[documents[i] + 1]):
            read_ahead(rows.codes, row)  # type: ignore[call-arg]


@numba.njit(cache=True, nogil=True)
def mixed_scores(  # type: ignore[no-untyped-def]  # noqa: C901  # pragma: no cover - compiled
    query, vectors, own_rows, own_starts,
    rows_1, starts_1, codes_1, rows_2, starts_2, codes_2,
    weight_1, weight_2,
    most, penalty, documents, bound, best, slack, least,
):  # fmt: skip
    """Score documents in their order; return scores and what the k-th best reaches.

    1: sentences; 2: scenarios. most: what a document's own views score at most. A document that
    cannot reach `least`, which rises as scores come in, is left at -inf.
    """
    scores = np.full(len(documents), -np.inf, np.float32)
    rest_1, rest_2 = np.float32(1) - weight_1, np.float32(1) - weight_2
    for i in range(len(documents)):
        _bring_near(codes_1, starts_1, documents, i + 1)
        if bound[i] < least:
            continue
        d = documents[i]
        some_1, some_2 = starts_1[d + 1] > starts_1[d], starts_2[d + 1] > starts_2[d]
        score, most_1, most_2 = most[d], np.float32(-np.inf), np.float32(1)
        if some_1:
            most_1 = most_of(query, codes_1, starts_1[d], starts_1[d + 1])
            score = weight_1 * score + rest_1 * max(score, most_1)
        if some_2:
            most_2 = most_of(query, codes_2, starts_2[d], starts_2[d + 1])
            score = weight_2 * score + rest_2 * most_2
        if score - penalty[d] + slack < least:
            continue
        own = _nearest(query.vector, vectors, own_rows, own_starts[d], own_starts[d + 1])
        score = own
        if some_1:
            score = weight_1 * own + rest_1 * max(own, most_1)
        if some_2:
            score = weight_2 * score + rest_2 * most_2
        if score - penalty[d] + slack < least:
            continue
        score = own
        if some_1:
            nearest = _nearest(query.vector, vectors, rows_1, starts_1[d], starts_1[d + 1])
            score = weight_1 * own + rest_1 * max(own, nearest)
            if some_2 and (weight_2 * score + rest_2 * most_2 - penalty[d] + slack < least):
                continue
        if some_2:
            nearest = _nearest(query.vector, vectors, rows_2, starts_2[d], starts_2[d + 1])
            score = weight_2 * score + rest_2 * nearest
        score -= penalty[d]
        scores[i] = score
        if score > best[0]:
            _keep(best, score)
            least = max(least, best[0] - slack)
    return scores, least
