"""The n-grams of a question as arrays: one row per n-gram in a passage, in the file's order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.generative.failures.case import BODY, QUERY, TITLE, Case, once

IS_TITLE, IS_BODY, IS_QUERY = range(3)
_CODES = {TITLE: IS_TITLE, BODY: IS_BODY, QUERY: IS_QUERY}
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Arrays:
    """A question's n-grams, and its passages' keys end to end (n_keys in all).

    views: (n_ngrams,) int8, IS_TITLE, IS_BODY or IS_QUERY. lengths: (n_ngrams,) tokens.
    counts: (n_ngrams,) float64, occurrences in the corpus, NaN where unknown. unigrams: (n_ngrams,)
    bool. ngrams: (n_keys,) places in these four. weights: (n_keys,) float64. passages: (n_keys,) of
    each, from 0. starts: (n_passages + 1,) the keys of passage i are starts[i] to starts[i + 1].
    correct: (n_passages,) bool, False where it is not known.
    """

    views: npt.NDArray[np.int8]
    lengths: IntArray
    counts: npt.NDArray[np.float64]
    unigrams: npt.NDArray[np.bool_]
    ngrams: IntArray
    weights: npt.NDArray[np.float64]
    passages: IntArray
    starts: IntArray
    correct: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, case: Case) -> Arrays:
        """Return the arrays of a question. They are made once."""
        return once(case, "arrays", lambda: _arrays(case))

    def first(self, k: int) -> slice:
        """Return where the keys of the first k passages are."""
        return slice(0, int(self.starts[min(k, len(self.starts) - 1)]))


def _arrays(case: Case) -> Arrays:
    ngrams = case.ngrams
    views = np.array([_CODES[ngram.view] for ngram in ngrams], np.int8)
    lengths = np.array([len(ngram.tokens) for ngram in ngrams], np.int64)
    counts = [np.nan if ngram.count is None else ngram.count for ngram in ngrams]
    keys = [passage.keys for passage in case.passages]
    sizes = np.array([0 if key is None else len(key) for key in keys], np.int64)
    return Arrays(
        views=views,
        lengths=lengths,
        counts=np.array(counts, np.float64),
        unigrams=(views == IS_BODY) & (lengths == 1),
        ngrams=np.concatenate([_NONE, *(key.ngrams for key in keys if key is not None)]),
        weights=np.concatenate(
            [_NONE.astype(np.float64), *(key.weights for key in keys if key is not None)]
        ),
        passages=np.repeat(np.arange(len(keys)), sizes),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        correct=np.array([bool(passage.correct) for passage in case.passages], bool),
    )
