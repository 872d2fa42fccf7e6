"""Measure the score by titles and pseudo-queries (thesis, §6, "Metadata Dependency")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.generative.failures.case import Case
from argus.generative.failures.measures.answers import answer_words
from argus.generative.failures.measures.arrays import IS_BODY, IS_QUERY, IS_TITLE, Arrays
from argus.generative.failures.measures.columns import (
    NEGLIGIBLE,
    Metadata,
    TitleGains,
    TitleScores,
    ViewScores,
)

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums of weights: in all, and by view. None if nothing applies."""

    all: float | None = None
    title: float | None = None
    query: float | None = None


def metadata(case: Case) -> Metadata:
    """Return the columns of `Metadata`. They are over all passages."""
    return {**_scores(case), **_gains(case), **_title_scores(case)}


def _scores(case: Case) -> ViewScores:
    """Return sums of weights by view. A part never exceeds its whole: both add up the same sums."""
    arrays = Arrays.of(case)
    of_correct = arrays.correct[arrays.passages]
    groups = arrays.views[arrays.ngrams] * 2 + of_correct
    sums: Float64Array = np.bincount(groups, arrays.weights, minlength=6).astype(np.float64)
    wrong, right = sums.reshape(3, 2).T
    every = _by_view(wrong + right, bool(len(arrays.weights)))
    correct = _by_view(right, bool(of_correct.any()))
    return {
        "score_all": every.all,
        "score_title": every.title,
        "score_query": every.query,
        "score_correct": correct.all,
        "score_title_correct": correct.title,
        "score_query_correct": correct.query,
    }


def _by_view(sums: Float64Array, applies: bool) -> _Sums:
    if not applies:
        return _Sums()
    title, body, query = (float(sums[view]) for view in (IS_TITLE, IS_BODY, IS_QUERY))
    return _Sums(title + body + query, title, query)


def _gains(case: Case) -> TitleGains:
    """Return by how much an answer weighs more as a title than as another n-gram, per passage."""
    gains = _gain_of_passages(case)
    correct = Arrays.of(case).correct
    return {
        "answer_title_gain": _mean(list(gains.values())),
        "answer_title_gain_correct": _mean([gains[p] for p in gains if correct[p]]),
    }


def _gain_of_passages(case: Case) -> dict[int, float]:
    """Return the gain of each passage in which an answer is a title and another n-gram.

    The heaviest title and the heaviest other n-gram of an answer count. If there are several
    answers, use the one that weighs most as a title, then the one listed first.
    """
    arrays = Arrays.of(case)
    answers = answer_words(case)
    places = {words: place for place, words in enumerate(answers)}
    exact = np.array([places.get(ngram.words, -1) for ngram in case.ngrams], np.int64)
    keys = np.flatnonzero(exact[arrays.ngrams] >= 0)
    shape = (len(case.passages), max(len(answers), 1))
    heaviest = np.full((2, *shape), -1.0)  # as title, as another; -1: it is none
    other = arrays.views[arrays.ngrams[keys]] != IS_TITLE
    of_answer = exact[arrays.ngrams[keys]]
    np.maximum.at(
        heaviest, (other.astype(np.int64), arrays.passages[keys], of_answer), arrays.weights[keys]
    )
    titles, others = heaviest
    divisible = (others > 0) & (others >= NEGLIGIBLE * titles)
    titles = np.where(divisible, titles, -1.0)
    best = titles.argmax(axis=1)
    return {
        int(p): float(titles[p, best[p]] / others[p, best[p]] - 1)
        for p in np.flatnonzero(titles.max(axis=1) >= 0)
    }


def _title_scores(case: Case) -> TitleScores:
    """Return the mean over passages with a title n-gram of their titles' total weight."""
    arrays = Arrays.of(case)
    titles = arrays.views[arrays.ngrams] == IS_TITLE
    n = len(case.passages)
    weights = np.bincount(arrays.passages[titles], arrays.weights[titles], minlength=n)
    has = np.bincount(arrays.passages[titles], minlength=n) > 0
    wrong = has & ~arrays.correct if case.judged else np.zeros(n, bool)
    return {
        "title_score_correct": _mean(weights[has & arrays.correct].tolist()),
        "title_score_wrong": _mean(weights[wrong].tolist()),
    }


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
