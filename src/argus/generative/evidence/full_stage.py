"""Full stage: count every key in a passage, and its tokens outside keys (thesis, eq. 3).

All occurrences of all keys are found by a trie and taken by (weight descending, tokens ascending,
start ascending) where no position is taken yet. A key counts once. Then each type of token at a
free place adds its own weight. A passage is read without its border, so a key that ends in the
border finds passages and adds nothing here, as published.

Memory: 20 bytes per token of the vocabulary, 4 per token of the passages given, and in the longest
passage 12 per token and key that can start there.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from argus.data.types import IntArray
from argus.generative.evidence.hashing import place
from argus.generative.evidence.trie import Trie, build
from argus.generative.evidence.weighted import WeightedKeys
from argus.generative.scoring import Float64Array
from argus.generative.settings import Scoring


class Reader(NamedTuple):
    """A question's keys and single tokens as arrays for the compiled loop."""

    trie: Trie
    ptr: IntArray
    weights: Float64Array
    types_ptr: IntArray
    types: np.ndarray
    unigrams: Float64Array
    penalty: float


class Readings(NamedTuple):
    """Scores of passages, and the parts of each sum."""

    scores: Float64Array
    """(n_documents,)"""
    ptr: IntArray
    """(n_documents + 1,) into the two below, zeros where nothing was recorded."""
    matched: IntArray
    """Rank of a key, or -1 - token for a single token. Keys first, each in the order it counts."""
    added: Float64Array
    """Their parts of the sum."""


def reader(keys: WeightedKeys, unigrams: Float64Array, scoring: Scoring) -> Reader:
    """Prepare to read passages. unigrams: (V,) weights of single tokens."""
    return Reader(
        build(keys.ptr, keys.tokens, len(unigrams)), keys.ptr, keys.weights,
        keys.types_ptr, keys.types, unigrams, float(scoring.repetition_penalty),
    )  # fmt: skip


def read(reader: Reader, ptr: IntArray, tokens: np.ndarray, *, record: bool) -> Readings:
    """Score passages. Passage i is tokens[ptr[i] : ptr[i + 1]], its border in front."""
    return Readings(*_read(ptr, tokens, *reader, record))


@numba.njit(nogil=True, cache=True)
def _read(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    ptr, tokens, trie, key_ptr, weights, types_ptr, types, unigrams, penalty, record
):
    root, edges, children, key_of, nested = trie
    n_documents, n_keys = len(ptr) - 1, len(key_ptr) - 1
    longest, room = 0, 0
    for document in range(n_documents):
        length = ptr[document + 1] - ptr[document]
        longest, room = max(longest, length), room + length + n_keys
    matched = np.empty(room if record else 0, np.int64)
    added = np.empty(room if record else 0)
    record_ptr = np.zeros(n_documents + 1, np.int64)
    first = np.full(n_keys, -1, np.int64)
    following = np.empty(longest * nested, np.int64)
    places = np.empty(longest * nested, np.int32)
    taken = np.zeros(longest, np.uint8)
    latest = np.zeros(len(unigrams), np.int32)  # the passage, from 1, whose keys had the token last
    counted = np.zeros(len(unigrams), np.int32)  # the passage that it was counted in last
    scores = np.zeros(n_documents)
    n = 0
    for document in range(n_documents):
        text = tokens[ptr[document] : ptr[document + 1]]
        taken[: len(text)] = 0
        _find(text, root, edges, children, key_of, first, following, places)
        by_keys, n = _keys(
            document + 1, first, following, places, taken, latest, key_ptr, weights,
            types_ptr, types, penalty, record, matched, added, n,
        )  # fmt: skip
        by_tokens, n = _unigrams(
            document + 1, text, taken, latest, counted, unigrams, penalty,
            record, matched, added, n,
        )  # fmt: skip
        scores[document] = by_keys + by_tokens
        record_ptr[document + 1] = n
    return scores, record_ptr, matched[:n], added[:n]


@numba.njit(nogil=True, cache=True)
def _keys(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    stamp, first, following, places, taken, latest, key_ptr, weights,
    types_ptr, types, penalty, record, matched, added, n,
):  # fmt: skip
    """Take keys by rank. Return their sum, and the records' end."""
    total = 0.0
    for key in range(len(weights)):
        match = first[key]
        if match < 0:
            continue
        first[key] = -1  # for the next passage
        length = key_ptr[key + 1] - key_ptr[key]
        if not _occupy(taken, match, following, places, length):
            continue
        repeated, distinct = 0, types_ptr[key + 1] - types_ptr[key]
        for token in types[types_ptr[key] : types_ptr[key + 1]]:
            repeated += latest[token] == stamp
            latest[token] = stamp
        part = weights[key] * (1 - penalty * repeated / distinct)
        total += part
        if record:
            matched[n], added[n] = key, part
            n += 1
    return total, n


@numba.njit(nogil=True, cache=True)
def _unigrams(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    stamp, text, taken, latest, counted, unigrams, penalty, record, matched, added, n
):
    """Count each type of token at a free place once. Return their sum, and the records' end."""
    total = 0.0
    for i in range(len(text)):
        token = text[i]
        if unigrams[token] <= 0 or counted[token] == stamp or taken[i]:
            continue
        counted[token] = stamp
        part = unigrams[token]
        if latest[token] == stamp:
            part *= 1 - penalty
        total += part
        if record:
            matched[n], added[n] = -1 - np.int64(token), part
            n += 1
    return total, n


@numba.njit(nogil=True, cache=True)
def _find(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    text, root, edges, children, key_of, first, following, places
):
    """Find all keys: key i starts at places[m] for m = first[i], following[m], ... until -1.

    Read from the end of the passage, so that each key's starts ascend.
    """
    n = 0
    for start in range(len(text) - 1, -1, -1):
        node, at = root[text[start]], start + 1
        while node:
            key = key_of[node]
            if key >= 0:
                places[n], following[n], first[key] = start, first[key], n
                n += 1
            if at == len(text):
                break
            edge = place(edges, np.int64(node) << 32 | text[at])
            node = children[edge] if edges[edge] != -1 else 0
            at += 1


@numba.njit(nogil=True, cache=True)
def _occupy(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    taken, match, following, places, length
):
    """Take every occurrence of a key that is free. Return whether there is one."""
    any_taken = False
    while match >= 0:
        start, free = places[match], True
        for at in range(start, start + length):
            if taken[at]:
                free = False
                break
        if free:
            any_taken = True
            for at in range(start, start + length):
                taken[at] = 1
        match = following[match]
    return any_taken
