"""Intervals for proportions and means of bounded values."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def wilson(
    mean: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the Wilson score interval (Wilson, 1927) of a proportion `mean` over `n` trials.

    Also valid, and conservative, for the mean of n values in [0, 1]: their variance is at most
    mean·(1 - mean), that of 0/1 values. Shapes broadcast; n must be positive.
    """
    from scipy.stats import norm

    p, n = np.asarray(mean, np.float64), np.asarray(n, np.float64)
    if (n <= 0).any():
        raise ValueError("n must be positive: an interval needs at least one observation.")
    z = float(norm.ppf(0.5 + confidence / 2))
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def newcombe(
    first: float, n_first: int, second: float, n_second: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of the difference of two proportions of different trials.

    first - second, by Newcombe's hybrid score method (Newcombe, 1998, method 10), made of the
    Wilson intervals of both. Trials must be positive.
    """
    low, high = wilson([first, second], [n_first, n_second], confidence=confidence)
    difference = first - second
    down = math.hypot(first - low[0], high[1] - second)
    up = math.hypot(high[0] - first, second - low[1])
    return max(-1.0, difference - down), min(1.0, difference + up)
