"""Find spans of a passage that are similar to a question, as training targets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from argus.indexes.words import STOP_WORDS, query_words, words

Floats = npt.NDArray[np.float64]
_N = 3
"""Words in an n-gram of a span, letters in an n-gram of a word."""


def likeness(passage: Sequence[str], question: str) -> Floats:
    """Return how much each word of a passage is like some word of the question: (n,), 0 to 1.

    Dice's coefficient of the words' letter 3-grams, a sign for the word's border counted on either
    side: 1 for equal words whatever their case, 0.57 for "directed" and "director". Stop words of
    the question do not count, unless there are no others.
    """
    terms = [_letters(word) for word in dict.fromkeys(query_words(question))]
    like = {w: max((_dice(_grams(w), q) for q in terms), default=0.0) for w in set(passage)}
    return np.array([like[w] for w in passage], np.float64)


def start_probabilities(passage: Sequence[str], question: str, span: int) -> Floats:
    """Return the probabilities of a span's start: (n - span + 1,), one for a short passage.

    The softmax, over starts at words that are no stop words (over all, where there are no such), of
    the span's similarity: the sum over its 3-grams of words of their fuzzy similarity to the
    question, which is the mean likeness of their words (SEAL; its fuzzy similarity is
    a choice of ours). A passage of at most `span` words has one span, all of it.
    """
    starts = max(1, len(passage) - span + 1)
    if starts == 1:
        return np.ones(1)
    like = likeness(passage, question)
    n = min(_N, span)
    grams = np.convolve(like, np.ones(n) / n, "valid")  # (words - n + 1,)
    sums = np.convolve(grams, np.ones(span - n + 1), "valid")  # (starts,)
    stop = np.array([is_stop_word(word) for word in passage[:starts]])
    if not stop.all():
        sums[stop] = -np.inf
    weights = np.exp(sums - sums.max())
    return np.asarray(weights / weights.sum(), np.float64)


@lru_cache(maxsize=1 << 16)
def is_stop_word(word: str) -> bool:
    """Whether a word of a text says nothing of its topic. Punctuation alone is such a word."""
    return STOP_WORDS.issuperset(words(word))


@lru_cache(maxsize=1 << 16)
def _grams(word: str) -> frozenset[str]:
    return _letters("".join(words(word)))


@lru_cache(maxsize=1 << 16)
def _letters(word: str) -> frozenset[str]:
    marked = f"\0{word}\0"
    return frozenset(marked[i : i + _N] for i in range(len(marked) - _N + 1)) if word else _NONE


_NONE: frozenset[str] = frozenset()


def _dice(a: frozenset[str], b: frozenset[str]) -> float:
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
