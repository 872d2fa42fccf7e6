"""Postings of BM25 in flat arrays: built from batches of texts, in the memory of what they become.

What bm25s keeps of an index are three arrays by word (a CSC matrix of texts x words): scores, texts
and where each word's begin. Here they are made without its lists of words per text; the scores are
the same to the last bit. A posting (a word of a text) takes 5 bytes while texts are read, 13 at the
peak, 8 in the end.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from argus.data.types import IntArray
from argus.indexes.words import SURFACE, Analyzer

K1, B = 1.5, 0.75


class PostingArrays(TypedDict):
    """The arrays that bm25s searches, under its names; texts lie in order."""

    data: np.ndarray[Any, Any]
    """float32, (n_postings,)."""
    indices: np.ndarray[Any, Any]
    """int32, (n_postings,)."""
    indptr: IntArray
    """int64, (n_words + 1,)."""
    num_docs: int


@dataclass(frozen=True)
class _Counted:
    """Words of a batch of texts: those of text i are the next `distinct[i]` of `tokens`, `times`.

    lengths: words of each text, repeated ones too. Shapes (n_texts,) and (n_postings,).
    """

    tokens: np.ndarray[Any, Any]
    times: np.ndarray[Any, Any]
    distinct: IntArray
    lengths: IntArray


@dataclass
class Postings:
    """What has been read so far. vocabulary: word to number; 0 is no word.

    only: the words that will be searched, where they are known: others count for lengths alone.
    """

    analyzer: Analyzer = SURFACE
    only: frozenset[str] | None = None
    vocabulary: dict[str, int] = field(default_factory=lambda: {"": 0})
    _batches: list[_Counted] = field(default_factory=list)

    def add(self, texts: Sequence[str]) -> None:
        """Count the words of more texts."""
        numbered = self.vocabulary
        only, counts, lengths = self.only, [], []
        for text in texts:
            words = self.analyzer.documents(text)
            lengths.append(len(words))
            counts.append(Counter(words if only is None else filter(only.__contains__, words)))
        distinct = np.array([len(c) for c in counts], np.int64)
        n = int(distinct.sum())
        tokens = (numbered.setdefault(word, len(numbered)) for word in chain.from_iterable(counts))
        times = np.fromiter(chain.from_iterable(c.values() for c in counts), np.int64, n)
        self._batches.append(
            _Counted(
                tokens=np.fromiter(tokens, np.int32, n),
                times=times.astype(np.min_scalar_type(times.max(initial=0))),
                distinct=distinct,
                lengths=np.array(lengths, np.int64),
            )
        )

    def scores(self) -> PostingArrays:
        """Return the arrays that bm25s searches, and forget the texts."""
        n_words = len(self.vocabulary)
        having = np.zeros(n_words, np.int64)
        for batch in self._batches:
            having += np.bincount(batch.tokens, minlength=n_words)
        lengths = np.concatenate([np.zeros(0, np.int64), *(b.lengths for b in self._batches)])
        idf = _inverse_frequencies(having, len(lengths))
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(having)])
        data = np.empty(starts[-1], np.float32)
        indices = np.empty(starts[-1], np.int32)
        heads, first = starts[:-1].copy(), 0
        while self._batches:
            batch = self._batches.pop(0)
            order, place = _places(batch.tokens, heads)
            texts = np.repeat(np.arange(len(batch.lengths), dtype=np.int32), batch.distinct)[order]
            by_length = K1 * ((1 - B) + B * batch.lengths / lengths.mean())
            times = batch.times[order].astype(np.float32)
            data[place] = idf[batch.tokens[order]] * (times / (by_length[texts] + times))
            indices[place] = texts + np.int32(first)
            first += len(batch.lengths)
        return {"data": data, "indices": indices, "indptr": starts, "num_docs": first}


def _inverse_frequencies(having: IntArray, n: int) -> np.ndarray[Any, Any]:
    """Return what a word that `having[i]` of n texts have counts (Lucene's); float32."""
    some, at = np.unique(having, return_inverse=True)
    values = [inverse_frequency(df, n) if df else 0.0 for df in some.tolist()]
    return np.array(values, np.float32)[at]


def inverse_frequency(df: int, n: int) -> float:
    """Return what a word that df of n texts have counts (Lucene's)."""
    return math.log(1 + (n - df + 0.5) / (df + 0.5))


def _places(tokens: np.ndarray[Any, Any], heads: IntArray) -> tuple[IntArray, IntArray]:
    """Return an order of postings by word, and where each goes; `heads` (n_words,) move on."""
    order = np.argsort(tokens, kind="stable")
    ordered = tokens[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(starts, append=len(ordered))
    present = ordered[starts]
    place = np.repeat(heads[present] - starts, counts) + np.arange(len(ordered))
    heads[present] += counts
    return order, place
