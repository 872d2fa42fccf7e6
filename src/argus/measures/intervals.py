"""Compute 95% intervals of proportions, AUC and Spearman's rho, and Krippendorff's alpha.

Pure functions from arrays to numbers, for all reports: Wilson and Newcombe for shares, DeLong for
the AUC, the bootstrap for rho. Differences of two systems are tested in
`argus.measures.significance`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from argus.algorithms import average_ranks, student_tail

RESAMPLES = 1_000  # bootstrap resamples: for Spearman's rho, and for AUC over clustered data
MIN_GROUP = 5  # members of either group for which an AUC is given
MIN_PAIRS = 3
PERFECT = 1e-12  # distance from rho = 1 that is rounding
MIN_USABLE = 0.95  # share of the resamples in which both sides must vary for an interval
BLOCK_VALUES = 1 << 18  # numbers to resample at once: 2 MB, as a core's cache

NORMAL = 1.959963984540054  # normal quantile of 95% intervals

Floats = npt.NDArray[np.float64]


def wilson(mean: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the 95% Wilson score interval (Wilson, 1927) of a proportion `mean` over `n` trials.

    Also valid, and conservative, for the mean of n values in [0, 1]: their variance is at most
    mean·(1 - mean), that of 0/1 values. Shapes broadcast. n must be positive.
    """
    p, n = np.asarray(mean, np.float64), np.asarray(n, np.float64)
    if (n <= 0).any():
        raise ValueError("n must be positive: an interval needs at least one observation.")
    centre = (p + NORMAL**2 / (2 * n)) / (1 + NORMAL**2 / n)
    half = NORMAL / (1 + NORMAL**2 / n) * np.sqrt(p * (1 - p) / n + NORMAL**2 / (4 * n**2))
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def share(count: float, n: int) -> dict[str, Any] | None:
    """Return the share of count in n trials, None for n = 0.

    n: number of trials.
    share: the share, from 0 to 1.
    low, high: its 95% interval by Wilson, as if trials were independent.
    """
    if not n:
        return None
    low, high = wilson(count / n, n)
    return {"n": n, "share": count / n, "low": float(low), "high": float(high)}


def share_words(figures: Mapping[str, Any], share: str = "share") -> str:
    """Return a share with its interval in words: "12.0% (10.1% to 14.2%) of 412"."""
    trials = f" of {figures['n']:,}" if "n" in figures else ""
    return f"{figures[share]:.1%} ({figures['low']:.1%} to {figures['high']:.1%}){trials}"


def newcombe(first: float, n_first: int, second: float, n_second: int) -> tuple[float, float]:
    """Return the 95% interval of the difference of two proportions of different trials.

    first - second, by Newcombe's hybrid score method (Newcombe, 1998, method 10), made of the
    Wilson intervals of both. Trials must be positive.
    """
    low, high = wilson([first, second], [n_first, n_second])
    difference = first - second
    down = math.hypot(first - low[0], high[1] - second)
    up = math.hypot(high[0] - first, second - low[1])
    return max(-1.0, difference - down), min(1.0, difference + up)


Discrimination = dict[str, float]


def discrimination(
    scores: npt.ArrayLike, is_of_group: npt.ArrayLike, *, clusters: Sequence[str] | None = None
) -> Discrimination | None:
    """Return the AUC of `scores` for a group, with the 95% interval of DeLong et al. (1988).

    auc: the probability, from 0 to 1, that one of the first group has the higher score. Ties count
    a half.
    low, high: ends of its interval.
    n: items of both groups.

    scores: (n,), finite. is_of_group: (n,) bool. clusters: (n,), of values that belong together,
    such as a question with several documents. The interval then draws clusters instead of values
    (bootstrap percentiles). None if either group has fewer than MIN_GROUP.
    """
    values, group = np.asarray(scores, np.float64), np.asarray(is_of_group, bool)
    first, second = values[group], values[~group]
    if min(len(first), len(second)) < MIN_GROUP:
        return None
    ranks = average_ranks(np.concatenate([first, second]))
    above = (ranks[: len(first)] - average_ranks(first)) / len(second)  # of each of the first
    below = 1 - (ranks[len(first) :] - average_ranks(second)) / len(first)  # of each of the second
    auc = float(above.mean())
    error = np.sqrt(above.var(ddof=1) / len(first) + below.var(ddof=1) / len(second))
    low, high = max(0.0, auc - NORMAL * error), min(1.0, auc + NORMAL * error)
    if clusters is not None:
        names, of = np.unique(np.asarray(clusters), return_inverse=True)
        members = [np.flatnonzero(of == i) for i in range(len(names))]
        rng, areas = np.random.default_rng(0), []
        for _ in range(RESAMPLES):
            rows = np.concatenate([members[i] for i in rng.integers(len(names), size=len(names))])
            n = int(group[rows].sum())
            if 0 < n < len(rows):
                ranked = average_ranks(values[rows])[group[rows]].sum() - n * (n + 1) / 2
                areas.append(ranked / (n * (len(rows) - n)))
        low, high = np.quantile(areas, [0.025, 0.975])
    figures = {"auc": auc, "low": float(low), "high": float(high)}
    return {**{name: round(value, 4) for name, value in figures.items()}, "n": len(values)}


