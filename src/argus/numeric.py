"""Ranks of values and Student's t: what tests and intervals need of SciPy, which takes 143 MB."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

PRECISION = 1e-15
MOST_STEPS = 100_000  # of the continued fraction; it takes about the root of `df`


def average_ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the rank of each value among those of its row, from 1. Equal ones share the mean.

    values: (..., n), without NaN.
    """
    given = np.asarray(values)
    places, order = np.arange(given.shape[-1]), given.argsort(axis=-1)
    ordered = np.take_along_axis(given, order, -1)
    is_first = np.ones(given.shape, bool)
    is_first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    is_last = np.roll(is_first, -1, axis=-1)
    first = np.maximum.accumulate(np.where(is_first, places, 0), axis=-1)
    backwards = np.where(is_last, places, len(places))[..., ::-1]
    last = np.minimum.accumulate(backwards, axis=-1)[..., ::-1]
    ranks = np.empty(given.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, -1)
    return ranks


def student_tail(t: float, df: int) -> float:
    """Return the probability that |T| exceeds |t|, for Student's T of `df` degrees of freedom.

    It is the incomplete beta function I_x(df / 2, 1 / 2) at x = df / (df + t²), here by its
    continued fraction (DLMF 8.17.22, https://dlmf.nist.gov/8.17).
    """
    if not t * t:
        return 1.0
    a, b, x, rest = df / 2, 0.5, df / (df + t * t), t * t / (df + t * t)
    weight = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    weight = math.exp(weight + a * math.log(x) + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return weight / a * _beta_fraction(a, b, x)
    return 1 - weight / b * _beta_fraction(b, a, rest)


@cache
def student_quantile(tail: float, df: int) -> float:
    """Return the t that |T| exceeds with probability `tail`: `student_tail` backwards."""
    if tail >= 1:
        return 0.0
    low, high = 0.0, 1.0
    while student_tail(high, df) > tail:
        low, high = high, 2 * high
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if student_tail(middle, df) > tail else (low, middle)
    return high


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal value exceeds z."""
    return math.erfc(z / math.sqrt(2)) / 2


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of I_x(a, b), for x < (a + 1) / (a + b + 2), by Lentz."""
    above, below = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = below
    for m in range(1, MOST_STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            above, below = 1 + term / above, 1 / (1 + term * below)
            value *= above * below
        if abs(above * below - 1) < PRECISION:
            break
    return value
