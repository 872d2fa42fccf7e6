"""Estimate proportions, the area under a ROC curve and rank correlation, and rater agreement.

Agreement (Cohen's and Fleiss' kappa, nominal alpha) is 1 - D_o / D_e: 1 if raters agree, 0 if they
agree as by chance, below 0 if less than that. They differ in the model of chance. None means
undefined, because all answers are the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

RESAMPLES = 1_000  # for the interval of a rank correlation, and of an area of clusters
MIN_GROUP = 5  # members of either group for which an area is given
MIN_PAIRS = 3
PERFECT = 1e-12  # distance from rho = 1 that is rounding
MIN_USABLE = 0.95  # share of the resamples in which both sides must vary for an interval
BLOCK_VALUES = 1 << 18  # numbers of one array to resample at once: 2 MB, as a core's cache

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def wilson(
    mean: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the Wilson score interval (Wilson, 1927) of a proportion `mean` over `n` trials.

    Also valid, and conservative, for the mean of n values in [0, 1]: their variance is at most
    mean·(1 - mean), that of 0/1 values. Shapes broadcast. n must be positive.
    """
    from scipy.stats import norm

    p, n = np.asarray(mean, np.float64), np.asarray(n, np.float64)
    if (n <= 0).any():
        raise ValueError("n must be positive: an interval needs at least one observation.")
    z = float(norm.ppf(0.5 + confidence / 2))
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
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


Discrimination = dict[str, float]


