"""How far votes on the same answers agree: mean difference, and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over the answers with two votes or more."""

    answers: int
    votes: int
    mean_difference: float | None
    """Mean absolute difference of two votes on one answer, averaged over answers. None without."""
    alpha: float | None
    """Krippendorff's alpha for interval data: 1 agree, 0 as by chance, below: worse. None where
    it is not defined."""
    no_alpha: str = ""
    """Why it is not, as the end of "none: ...". "" where it is."""


def agreement(votes: Sequence[Sequence[float]]) -> Agreement:
    """Return how far the votes on each answer agree. Any number per answer."""
    units = [list(unit) for unit in votes if len(unit) > 1]
    if not units:
        return Agreement(0, 0, None, None, "no answer has two votes")
    pairs = [_mean_difference(unit) for unit in units]
    alpha = interval_alpha(units)
    why_not = "" if alpha is not None else "all votes are equal, so nothing shows what chance is"
    total = sum(map(len, units))
    return Agreement(len(units), total, sum(pairs) / len(pairs), alpha, why_not)


def interval_alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Return Krippendorff's alpha with squared differences (Krippendorff, 2011), 1 - D_o / D_e.

    units: the values that each unit was given, at least two each. Any may be missing. D_o is the
    mean squared difference of values of one unit, a unit of m values weighing m. D_e is that of all
    values. None where all values are equal: D_e is zero then.
    """
    values = [value for unit in units for value in unit]
    if min(values) == max(values):
        return None
    n = len(values)
    expected = _squared_differences(values) / (n * (n - 1))
    observed = sum(_squared_differences(unit) / (len(unit) - 1) for unit in units) / n
    return 1 - observed / expected


def _squared_differences(values: Sequence[float]) -> float:
    """Return the sum of squared differences over all ordered pairs: 2m times the sum of squares.

    Around the mean, so that nothing cancels.
    """
    mean = sum(values) / len(values)
    return 2 * len(values) * sum((value - mean) ** 2 for value in values)


def _mean_difference(unit: Sequence[float]) -> float:
    m = len(unit)
    total = sum(abs(a - b) for i, a in enumerate(unit) for b in unit[:i])
    return total / (m * (m - 1) / 2)
