"""Rank passages by keys: SEAL's evidence aggregation (thesis, eq. 3). In words: docs/ngrams.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from argus.data.types import FloatArray, IntArray
from argus.generative.index import NgramIndex
from argus.generative.passage_scores import (
    Float64Array,
    Key,
    Reader,
    Readings,
    best_unigrams,
    class_keys,
    first_scores,
    key_weights,
    merged,
    read,
    reader,
    unigram_weights,
)
from argus.generative.settings import Scoring

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
    weights = key_weights(keys, counts, index.n_tokens, index.vocabulary.query_start, scoring)
    single, single_counts = _single_tokens(index, keys, unigrams, scoring)
    added = best_unigrams(single, len(keys))
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
    border = index.vocabulary.border
    passages, scores = first_scores(weighted, ptr, positions, documents, border, scoring)
    candidates = passages[_best(index, passages, scores, scoring.full_documents)]
    prepared = reader(weighted, single, scoring)
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
        yield read(prepared, *index.tokens_of(documents[i : i + _AT_ONCE]), record=record)


def _single_tokens(
    index: NgramIndex,
    keys: Sequence[Key],
    unigrams: FloatArray | Float64Array | None,
    scoring: Scoring,
) -> tuple[Float64Array, IntArray]:
    """Return weights and counts of all single tokens, both (V,)."""
    size = index.vocabulary_size
    if unigrams is None:
        return np.zeros(size), np.zeros(size, np.int64)
    counts = np.zeros(size, np.int64)
    tokens, times = index.continuations(())
    counts[tokens] = times
    markers = index.vocabulary
    excluded = [key.tokens[0] for key in keys if len(key.tokens) == 1]
    never = (markers.border, markers.pad, markers.unknown)
    excluded += [token for token in never if token is not None]
    return unigram_weights(unigrams, counts, index.n_tokens, excluded, scoring), counts


def _best(index: NgramIndex, documents: IntArray, scores: Float64Array, most: int) -> IntArray:
    """Return the rows of the best passages, by (score descending, hash of the id ascending)."""
    rows = np.arange(len(documents))
    if most < len(rows):
        rows = np.flatnonzero(scores >= np.partition(scores, len(rows) - most)[len(rows) - most])
    order = np.lexsort((index.order(documents[rows]), -scores[rows]))
    best: IntArray = rows[order[:most]]
    return best
