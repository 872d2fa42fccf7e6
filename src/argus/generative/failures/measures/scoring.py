"""Measure the scoring of n-grams: dominance, diversity and discrimination (§6.2)."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from math import fsum

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.generative.failures.case import Case, Keys
from argus.generative.failures.measures.arrays import IS_QUERY, IS_TITLE, Arrays
from argus.generative.failures.measures.columns import (
    LENGTHS,
    Lengths,
    Quantities,
    ScoreShares,
    Scoring,
    TellingKeys,
)


def scoring(case: Case, k: int) -> Scoring:
    """Return the columns of `Scoring` (thesis, Tables 8, 13 to 15 and 17)."""
    return {
        "dominance": _dominance(case.first),
        **_quantities(case),
        **_score_shares(case),
        "diversity": _diversity(case),
        "title_repetition": _title_repetition(case, k),
        **_telling_keys(case, k),
        **_by_length(case, k),
    }


def _total(keys: Keys | None) -> float:
    """Return the sum of a passage's weights, exactly rounded, so that no part exceeds it.

    0 where no shares of it can be had: no n-gram, none of any weight, or one below 0.
    """
    return 0.0 if keys is None or keys.weights.min() < 0 else fsum(keys.weights)


def _dominance(keys: Keys | None) -> float | None:
    """Return the heaviest weight / the sum (Table 8)."""
    total = _total(keys)
    return float(keys.weights.max()) / total if keys is not None and total > 0 else None


def _quantities(case: Case) -> Quantities:
    arrays = Arrays.of(case)
    views = arrays.views[arrays.ngrams]
    first = views[arrays.first(1)]
    return {
        "ngrams_all": len(views) or None,
        "title_ngrams_all": int((views == IS_TITLE).sum()) if len(views) else None,
        "query_ngrams_all": int((views == IS_QUERY).sum()) if len(views) else None,
        "ngrams_first": len(first) or None,
        "query_ngrams_first": int((first == IS_QUERY).sum()) if len(first) else None,
    }


def _score_shares(case: Case) -> ScoreShares:
    """Return shares of the first passage's weights."""
    arrays, keys = Arrays.of(case), case.first
    total = _total(keys)
    if keys is None or total <= 0:
        return {
            "unigram_score_share": None,
            "title_score_share": None,
            "query_score_share": None,
        }
    views = arrays.views[keys.ngrams]
    return {
        "unigram_score_share": fsum(keys.weights[arrays.unigrams[keys.ngrams]]) / total,
        "title_score_share": fsum(keys.weights[views == IS_TITLE]) / total,
        "query_score_share": fsum(keys.weights[views == IS_QUERY]) / total,
    }


def _diversity(case: Case) -> float | None:
    """Return different tokens / tokens of the first passage's n-grams (Table 14)."""
    places = [] if case.first is None else case.first.ngrams.tolist()
    tokens = list(chain.from_iterable(case.ngrams[i].tokens for i in places))
    return len(set(tokens)) / len(tokens) if tokens else None


def _title_repetition(case: Case, k: int) -> int | None:
    """Return how many of the first k passages bear the most frequent title (Table 15)."""
    titles = Counter(passage.title for passage in case.passages[:k] if passage.title)
    return max(titles.values(), default=None)


def _telling_keys(case: Case, k: int) -> TellingKeys:
    """Return how many n-grams of the first k passages tell correct from other ones (Table 17).

    Shares are of different n-grams. A mean weight counts an n-gram in every passage that it is in.
    """
    arrays = Arrays.of(case)
    part = arrays.first(k)
    ngrams, weights = arrays.ngrams[part], arrays.weights[part]
    correct = arrays.correct[arrays.passages[part]]
    marks = np.zeros(len(case.ngrams), np.int64)  # 1: in a correct passage, 2: in another, 3: both
    marks[ngrams[correct]] = 1
    marks[ngrams[~correct]] += 2  # once, however many passages it is in
    n = int((marks > 0).sum()) if case.judged else 0

    def share(mark: int) -> float | None:
        return int((marks == mark).sum()) / n if n else None

    def mean_weight(mark: int) -> float | None:
        inside = weights[marks[ngrams] == mark]
        return float(inside.mean()) if n and len(inside) else None

    return {
        "keys_correct": share(1),
        "keys_wrong": share(2),
        "keys_shared": share(3),
        "weight_correct": mean_weight(1),
        "weight_wrong": mean_weight(2),
        "weight_shared": mean_weight(3),
    }


def _by_length(case: Case, k: int) -> Lengths:
    """Return sums over the n-grams of the first k passages by tokens. Those of none are left out.

    An n-gram counts in every passage that it is in.
    """
    arrays = Arrays.of(case)
    part = arrays.first(k)
    ngrams = arrays.ngrams[part]
    if not len(ngrams):
        return {
            "length_ngrams": None,
            "length_weight": None,
            "length_log_frequency": None,
            "length_counted": None,
        }
    bins = np.minimum(arrays.lengths[ngrams], LENGTHS)
    counts = arrays.counts[ngrams]
    counted = counts > 0  # unknown ones are NaN
    logs = np.log10(counts, out=np.zeros(len(counts)), where=counted)

    def sums(values: npt.NDArray[np.float64]) -> list[float]:
        added: list[float] = np.bincount(bins, values, minlength=LENGTHS + 1)[1:].tolist()
        return added

    def times(of: IntArray) -> list[int]:
        counts: list[int] = np.bincount(of, minlength=LENGTHS + 1)[1:].tolist()
        return counts

    return {
        "length_ngrams": times(bins),
        "length_weight": sums(arrays.weights[part]),
        "length_log_frequency": sums(logs),
        "length_counted": times(bins[counted]),
    }
