"""Measure generated n-grams: frequency, length and overlap with the question (thesis, §6.1)."""

from __future__ import annotations

from itertools import chain

import numpy as np
import numpy.typing as npt

from argus.generative.failures.case import Case, Keys, Passage
from argus.generative.failures.measures.answers import answer_words, hold_answer
from argus.generative.failures.measures.arrays import Arrays
from argus.generative.failures.measures.columns import TOP_NGRAMS, FirstNgrams, Generation

_NONE: FirstNgrams = {
    "frequency_top": None,
    "frequency_all": None,
    "rarest_top": None,
    "unigram_share": None,
    "ngram_words": None,
    "overlap": None,
}


def generation(case: Case, k: int) -> Generation:
    """Return the columns of `Generation` (thesis, Tables 4 to 7)."""
    return {
        **_of_first(case),
        "answer_ngram_1": _answer_ngram(case, case.passages[:1]),
        "answer_ngram_k": _answer_ngram(case, case.passages[:k]),
    }


def _of_first(case: Case) -> FirstNgrams:
    keys = case.first
    if keys is None:
        return _NONE
    arrays = Arrays.of(case)
    counts = arrays.counts[keys.ngrams]
    heaviest = np.argsort(-keys.weights, kind="stable")[:TOP_NGRAMS]
    top = _known(counts[heaviest])
    return {
        "frequency_top": _mean(top),
        "frequency_all": _mean(_known(counts)),
        "rarest_top": int(top.min()) if len(top) else None,
        "unigram_share": float(arrays.unigrams[keys.ngrams].mean()),
        "ngram_words": sum(len(case.ngrams[i].words) for i in keys.ngrams) / len(keys),
        "overlap": _overlap(case, keys),
    }


def _known(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return counts[~np.isnan(counts)]


def _mean(values: npt.NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None


def _overlap(case: Case, keys: Keys) -> float | None:
    """C(Q, G_n) of the thesis: the share of the question's tokens that some n-gram has."""
    tokens = set(case.question_tokens)
    if not tokens:
        return None
    written = set(chain.from_iterable(case.ngrams[i].tokens for i in keys.ngrams))
    return len(tokens & written) / len(tokens)


def _answer_ngram(case: Case, passages: tuple[Passage, ...]) -> int | None:
    """Return whether an n-gram of the passages holds an answer. None without either."""
    lists = [passage.keys.ngrams.tolist() for passage in passages if passage.keys is not None]
    places = set(chain.from_iterable(lists))
    answers = answer_words(case)
    if not places or not answers:
        return None
    return int(hold_answer((case.ngrams[i].words for i in places), answers))
