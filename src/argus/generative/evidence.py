"""Rank passages by keys: SEAL's evidence aggregation (thesis, eq. 3). In words: docs/ngrams.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from argus.data.types import FloatArray, IntArray
from argus.errors import InputError
from argus.generative.passage_scores import (
    Reader,
    WeightedKeys,
    class_keys,
    first_scores,
    read,
    reader,
)
from argus.generative.scoring import (
    Float64Array,
    Key,
    best_unigrams,
    key_weights,
    merged,
    unigram_weights,
)
from argus.generative.settings import Scoring

_AT_ONCE = 512  # passages read in one go: bounds the memory for their tokens
UNIGRAM = "unigram"


class Markers(Protocol):
    """The part of a vocabulary that evidence uses."""

    @property
    def border(self) -> int:
        """The token that begins every passage."""

    @property
    def pad(self) -> int | None:
        """Padding."""

    @property
    def unknown(self) -> int | None:
        """The token for text that the tokenizer does not know."""

    @property
    def query_start(self) -> int:
        """The token that begins every pseudo-query."""


class EvidenceIndex(Protocol):
    """The part of an n-gram index that evidence uses (`argus.generative.index.NgramIndex`)."""

    @property
    def n_tokens(self) -> int:
        """Tokens of all passages, borders in front included."""

    @property
    def vocabulary_size(self) -> int:
        """Tokens are below it."""

    @property
    def vocabulary(self) -> Markers:
        """The vocabulary's markers."""

    def counts(self, ngrams: Sequence[Sequence[int]], /) -> IntArray:
        """Return the occurrences of each n-gram."""

    def occurrences(
        self, ngrams: Sequence[Sequence[int]], most: int, /
    ) -> tuple[IntArray, IntArray]:
        """Return pointers and ascending positions, none of an n-gram with more than `most`."""

    def documents_at(self, positions: IntArray, /) -> IntArray:
        """Return the passage of each position."""

    def tokens_of(self, documents: IntArray, /) -> tuple[IntArray, np.ndarray]:
        """Return pointers and tokens of passages, each with its border in front."""

    def order(self, documents: IntArray, /) -> np.ndarray:
        """Return a hash of each passage's id, uint64."""

    def continuations(self, ngram: Sequence[int], /) -> tuple[np.ndarray, np.ndarray]:
        """Return distinct next tokens and how often each comes."""


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
    index: EvidenceIndex,
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
    Raises InputError for k below 1, unigrams of another vocabulary, and invalid log-probabilities.
    """
    if k < 1:
        raise InputError(
            f"k={k}", expected="at least 1", fix="Say how many passages to return.", where="k"
        )
    keys = merged(keys)
    counts = _counts(index, [key.tokens for key in keys])
    weights = key_weights(keys, counts, index.n_tokens, index.vocabulary.query_start, scoring)
    single, single_counts = _single_tokens(index, keys, unigrams, scoring)
    added = best_unigrams(single, len(keys))
    weighted = class_keys(
        [key.tokens for key in keys] + [(token,) for token in added.tolist()],
        np.concatenate([weights, single[added]]),
        np.concatenate([counts, single_counts[added]]),
        scoring,
    )
    views = {key.tokens: key.view for key in keys}
    if not len(weighted.rare):
        return Ranked(np.zeros(0, np.int64), np.zeros(0), [], views)
    candidates = _candidates(index, weighted, scoring)
    prepared = reader(weighted, single, scoring)
    scores = _read_scores(index, prepared, candidates)
    best = _best(index, candidates, scores, k)
    matched = _matches(index, prepared, weighted, single_counts, candidates[best])
    return Ranked(candidates[best], scores[best], matched, views)


def _counts(index: EvidenceIndex, ngrams: Sequence[tuple[int, ...]]) -> IntArray:
    return np.asarray(index.counts(ngrams), np.int64) if ngrams else np.zeros(0, np.int64)


def _single_tokens(
    index: EvidenceIndex,
    keys: Sequence[Key],
    unigrams: FloatArray | Float64Array | None,
    scoring: Scoring,
) -> tuple[Float64Array, IntArray]:
    """Return weights and counts of all single tokens, both (V,)."""
    size = index.vocabulary_size
    if unigrams is None:
        return np.zeros(size), np.zeros(size, np.int64)
    if unigrams.shape != (size,):
        raise InputError(
            f"unigram log-probabilities of shape {unigrams.shape}",
            expected=f"({size},), one per token of the index's vocabulary",
            fix="Use a model of the tokenizer that the index was built with.",
            where="unigrams",
        )
    counts = np.zeros(size, np.int64)
    tokens, times = index.continuations(())
    counts[tokens] = times
    markers = index.vocabulary
    excluded = [key.tokens[0] for key in keys if len(key.tokens) == 1]
    never = (markers.border, markers.pad, markers.unknown)
    excluded += [token for token in never if token is not None]
    return unigram_weights(unigrams, counts, index.n_tokens, excluded, scoring), counts


def _candidates(index: EvidenceIndex, weighted: WeightedKeys, scoring: Scoring) -> IntArray:
    """Return the passages that the first stage finds, the `full_documents` best of them."""
    rare = [weighted.ngrams[i] for i in weighted.rare]
    ptr, positions = index.occurrences(rare, scoring.max_occurrences)
    documents = np.asarray(index.documents_at(positions), np.int64)
    passages, scores = first_scores(
        weighted, ptr, positions, documents, index.vocabulary.border, scoring
    )
    return passages[_best(index, passages, scores, scoring.full_documents)]


def _best(index: EvidenceIndex, documents: IntArray, scores: Float64Array, most: int) -> IntArray:
    """Return the rows of the best passages, by (score descending, hash of the id ascending)."""
    rows = np.arange(len(documents))
    if most < len(rows):
        rows = np.flatnonzero(scores >= np.partition(scores, len(rows) - most)[len(rows) - most])
    order = np.lexsort((index.order(documents[rows]), -scores[rows]))
    best: IntArray = rows[order[:most]]
    return best


def _read_scores(index: EvidenceIndex, prepared: Reader, documents: IntArray) -> Float64Array:
    parts = [
        read(prepared, *index.tokens_of(documents[i : i + _AT_ONCE]), record=False).scores
        for i in range(0, len(documents), _AT_ONCE)
    ]
    return np.concatenate(parts)


def _matches(
    index: EvidenceIndex,
    prepared: Reader,
    weighted: WeightedKeys,
    counts: IntArray,
    documents: IntArray,
) -> list[list[Matched]]:
    """Return the n-grams that found each passage."""
    matches: list[list[Matched]] = []
    key_counts = weighted.counts.tolist()
    for i in range(0, len(documents), _AT_ONCE):
        readings = read(prepared, *index.tokens_of(documents[i : i + _AT_ONCE]), record=True)
        bounds, added = readings.ptr.tolist(), readings.added.tolist()
        what = readings.matched.tolist()
        for start, end in pairwise(bounds):
            matches.append(
                [
                    Matched(weighted.ngrams[m], key_counts[m], weight)
                    if m >= 0
                    else Matched((-1 - m,), int(counts[-1 - m]), weight)
                    for m, weight in zip(what[start:end], added[start:end], strict=True)
                ]
            )
    return matches
