"""What the ranking would be without titles, pseudo-queries or unigrams, from the file alone."""

from __future__ import annotations

from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.generative.failures.case import Case
from argus.generative.failures.measures.arrays import IS_QUERY, IS_TITLE, Arrays
from argus.generative.failures.measures.columns import SWITCHED_OFF
from argus.generative.failures.measures.quality import ranking


def ablations(case: Case, k: int) -> dict[str, Any]:
    """Return the columns of ABLATIONS; None where correctness or all n-grams are missing."""
    arrays = Arrays.of(case)
    views = arrays.views[arrays.ngrams]
    off = {
        "titles": views == IS_TITLE,
        "queries": views == IS_QUERY,
        "unigrams": arrays.unigrams[arrays.ngrams],
    }
    figures: dict[str, Any] = {}
    for what in SWITCHED_OFF:
        known = case.judged and len(views)
        correct = _correct_without(arrays, off[what]) if known else None
        of_what = ranking(case, correct, k)
        figures.update((f"{name}_without_{what}", value) for name, value in of_what.items())
    return figures


def _correct_without(arrays: Arrays, off: npt.NDArray[np.bool_]) -> list[bool]:
    """Return of each passage, ranked anew, whether it is correct; ties keep the file's order.

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
