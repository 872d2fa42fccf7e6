"""Rank again without titles, pseudo-queries or unigrams, from the file alone."""

from __future__ import annotations

from itertools import pairwise
from math import fsum

import numpy as np
import numpy.typing as npt

from argus.generative.failures.case import Case
from argus.generative.failures.measures.arrays import IS_QUERY, IS_TITLE, Arrays
from argus.generative.failures.measures.columns import Ablations
from argus.generative.failures.measures.quality import ranking


def ablations(case: Case, k: int) -> Ablations:
    """Return the columns of `Ablations`. None if correctness or all n-grams are missing."""
    arrays = Arrays.of(case)
    views = arrays.views[arrays.ngrams]
    known = case.judged and len(views)
    titles, queries, unigrams = (
        ranking(case, _correct_without(arrays, off) if known else None, k)
        for off in (views == IS_TITLE, views == IS_QUERY, arrays.unigrams[arrays.ngrams])
    )
    return {
        "r_precision_without_titles": titles["r_precision"],
        "hit_1_without_titles": titles["hit_1"],
        "hit_k_without_titles": titles["hit_k"],
        "r_precision_without_queries": queries["r_precision"],
        "hit_1_without_queries": queries["hit_1"],
        "hit_k_without_queries": queries["hit_k"],
        "r_precision_without_unigrams": unigrams["r_precision"],
        "hit_1_without_unigrams": unigrams["hit_1"],
        "hit_k_without_unigrams": unigrams["hit_k"],
    }


def _correct_without(arrays: Arrays, off: npt.NDArray[np.bool_]) -> list[bool]:
    """Return of each passage, ranked anew, whether it is correct. Ties keep the file's order.

    Sums are exact, so that equal passages tie in whatever order their keys are listed. Where
    nothing is switched off, the file's order stays, however it came about.
    """
    correct: list[bool] = arrays.correct.tolist()
    if not off.any():
        return correct
    left = np.where(off, 0.0, arrays.weights).tolist()
    scores = [fsum(left[start:end]) for start, end in pairwise(arrays.starts.tolist())]
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [correct[place] for place in order]
