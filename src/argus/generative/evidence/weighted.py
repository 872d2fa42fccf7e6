"""The keys that count, as arrays: classed and sorted for compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from argus.data.types import IntArray
from argus.generative.scoring import Float64Array
from argus.generative.settings import Scoring

MAX_OCCURRENCES = 10_000_000
"""A key that comes more often is dropped, as SEAL does."""


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

    def __len__(self) -> int:
        return len(self.ngrams)

    @property
    def lengths(self) -> IntArray:
        """(n_keys,) Tokens of each key."""
        return np.diff(self.ptr)


def class_keys(
    ngrams: Sequence[tuple[int, ...]], weights: Float64Array, counts: IntArray, scoring: Scoring
) -> WeightedKeys:
    """Drop keys that weigh nothing or come too often, and sort the rest (docs/ngrams.md).

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