def discrimination(
    scores: npt.ArrayLike,
    is_of_group: npt.ArrayLike,
    *,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> Discrimination | None:
    """Return the AUC of `scores` for a group, with the interval of DeLong et al. (1988).

    auc: the probability, from 0 to 1, that one of the first group has the higher score. Ties count
    a half.
    low, high: ends of its interval.
    n: items of both groups.

    scores: (n,), finite. is_of_group: (n,) bool. clusters: (n,), of values that belong together,
    such as a question with several documents. The interval then draws clusters instead of values
    (bootstrap percentiles). None if either group has fewer than MIN_GROUP.
    """
    from scipy.stats import norm, rankdata

    values, group = np.asarray(scores, np.float64), np.asarray(is_of_group, bool)
    if values.shape != group.shape or not np.isfinite(values).all():
        raise ValueError(f"{values.shape} scores, {group.shape} labels: needs as many, finite.")
    first, second = values[group], values[~group]
    if min(len(first), len(second)) < MIN_GROUP:
        return None
    ranks = rankdata(np.concatenate([first, second]))
    above = (ranks[: len(first)] - rankdata(first)) / len(second)  # of each of the first
    below = 1 - (ranks[len(first) :] - rankdata(second)) / len(first)  # of each of the second
    auc = float(above.mean())
    error = np.sqrt(above.var(ddof=1) / len(first) + below.var(ddof=1) / len(second))
    reach = float(norm.ppf(0.5 + confidence / 2) * error)
    low, high = max(0.0, auc - reach), min(1.0, auc + reach)
    if clusters is not None:
        low, high = _of_clusters(values, group, clusters, confidence)
    return {
        "auc": round(auc, 4), "low": round(low, 4), "high": round(high, 4), "n": len(values)
    }  # fmt: skip


def _of_clusters(
    values: npt.NDArray[np.float64],
    group: npt.NDArray[np.bool_],
    clusters: Sequence[str],
    confidence: float,
) -> tuple[float, float]:
    """Return the bootstrap interval of the AUC over whole clusters."""
    from scipy.stats import rankdata

    names, of = np.unique(np.asarray(clusters), return_inverse=True)
    members = [np.flatnonzero(of == i) for i in range(len(names))]
    rng, areas = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        rows = np.concatenate([members[i] for i in rng.integers(len(names), size=len(names))])
        first = int(group[rows].sum())
        if 0 < first < len(rows):
            above = rankdata(values[rows])[group[rows]].sum() - first * (first + 1) / 2
            areas.append(above / (first * (len(rows) - first)))
    ends = np.quantile(areas, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(ends[0]), float(ends[1])


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's rho of n pairs. No field is ever NaN.

    rho: ties share their mean rank. None if it is not defined. p_value: two-sided, by Student's t
    with n - 2 degrees of freedom (scipy's). Exact if the orders agree or differ in all pairs. low,
    high: 95% percentile bootstrap interval over pairs. why_not: reason for no rho or no interval.
    """

    n: int
    rho: float | None
    p_value: float | None
    low: float | None
    high: float | None
    why_not: str


def spearman(
    x: npt.ArrayLike, y: npt.ArrayLike, *, seed: int, resamples: int = RESAMPLES
) -> RankCorrelation:
    """Correlate the ranks of `x` and `y`, both (n,), without pairs that have a NaN.

    The order of the pairs changes nothing. Raises ValueError if the lengths differ.
    """
    first, second = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"shapes {first.shape} and {second.shape}: needs two of the same length.")
    defined = ~(np.isnan(first) | np.isnan(second))
    first, second = first[defined], second[defined]
    n = len(first)
    if n < MIN_PAIRS:
        pairs = f"{n} pair{'' if n == 1 else 's'}"
        return RankCorrelation(n, None, None, None, None, f"only {pairs}; needs {MIN_PAIRS}")
    if first.min() == first.max() or second.min() == second.max():
        return RankCorrelation(n, None, None, None, None, "one of the two never varies")
    from scipy.stats import spearmanr

    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    rho = float(_rhos(first[None], second[None])[0])
    p_value = float(spearmanr(first, second).pvalue)
    if abs(rho) > 1 - PERFECT:
        p_value = _least_p(np.unique(np.stack([first, second]), axis=1, return_counts=True)[1])
    rng, rows, parts = np.random.default_rng(seed), max(1, BLOCK_VALUES // n), []
    for start in range(0, resamples, rows):
        drawn = rng.integers(n, size=(min(rows, resamples - start), n))
        parts.append(_rhos(first[drawn], second[drawn]))
    rhos = np.concatenate(parts)
    usable = rhos[~np.isnan(rhos)]
    if not len(usable) or len(usable) < MIN_USABLE * resamples:
        why = f"no interval: both vary in only {len(usable)} of {resamples} resamples"
        return RankCorrelation(n, rho, p_value, None, None, why)
    low, high = map(float, np.quantile(usable, [0.025, 0.975]))
    return RankCorrelation(n, rho, p_value, low, high, "")


def _least_p(counts: Ints) -> float:
    """Return the share of all pairings that are in perfect order, or in its reverse.

    counts: (m,) how often each different pair is there, where rho is 1 or -1 (Student's t is then
    infinite). The reverse is one of the pairings only where the ties mirror each other.
    """
    from scipy.special import gammaln

    ways = 2.0 if (counts == counts[::-1]).all() else 1.0
    return float(min(1.0, ways * np.exp(gammaln(counts + 1).sum() - gammaln(counts.sum() + 1))))


def _rhos(x: Floats, y: Floats) -> Floats:
    """Return rho of every row of pairs, (b,). x, y: (b, n). NaN where either side is constant."""
    from scipy.stats import rankdata

    middle = (x.shape[1] + 1) / 2
    first, second = (rankdata(side, axis=1) - middle for side in (x, y))
    together, a, b = (
        np.einsum("ij,ij->i", *pair) for pair in ((first, second), (first, first), (second, second))
    )
    rho, spread = np.full(len(x), np.nan), np.sqrt(a) * np.sqrt(b)
    np.divide(together, spread, out=rho, where=spread > 0)
    return np.asarray(np.clip(rho, -1.0, 1.0))


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of two raters (Cohen, 1960), κ = (p_o - p_e) / (1 - p_e).

    pairs: both answers on each item. p_o: the share of equal pairs. p_e: of pairs that are equal
    where each rater draws from its own answers. Raises ValueError for no pair.
    """
    if not pairs:
        raise ValueError("no pair: two raters agree on items that both have rated.")
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    equal = sum(a == b for a, b in pairs)
    by_chance = sum(times * second[label] for label, times in first.items())
    return None if by_chance == n * n else (equal * n - by_chance) / (n * n - by_chance)


def fleiss_kappa(units: Sequence[Sequence[str]]) -> float | None:
    """Return Fleiss' kappa (Fleiss, 1971, eqs. 2 to 7), (P̄ - P̄_e) / (1 - P̄_e).

    units: the answers on each item, the same number on each, two at least. Who gave them does not
    count. P̄: the share of pairs of answers on one item that are equal. P̄_e: the same of two answers
    drawn from all, with replacement. Raises ValueError for other units.
    """
    sizes = {len(unit) for unit in units}
    if len(sizes) != 1 or min(sizes) < 2:
        raise ValueError(
            f"items with {sorted(sizes)} answers: Fleiss' kappa needs equally many of each, two at "
            "least; nominal_alpha takes any."
        )
    m, total = sizes.pop(), Counter(answer for unit in units for answer in unit)
    answers = m * len(units)
    if len(total) == 1:
        return None
    equal = sum(_equal_pairs(unit) for unit in units) / (answers * (m - 1))
    by_chance = sum(times**2 for times in total.values()) / answers**2
    return (equal - by_chance) / (1 - by_chance)


def nominal_alpha(units: Sequence[Sequence[str]]) -> float | None:
    """Return Krippendorff's alpha for nominal data (Krippendorff, 2011), 1 - D_o / D_e.

    units: the answers on each item. Any may be missing, and items with one answer are left out. D_o
    is the share of unequal pairs on one item, an item of m answers weighing m. D_e is that of
    unequal pairs of two answers drawn from all, without replacement. None where no item has two.
    """
    units = [unit for unit in units if len(unit) > 1]
    total = Counter(answer for unit in units for answer in unit)
    n = total.total()
    if len(total) < 2:
        return None
    unequal = sum(len(unit) - _equal_pairs(unit) / (len(unit) - 1) for unit in units) / n
    by_chance = 1 - sum(times * (times - 1) for times in total.values()) / (n * (n - 1))
    return 1 - unequal / by_chance


def _equal_pairs(unit: Sequence[str]) -> int:
    """Return how many ordered pairs of answers on one item are equal."""
    return sum(times * (times - 1) for times in Counter(unit).values())