class RankCorrelation(NamedTuple):
    """Spearman's rho of n pairs. No field is ever NaN.

    rho: ties share their mean rank. None if it is not defined. p_value: two-sided, by Student's t
    with n - 2 degrees of freedom. Exact if the orders agree or differ in all pairs. low,
    high: 95% percentile bootstrap interval over pairs. why_not: reason for no rho or no interval.
    """

    n: int
    rho: float | None = None
    p_value: float | None = None
    low: float | None = None
    high: float | None = None
    why_not: str = ""


def spearman(
    x: npt.ArrayLike, y: npt.ArrayLike, *, seed: int, resamples: int = RESAMPLES
) -> RankCorrelation:
    """Correlate the ranks of `x` and `y`, both (n,), without pairs that have a NaN.

    The order of the pairs changes nothing. Raises ValueError if the lengths differ.
    """
    pairs = np.stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    n = pairs.shape[1]
    if n < MIN_PAIRS:
        few = f"only {n} pair{'' if n == 1 else 's'}; needs {MIN_PAIRS}"
        return RankCorrelation(n, why_not=few)
    if (np.ptp(pairs, axis=1) == 0).any():
        return RankCorrelation(n, why_not="one of the two never varies")
    first, second = pairs[:, np.lexsort(pairs[::-1])]
    rho = float(_rhos(first, second))
    if abs(rho) < 1 - PERFECT:
        p_value = student_tail(rho * math.sqrt((n - 2) / (1 - rho * rho)), n - 2)
    else:
        # Student's t is infinite. Of all pairings, count those in perfect order or in its reverse,
        # which is one of them only where the ties mirror each other.
        counts = np.unique(pairs, axis=1, return_counts=True)[1]
        ways = 2.0 if (counts == counts[::-1]).all() else 1.0
        same = sum(math.lgamma(count + 1) for count in counts.tolist())
        p_value = min(1.0, ways * math.exp(same - math.lgamma(n + 1)))
    rng, rows, parts = np.random.default_rng(seed), max(1, BLOCK_VALUES // n), []
    for start in range(0, resamples, rows):
        drawn = rng.integers(n, size=(min(rows, resamples - start), n))
        parts.append(_rhos(first[drawn], second[drawn]))
    rhos = np.concatenate(parts)
    usable = rhos[~np.isnan(rhos)]
    if len(usable) < max(1, MIN_USABLE * resamples):
        why = f"no interval: both vary in only {len(usable)} of {resamples} resamples"
        return RankCorrelation(n, rho, p_value, why_not=why)
    low, high = map(float, np.quantile(usable, [0.025, 0.975]))
    return RankCorrelation(n, rho, p_value, low, high)


def _rhos(x: Floats, y: Floats) -> Floats:
    """Return rho of every row of pairs. NaN where either side is constant."""
    middle = (x.shape[-1] + 1) / 2
    first, second = (average_ranks(side) - middle for side in (x, y))
    spread = np.sqrt((first**2).sum(-1)) * np.sqrt((second**2).sum(-1))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.clip((first * second).sum(-1) / spread, -1.0, 1.0))


def nominal_alpha(units: Sequence[Sequence[str]]) -> float | None:
    """Return Krippendorff's alpha for nominal data (Krippendorff, 2011), 1 - D_o / D_e.

    It is 1 if raters agree, 0 if they agree as by chance, below 0 if less than that. None means
    undefined, because all answers are the same.

    units: the answers on each item. Any may be missing, and items with one answer are left out. D_o
    is the share of unequal pairs on one item, an item of m answers weighing m. D_e is that of
    unequal pairs of two answers drawn from all, without replacement. None where no item has two.
    """
    units = [unit for unit in units if len(unit) > 1]
    total = Counter(answer for unit in units for answer in unit)
    n = total.total()
    if len(total) < 2:
        return None
    unequal = 0.0
    for unit in units:
        equal = sum(times * (times - 1) for times in Counter(unit).values())
        unequal += (len(unit) - equal / (len(unit) - 1)) / n
    by_chance = 1 - sum(times * (times - 1) for times in total.values()) / (n * (n - 1))
    return 1 - unequal / by_chance
