"""First stage: find passages by rare keys, and sum those keys (thesis, eq. 3).

Keys come by weight, occurrences by position. An occurrence counts where no stronger one covers any
of its positions. The closing border of a passage is left out: it is the next
passage's first position, and no passage may depend on its neighbour.

Memory: 40 bytes per occurrence looked up, of which there are at most `max_occurrences` per key,
and at most 64 bytes per occurrence that is accepted.
"""

from __future__ import annotations

import numba
import numpy as np

from argus.data.types import IntArray
from argus.generative.evidence.hashing import SMALLEST, doubled, place
from argus.generative.evidence.weighted import WeightedKeys
from argus.generative.scoring import Float64Array
from argus.generative.settings import Scoring


def first_scores(
    keys: WeightedKeys,
    ptr: IntArray,
    positions: IntArray,
    documents: IntArray,
    border: int,
    scoring: Scoring,
) -> tuple[IntArray, Float64Array]:
    """Return the passages that hold a rare key, and their scores.

    ptr, positions: occurrences of keys.rare[i] are positions[ptr[i] : ptr[i + 1]], ascending.
    documents: the passage of each. border: the token that begins passages. Passages come in the
    order in which they are found. One whose occurrences are all covered scores 0.
    """
    lengths = keys.lengths[keys.rare]
    last = keys.tokens[keys.ptr[1:] - 1][keys.rare]
    covered = lengths - ((last == border) & (lengths > 1))
    passages, slots, places = _take(ptr, positions, documents, covered, SMALLEST)
    local = np.unique(keys.types, return_inverse=True)[1]
    scores = _sum(
        len(passages), slots, keys.rare[places], keys.weights, keys.types_ptr, local,
        scoring.repetition_penalty,
    )  # fmt: skip
    return passages, scores


@numba.njit(nogil=True, cache=True)
def _take(ptr, positions, documents, covered, size):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the passages, and (slot of the passage, key) of each accepted key, in order of keys.

    A position is bit p % 64 of the mask of block p // 64.
    """
    blocks, masks = np.full(size, -1, np.int64), np.zeros(size, np.uint64)
    known, slot_of = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    passages = np.empty(len(positions), np.int64)
    latest = np.empty(len(positions), np.int64)  # of each slot, the key that it got last
    slots, places = np.empty(len(positions), np.int64), np.empty(len(positions), np.int64)
    n_blocks, n_passages, n_places = 0, 0, 0
    for key in range(len(ptr) - 1):
        for i in range(ptr[key], ptr[key + 1]):
            at = place(known, documents[i])
            if known[at] == -1:
                known[at], slot_of[at] = documents[i], n_passages
                passages[n_passages], latest[n_passages] = documents[i], -1
                n_passages += 1
                if 2 * n_passages > len(known):
                    known, slot_of = doubled(known, slot_of)
                    at = place(known, documents[i])
            slot = slot_of[at]
            start, end = positions[i], positions[i] + covered[key]
            if not _free(blocks, masks, start, end):
                continue
            while 2 * (n_blocks + (end - start) // 64 + 2) > len(blocks):
                blocks, masks = doubled(blocks, masks)
            n_blocks += _cover(blocks, masks, start, end)
            if latest[slot] != key:
                latest[slot] = key
                slots[n_places], places[n_places] = slot, key
                n_places += 1
    return passages[:n_passages].copy(), slots[:n_places], places[:n_places]


@numba.njit(nogil=True, cache=True)
def _free(blocks, masks, start, end):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    for block in range(start >> 6, ((end - 1) >> 6) + 1):
        at = place(blocks, block)
        if blocks[at] != -1 and masks[at] & _bits(block, start, end):
            return False
    return True


@numba.njit(nogil=True, cache=True)
def _cover(blocks, masks, start, end):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Cover positions. Return how many blocks are new."""
    new = 0
    for block in range(start >> 6, ((end - 1) >> 6) + 1):
        at = place(blocks, block)
        if blocks[at] == -1:
            blocks[at] = block
            new += 1
        masks[at] |= _bits(block, start, end)
    return new


@numba.njit(nogil=True, cache=True)
def _bits(block, start, end):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the bits of positions [start, end) in a block of 64 that holds at least one."""
    low = max(start - (block << 6), 0)
    high = min(end - (block << 6), 64)
    return (~np.uint64(0) >> np.uint64(64 - (high - low))) << np.uint64(low)


@numba.njit(nogil=True, cache=True)
def _sum(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    n_passages, slots, places, weights, types_ptr, types, penalty
):
    """Return each passage's score. slots, places: its keys, in the order in which they count."""
    ptr = np.zeros(n_passages + 1, np.int64)
    for slot in slots:
        ptr[slot + 1] += 1
    ptr = np.cumsum(ptr)
    fill, keys = ptr[:-1].copy(), np.empty(len(slots), np.int64)
    for i in range(len(slots)):
        keys[fill[slots[i]]] = places[i]
        fill[slots[i]] += 1
    latest = np.full(
        len(types), -1, np.int64
    )  # of each type of token, the passage that had it last
    scores = np.zeros(n_passages)
    for slot in range(n_passages):
        for key in keys[ptr[slot] : ptr[slot + 1]]:
            repeated, distinct = 0, types_ptr[key + 1] - types_ptr[key]
            for token in types[types_ptr[key] : types_ptr[key + 1]]:
                repeated += latest[token] == slot
                latest[token] = slot
            scores[slot] += weights[key] * (1 - penalty * repeated / distinct)
    return scores
