"""BM25 as the released evaluations of CAR compute it, with the package rank_bm25 (BM25Okapi).

It differs from `argus.indexes.lexical` in three ways that move figures: every word of a question
counts; words are split at what is neither letter, digit nor "_"; and a word in more than half of
the documents, whose IDF ln((N - n + 0.5) / (n + 0.5)) is below 0, gets a quarter of the mean IDF,
which is more than rarer words have. Where most documents share a template, as the distractors of
the GHSA collection do, questions in its words find those.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

K1, B, EPSILON = 1.5, 0.75, 0.25
_WORD = re.compile(r"\w+")


def okapi_words(text: str) -> list[str]:
    """Return the words of a text, lower case."""
    return _WORD.findall(text.lower())


class Okapi:
    """BM25Okapi over texts: k1 = 1.5, b = 0.75, epsilon = 0.25."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(okapi_words(text)) for text in texts]
        self._number: dict[str, int] = {}
        for count in counts:
            for word in count:
                self._number.setdefault(word, len(self._number))
        self._n = len(texts)
        rows = [self._number[word] for count in counts for word in count]
        columns = [i for i, count in enumerate(counts) for _ in count]
        tf = np.array([n for count in counts for n in count.values()], np.float64)
        lengths = np.array([count.total() for count in counts], np.float64)
        share = lengths / max(lengths.mean(), 1e-9) if self._n else lengths
        saturated = tf * (K1 + 1) / (tf + K1 * (1 - B + B * share[columns])) if rows else tf
        shape = (len(self._number), self._n)
        weights = self._idf(np.bincount(rows, minlength=len(self._number)))[rows] * saturated
        self._weights = csr_array((weights, (rows, columns)), shape=shape)  # (words, texts)

    def scores(self, questions: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the score of every text for each question; shape (n_questions, n_texts)."""
        counts = [
            Counter(self._number[word] for word in okapi_words(q) if word in self._number)
            for q in questions
        ]
        values = np.array([n for count in counts for n in count.values()], np.float64)
        rows = [i for i, count in enumerate(counts) for _ in count]
        columns = [word for count in counts for word in count]
        shape = (len(questions), len(self._number))
        totals: npt.NDArray[np.float64] = (
            csr_array((values, (rows, columns)), shape=shape) @ self._weights
        ).toarray()
        return totals

    def _idf(self, documents: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        idf = np.log((self._n - documents + 0.5) / (documents + 0.5))
        return np.where(idf < 0, EPSILON * idf.mean(), idf) if len(idf) else idf
