"""Find the best continuations of the beams, among those that the index has."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray

FloatSums = npt.NDArray[np.float64]
Continuations = tuple[IntArray, IntArray, IntArray, FloatSums]
"""Per question (pointers), best first: row of the beam, token, sum of log-probabilities."""


@numba.njit(nogil=True, cache=True)
def best_continuations(
    logits: FloatArray,
    normalizers: FloatSums,
    sums: FloatSums,
    pointers: IntArray,
    tokens: npt.NDArray[np.int32],
    first_rows: IntArray,
    most: int,
    barred: npt.NDArray[np.bool_],
) -> Continuations:
    """Return the `most` best continuations of each question's beams.

    logits: (rows, V). normalizers: (rows,), log Σ exp of each row: probabilities are those of the
    whole vocabulary, not of allowed tokens alone. sums: (rows,), so far. pointers, tokens:
    continuations of each row. first_rows: (questions + 1,). barred: (V,), never chosen. Equal
    sums go by row, then by token.
    """
    questions = len(first_rows) - 1
    out = np.zeros(questions + 1, np.int64)
    rows, best = np.empty(questions * most, np.int64), np.empty(questions * most, np.int64)
    scores = np.empty(questions * most, np.float64)
    heap_score, heap_key = np.empty(most, np.float64), np.empty(most, np.int64)
    size_v = logits.shape[1]
    used = 0
    for question in range(questions):
        size = 0
        for row in range(first_rows[question], first_rows[question + 1]):
            base = sums[row] - normalizers[row]
            for at in range(pointers[row], pointers[row + 1]):
                token = tokens[at]
                score = base + logits[row, token]
                if barred[token] or (size == most and score <= heap_score[0]):
                    continue
                if size < most:
                    size += 1
                    _rise(heap_score, heap_key, size - 1, score, row * size_v + token)
                else:
                    _sink(heap_score, heap_key, size, score, row * size_v + token)
        for end in range(size, 0, -1):  # the worst comes off first
            rows[used + end - 1] = heap_key[0] // size_v
            best[used + end - 1] = heap_key[0] % size_v
            scores[used + end - 1] = heap_score[0]
            _sink(heap_score, heap_key, end - 1, heap_score[end - 1], heap_key[end - 1])
        used += size
        out[question + 1] = used
    return out, rows[:used], best[:used], scores[:used]


@numba.njit(nogil=True, cache=True, inline="always")
def _worse(score_a: float, key_a: int, score_b: float, key_b: int) -> bool:
    return score_a < score_b or (score_a == score_b and key_a > key_b)


@numba.njit(nogil=True, cache=True)
def _rise(scores: FloatSums, keys: IntArray, at: int, score: float, key: int) -> None:
    """Put an entry at the end of the heap and let it rise. The worst entry is the root."""
    while at > 0:
        parent = (at - 1) >> 1
        if not _worse(score, key, scores[parent], keys[parent]):
            break
        scores[at], keys[at] = scores[parent], keys[parent]
        at = parent
    scores[at], keys[at] = score, key


@numba.njit(nogil=True, cache=True)
def _sink(scores: FloatSums, keys: IntArray, size: int, score: float, key: int) -> None:
    """Replace the root of a heap of `size` entries and let the new one sink."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _worse(
            scores[child + 1], keys[child + 1], scores[child], keys[child]
        ):
            child += 1
        if not _worse(scores[child], keys[child], score, key):
            break
        scores[at], keys[at] = scores[child], keys[child]
        at = child
    if size:
        scores[at], keys[at] = score, key


@numba.njit(nogil=True, cache=True)
def mask_rows(scores: npt.NDArray[Any], pointers: IntArray, tokens: npt.NDArray[np.int32]) -> None:
    """Set all scores to -inf, in place, but those of the tokens that may follow each row."""
    allowed = np.empty(scores.shape[1], scores.dtype)
    for row in range(scores.shape[0]):
        begin, end = pointers[row], pointers[row + 1]
        for at in range(begin, end):
            allowed[at - begin] = scores[row, tokens[at]]
        scores[row, :] = -np.inf
        for at in range(begin, end):
            scores[row, tokens[at]] = allowed[at - begin]
