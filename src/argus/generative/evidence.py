"""Rank passages by the n-grams that a language model wrote for a question (SEAL's scoring).

`aggregate`: an index and `Key`s (n-grams with log-probabilities) -> the k best passages with the
n-grams found in each. An n-gram weighs more the likelier it is and the rarer in the corpus (eq. 2
and 3 of the thesis named in `failures`; in words: docs/generative.md). `searcher` calls it.

`class_keys` tells rare keys from frequent ones. `first_scores` finds passages by the rare keys, and
`_read` counts all keys, and single tokens at free places, in the passages that it is given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.generative.index import NgramIndex
from argus.generative.settings import QUERY_CEILING, Scoring


@dataclass(frozen=True, slots=True)
class Key:
    """An n-gram that stands for the passages that hold it.

    tokens: at least one. log_probability: log P(n|q), natural logarithm. -inf is allowed and weighs
    nothing. view: "title", "body", "query" (MINDER's pseudo-queries) or "question" (n-grams of the
    question's own words).
    """

    tokens: tuple[int, ...]
    log_probability: float
    view: str


def merged(*groups: Iterable[Key]) -> list[Key]:
    """Join groups of keys in order. The first of several with the same tokens stays.

    The published order is body, question, title, pseudo-queries last (docs/generative.md, "Keys").
    """
    first: dict[tuple[int, ...], Key] = {}
    for group in groups:
        for key in group:
            first.setdefault(key.tokens, key)
    return list(first.values())


Float64Array = npt.NDArray[np.float64]

_CERTAIN = 1e-10  # taken from every key's log-probability: the odds of a certain key stay finite


def key_weights(
    keys: Sequence[Key], counts: IntArray, n_tokens: int, query_start: int, scoring: Scoring
) -> Float64Array:
    """Return the weight of every key (eq. 2 to the power alpha).

    0 where it does not occur, and where it has fewer tokens than `scoring.shortest`.

    counts: (n_keys,) occurrences in the corpus. n_tokens: the corpus' tokens, borders included.
    query_start: the token that begins pseudo-queries.
    """
    logs = np.array([key.log_probability for key in keys], np.float64)
    pseudo = np.array([key.tokens[0] == query_start for key in keys], bool)
    lengths = np.array([len(key.tokens) for key in keys], np.int64)
    if scoring.query_bonus:
        lifted = np.minimum(logs + scoring.query_bonus, QUERY_CEILING)
        logs = np.where(pseudo, lifted, logs)
    logs = np.minimum(logs, 0)
    scale = (1 - scoring.length_penalty) ** (lengths - 1)
    odds = _log_odds((logs - _CERTAIN) * scale, counts, n_tokens, scoring.smoothing)
    counting = (odds > 0) & (lengths >= scoring.shortest)
    return np.where(counting, odds**scoring.exponent, 0.0)  # 0 ** 0 would be 1


def unigram_weights(
    log_probabilities: FloatArray | Float64Array,
    counts: IntArray,
    n_tokens: int,
    excluded: Iterable[int],
    scoring: Scoring,
) -> Float64Array:
    """Return the weight of every single token: eq. 2 without the power alpha.

    log_probabilities: (V,) log-softmax at the first position of the decoder. counts: (V,)
    occurrences. excluded: tokens that weigh 0: the border, padding, and keys of one token. So do
    tokens that do not occur and all but the `most_unigrams` most probable (the lower id where two
    are equally probable). Returns (V,).
    """
    weights = np.zeros(len(log_probabilities), np.float64)
    best = greatest(log_probabilities, scoring.most_unigrams)
    if len(best):
        logs = np.minimum(log_probabilities[best].astype(np.float64), -_CERTAIN)
        weights[best] = _log_odds(logs, counts[best], n_tokens, scoring.smoothing)
    weights[counts == 0] = 0
    weights[[token for token in excluded if 0 <= token < len(weights)]] = 0
    return weights


def _log_odds(
    logs: Float64Array, counts: IntArray, n_tokens: int, smoothing: float
) -> Float64Array:
    """Return max(0, log odds ratio) of probabilities e**logs against corpus frequencies.

    logs: below 0. log(1 - P) is log1p(-P) for the corpus, where P is seldom near 1, and keeps its
    digits at both ends for the model: log1p(-e**l) far below 0, log(-expm1(l)) near it.
    """
    logs = np.minimum(logs, -np.finfo(np.float64).tiny)
    share = (np.asarray(counts, np.float64) + smoothing) / (n_tokens + smoothing)
    with np.errstate(divide="ignore", invalid="ignore"):
        not_in_corpus = np.log1p(-share)
        unlikely = np.where(logs < -math.log(2), np.log1p(-np.exp(logs)), np.log(-np.expm1(logs)))
        odds = (logs + not_in_corpus) - (np.log(share) + unlikely)
    positive: Float64Array = np.where((counts > 0) & (odds > 0), odds, 0.0)
    return positive


def greatest(values: FloatArray | Float64Array, most: int) -> IntArray:
    """Return the places of the `most` greatest values, ascending. Equal ones: the first counts."""
    if most >= len(values):
        return np.arange(len(values))
    if not most:
        return np.zeros(0, np.int64)
    limit = np.partition(values, len(values) - most)[len(values) - most]
    above, equal = np.flatnonzero(values > limit), np.flatnonzero(values == limit)
    return np.sort(np.concatenate([above, equal[: most - len(above)]]))


SMALLEST = 1 << 10
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: spreads neighbouring keys


@numba.njit(nogil=True, cache=True, inline="always")
def place(keys, key):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return where a key is, or the free place where it belongs."""
    mask = len(keys) - 1
    at = np.int64((np.uint64(key) * _GOLDEN) >> np.uint64(32)) & mask
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & mask
    return at


@numba.njit(nogil=True, cache=True)
def doubled(keys, values):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return a table of twice the size with the same content."""
    wider = np.full(2 * len(keys), -1, np.int64)
    moved = np.zeros(2 * len(keys), values.dtype)
    for i in range(len(keys)):
        if keys[i] != -1:
            at = place(wider, keys[i])
            wider[at], moved[at] = keys[i], values[i]
    return wider, moved


class Trie(NamedTuple):
    """Node 0 is the root. Memory: 4 bytes per token of the vocabulary, 50 per token of the keys."""

    root: np.ndarray
    """(V,) int32: the child of the root by a token, 0 where there is none."""
    edges: np.ndarray
    """Hash table of the other edges: node << 32 | token."""
    children: np.ndarray
    """int32: the child that an edge leads to."""
    key: np.ndarray
    """(n_nodes,) int32: the key that ends at a node, or -1."""
    nested: int
    """Keys on one path, at most: so many can start at one place."""


@numba.njit(nogil=True, cache=True)
def build(ptr, tokens, vocabulary_size, size):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the parts of the trie of distinct keys. Key i is tokens[ptr[i] : ptr[i + 1]]."""
    root = np.zeros(vocabulary_size, np.int32)
    edges, children = np.full(size, -1, np.int64), np.zeros(size, np.int32)
    key = np.full(len(tokens) + 1, -1, np.int32)
    parent = np.zeros(len(tokens) + 1, np.int32)
    nodes, used = 1, 0
    for i in range(len(ptr) - 1):
        node = 0
        for j in range(ptr[i], ptr[i + 1]):
            if node == 0:
                if root[tokens[j]] == 0:
                    root[tokens[j]] = nodes
                    nodes += 1
                node = root[tokens[j]]
                continue
            if 2 * used >= len(edges):
                edges, children = doubled(edges, children)
            edge = np.int64(node) << 32 | tokens[j]
            at = place(edges, edge)
            if edges[at] == -1:
                edges[at], children[at], parent[nodes] = edge, nodes, node
                nodes += 1
                used += 1
            node = children[at]
        key[node] = i
    on_path, most = np.zeros(nodes, np.int32), 0
    for node in range(1, nodes):  # parents are numbered before children
        on_path[node] = on_path[parent[node]] + (key[node] >= 0)
        most = max(most, on_path[node])
    return root, edges, children, key[:nodes], most


# A key that comes more often is dropped, as SEAL does.
MAX_OCCURRENCES = 10_000_000


@dataclass(frozen=True)
class WeightedKeys:
    """Keys of positive weight, by (weight descending, tokens ascending): a key's place is its rank.

    For one token, use `ngrams`. Loops read key i as tokens[ptr[i] : ptr[i + 1]].
    """

    ngrams: list[tuple[int, ...]]
    weights: Float64Array
    """(n_keys,)"""
    counts: IntArray
    """(n_keys,) occurrences in the corpus."""
    rare: IntArray
    """Ranks of the keys that come at most `max_occurrences` times, by weight descending. Equal ones
    in the order in which they were given."""
    ptr: IntArray
    """(n_keys + 1,)"""
    tokens: np.ndarray
    """int32."""
    types_ptr: IntArray
    """(n_keys + 1,) into `types`."""
    types: np.ndarray
    """int32: distinct tokens of each key."""


def class_keys(
    ngrams: Sequence[tuple[int, ...]], weights: Float64Array, counts: IntArray, scoring: Scoring
) -> WeightedKeys:
    """Drop keys that weigh nothing or come too often, and sort the rest (docs/generative.md).

    ngrams: distinct. weights, counts: one per n-gram.
    """
    values, often = weights.tolist(), counts.tolist()
    counting = (i for i in range(len(ngrams)) if values[i] > 0 and 0 < often[i] <= MAX_OCCURRENCES)
    order = sorted(counting, key=lambda i: (-values[i], ngrams[i]))
    weighted, rows = [ngrams[i] for i in order], np.array(order, np.int64)
    weights, counts = weights[rows], counts[rows]
    rare = np.flatnonzero(counts <= scoring.max_occurrences)
    rare = rare[np.lexsort((rows[rare], -weights[rare]))]
    ptr, tokens = _flat(weighted)
    types_ptr, types = _flat([tuple(dict.fromkeys(ngram)) for ngram in weighted])
    return WeightedKeys(weighted, weights, counts, rare, ptr, tokens, types_ptr, types)


def _flat(ngrams: list[tuple[int, ...]]) -> tuple[IntArray, np.ndarray]:
    ptr = np.zeros(len(ngrams) + 1, np.int64)
    np.cumsum([len(ngram) for ngram in ngrams], out=ptr[1:])
    return ptr, np.fromiter(chain.from_iterable(ngrams), np.int32, int(ptr[-1]))


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
    lengths = np.diff(keys.ptr)[keys.rare]
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
            free = True
            for block in range(start >> 6, ((end - 1) >> 6) + 1):
                at = place(blocks, block)
                if blocks[at] != -1 and masks[at] & _bits(block, start, end):
                    free = False
            if not free:
                continue
            while 2 * (n_blocks + (end - start) // 64 + 2) > len(blocks):
                blocks, masks = doubled(blocks, masks)
            for block in range(start >> 6, ((end - 1) >> 6) + 1):
                at = place(blocks, block)
                if blocks[at] == -1:
                    blocks[at] = block
                    n_blocks += 1
                masks[at] |= _bits(block, start, end)
            if latest[slot] != key:
                latest[slot] = key
                slots[n_places], places[n_places] = slot, key
                n_places += 1
    return passages[:n_passages].copy(), slots[:n_places], places[:n_places]


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


class Reader(NamedTuple):
    """A question's keys and single tokens (V,) as arrays for the compiled loop `_read`.

    It reads passages: passage i is tokens[ptr[i] : ptr[i + 1]], its border in front.
    """

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
        # Key i starts at places[m] for m = first[i], following[m], ... until -1. From the end of
        # the passage, so that each key's starts ascend.
        n_found = 0
        for start in range(len(text) - 1, -1, -1):
            node, at = root[text[start]], start + 1
            while node:
                key = key_of[node]
                if key >= 0:
                    places[n_found], following[n_found], first[key] = start, first[key], n_found
                    n_found += 1
                if at == len(text):
                    break
                edge = place(edges, np.int64(node) << 32 | text[at])
                node = children[edge] if edges[edge] != -1 else 0
                at += 1
        by_keys, n = _keys(
            document + 1, first, following, places, taken, latest, key_ptr, weights,
            types_ptr, types, penalty, record, matched, added, n,
        )  # fmt: skip
        by_tokens = 0.0
        for i in range(len(text)):  # each type of token at a free place counts once
            token = text[i]
            if unigrams[token] <= 0 or counted[token] == document + 1 or taken[i]:
                continue
            counted[token] = document + 1
            part = unigrams[token] * (1 - penalty if latest[token] == document + 1 else 1)
            by_tokens += part
            if record:
                matched[n], added[n] = -1 - np.int64(token), part
                n += 1
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
        any_free = False
        while match >= 0:
            part_of_text = taken[places[match] : places[match] + length]
            if not part_of_text.any():
                any_free = True
                part_of_text[:] = 1
            match = following[match]
        if not any_free:
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


_AT_ONCE = 512  # passages read in one go: bounds the memory for their tokens
UNIGRAM = "unigram"


@dataclass(frozen=True, slots=True)
class Matched:
    """An n-gram that a passage was found by."""

    tokens: tuple[int, ...]
    count: int
    """Occurrences in the corpus."""
    weight: float
    """Its part of the passage's score, without tokens that repeat stronger keys."""


@dataclass(frozen=True)
class Ranked:
    """Passages by score, descending. Equal ones by the hash of their ids."""

    documents: IntArray
    """(n,) numbers of passages. n is at most k and at most `Scoring.full_documents`."""
    scores: Float64Array
    """(n,)"""
    matched: list[list[Matched]]
    """Keys of each passage from the weightiest, then its single tokens in reading order."""
    views: Mapping[tuple[int, ...], str]
    """The view of each key given."""

    def view_of(self, matched: Matched) -> str:
        """Return the view that a match was written for, or "unigram" for single tokens."""
        return self.views.get(matched.tokens, UNIGRAM)


def aggregate(
    index: NgramIndex,
    keys: Iterable[Key],
    unigrams: FloatArray | Float64Array | None,
    scoring: Scoring,
    k: int,
) -> Ranked:
    """Rank the k best passages by the keys that they hold.

    keys: the first of several with the same tokens counts. Keys that no passage holds are ignored.
    unigrams: (V,) log-probabilities of single tokens, or None for none. A passage is found by a
    key that comes at most `max_occurrences` times. The ranking depends only on the keys, their
    order, and the passages' own tokens and ids, not on the order of passages.
    """
    keys = merged(keys)
    ngrams = [key.tokens for key in keys]
    counts = np.asarray(index.counts(ngrams), np.int64) if ngrams else np.zeros(0, np.int64)
    markers = index.vocabulary
    weights = key_weights(keys, counts, index.n_tokens, markers.query_start, scoring)
    size = index.vocabulary_size
    single, single_counts = np.zeros(size), np.zeros(size, np.int64)
    if unigrams is not None:
        tokens, times = index.continuations(())
        single_counts[tokens] = times
        never = (markers.border, markers.pad, markers.unknown)
        excluded = [key.tokens[0] for key in keys if len(key.tokens) == 1]
        excluded += [token for token in never if token is not None]
        single = unigram_weights(unigrams, single_counts, index.n_tokens, excluded, scoring)
    added = np.flatnonzero(single > 0)  # as many single tokens as keys, the weightiest first
    added = added[greatest(single[added], len(keys))]
    added = added[np.argsort(-single[added], kind="stable")]
    weighted = class_keys(
        [*ngrams, *((token,) for token in added.tolist())],
        np.concatenate([weights, single[added]]),
        np.concatenate([counts, single_counts[added]]),
        scoring,
    )
    views = {key.tokens: key.view for key in keys}
    if not len(weighted.rare):
        return Ranked(np.zeros(0, np.int64), np.zeros(0), [], views)
    rare = [weighted.ngrams[i] for i in weighted.rare]
    ptr, positions = index.occurrences(rare, scoring.max_occurrences)
    documents = np.asarray(index.documents_at(positions), np.int64)
    passages, scores = first_scores(weighted, ptr, positions, documents, markers.border, scoring)
    candidates = passages[_best(index, passages, scores, scoring.full_documents)]
    trie = Trie(*build(weighted.ptr, weighted.tokens.astype(np.int64), len(single), SMALLEST))
    prepared = Reader(
        trie, weighted.ptr, weighted.weights, weighted.types_ptr, weighted.types, single,
        float(scoring.repetition_penalty),
    )  # fmt: skip
    parts = _readings(index, prepared, candidates, record=False)
    scores = np.concatenate([part.scores for part in parts])
    best = _best(index, candidates, scores, k)
    matched: list[list[Matched]] = []
    key_counts = weighted.counts.tolist()
    for readings in _readings(index, prepared, candidates[best], record=True):
        added_by, what = readings.added.tolist(), readings.matched.tolist()
        for start, end in pairwise(readings.ptr.tolist()):
            matched.append(
                [
                    Matched(weighted.ngrams[m], key_counts[m], weight)
                    if m >= 0
                    else Matched((-1 - m,), int(single_counts[-1 - m]), weight)
                    for m, weight in zip(what[start:end], added_by[start:end], strict=True)
                ]
            )
    return Ranked(candidates[best], scores[best], matched, views)


def _readings(
    index: NgramIndex, prepared: Reader, documents: IntArray, *, record: bool
) -> Iterator[Readings]:
    for i in range(0, len(documents), _AT_ONCE):
        yield Readings(*_read(*index.tokens_of(documents[i : i + _AT_ONCE]), *prepared, record))


def _best(index: NgramIndex, documents: IntArray, scores: Float64Array, most: int) -> IntArray:
    """Return the rows of the best passages, by (score descending, hash of the id ascending)."""
    rows = np.arange(len(documents))
    if most < len(rows):
        rows = np.flatnonzero(scores >= np.partition(scores, len(rows) - most)[len(rows) - most])
    order = np.lexsort((index.order(documents[rows]), -scores[rows]))
    best: IntArray = rows[order[:most]]
    return best
