"""Compare two systems on the same queries: paired test, bootstrap interval, harmed queries.

`paired_difference`: two values per query -> mean difference, 95% interval, p-value, verdict, for
`argus evaluate`, `argus gate` and every remedy. The interval is the bootstrap's percentile
interval, widened for few observations (Hesterberg, 2015, "expanded percentile"). Only queries that
changed count as observations. BCa intervals were tried: if few queries change, their bias and
acceleration come from those few, and 95% intervals left out a true mean of zero in 12% of samples
(3 of 100 queries changed), against the p-value beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.algorithms import normal_tail, student_quantile
from argus.measures import RESAMPLES

# Changed queries from which there is an interval. Five that all improve have p = 2/2⁵ = 0.06: no
# such sample can reach 0.05, while nearly every resample of it lies above zero.
FEWEST_CHANGED = 6
LEVEL = 0.05  # a p-value below it, and an interval without zero, make a change
BATCH_VALUES = 4_000_000  # numbers to resample at once: 32 MB
UNCHANGED = 1e-9  # differences up to this are rounding
EQUAL = 100 * np.finfo(float).eps  # by what share two means of the same values may differ
ALIKE = "every query changed by the same amount"

Values = Mapping[str, float]


def with_interval(figures: Mapping[str, Any]) -> str:
    """Return a mean difference with its 95% interval, where it has one, in words."""
    low, high = figures["low"], figures["high"]
    interval = f" ({low:+.3f} to {high:+.3f})" if low is not None and high is not None else ""
    return f"{figures['mean_difference']:+.3f}{interval}"


def ends_words(low: float | None, high: float | None, why_not: str = "") -> str:
    """Return an interval of a difference in words, or why there is none."""
    if low is None or high is None:
        return f"none: {why_not}" if why_not else "none"
    return f"{low:+.4f} to {high:+.4f}"


def interval_words(figures: Mapping[str, Any], form: str = "+.4f") -> str:
    """Return the 95% interval in `low` and `high`, or why there is none."""
    if figures["low"] is None:
        return f"no interval: {figures['no_interval']}"
    return f"95% {figures['low']:{form}} to {figures['high']:{form}}"


def change_words(figures: Mapping[str, Any]) -> str:
    """Return a mean difference with its test: "+0.0083, 95% -0.0033 to +0.0216, p=0.187"."""
    difference = f"{figures['mean_difference']:+.4f}"
    return f"{difference}, {interval_words(figures)}, p={figures['p_value']:.3g}"


def means_words(figures: Mapping[str, Any]) -> str:
    """Return both means and their change, without a verdict."""
    means = f"{figures['mean_before']:.3f} → {figures['mean_after']:.3f}"
    return f"{means} ({change_words(figures)})"


def difference_words(figures: Mapping[str, Any]) -> str:
    """Return both means and their change, with the verdict if it is beyond chance."""
    return means_words(figures) + (f": {figures['verdict']}" if figures["verdict"] else "")


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Two systems' values on the same queries, compared. No field is ever NaN.

    low, high: 95% interval of the mean difference. no_interval: why there is none, else "".
    p_value: two-sided, of the hypothesis that each query's sign is a coin toss. exact: whether all
    signs were enumerated, else Monte Carlo with the +1 correction.
    """

    queries: int
    mean_before: float
    mean_after: float
    mean_difference: float
    low: float | None
    high: float | None
    p_value: float
    exact: bool
    no_interval: str
    improved: int
    harmed: int
    unchanged: int

    @property
    def verdict(self) -> str:
        """Common result of interval and test: "better", "worse", or "" if either allows chance.

        If all queries changed alike there is no interval, and the test decides.
        """
        if self.p_value >= LEVEL:
            return ""
        low = self.mean_difference if self.low is None else self.low
        high = self.mean_difference if self.high is None else self.high
        return "better" if low > 0 else "worse" if high < 0 else ""

    def figures(self) -> dict[str, Any]:
        """Return everything for a summary.

        queries: queries that were measured on both sides.
        mean_before: mean on the first side.
        mean_after: mean on the second side.
        mean_difference: second less first.
        low, high: ends of its 95% interval, None without one.
        p_value: of the test.
        exact: whether the p-value is exact.
        no_interval: why there is no interval, else "".
        improved: queries that are better.
        harmed: queries that are worse.
        unchanged: queries that are the same.
        verdict: "better", "worse" or "".
        """
        return {**asdict(self), "verdict": self.verdict}


def paired_difference(
    before: Values, after: Values, *, seed: int, resamples: int = RESAMPLES
) -> PairedDifference:
    """Compare two systems' values per query, `after` minus `before`.

    Both mappings must hold the same queries, at least one. The test is the paired randomisation
    test (Fisher, 1935; Smucker, Allan and Carterette, 2007). The interval is the bootstrap's over
    queries (see `bootstrap_interval`). Queries are ordered by id: the order of a file changes
    nothing.
    """
    if before.keys() != after.keys() or not before:
        raise ValueError(f"{len(before)} and {len(after)} queries: needs the same, at least one.")
    ids = sorted(before)
    first = np.array([before[q] for q in ids], float)
    second = np.array([after[q] for q in ids], float)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("A value is not finite: leave out queries that were not measured.")
    difference = second - first
    difference[np.abs(difference) <= UNCHANGED] = 0.0
    p_value, exact = randomisation_test(difference, seed=seed, resamples=resamples)
    low, high, why_not = bootstrap_interval(difference, seed=seed, resamples=resamples)
    return PairedDifference(
        queries=len(ids),
        mean_before=float(first.mean()),
        mean_after=float(second.mean()),
        mean_difference=float(difference.mean()),
        low=low,
        high=high,
        p_value=p_value,
        exact=exact,
        no_interval=why_not,
        improved=int((difference > 0).sum()),
        harmed=int((difference < 0).sum()),
        unchanged=int((difference == 0).sum()),
    )


def randomisation_test(
    differences: npt.NDArray[np.float64], *, seed: int, resamples: int = RESAMPLES
) -> tuple[float, bool]:
    """Return the two-sided p-value of the mean, and whether all signs were enumerated.

    differences: (n,). A difference of zero has no sign to toss and is left out, which changes no
    statistic. All 2^m signs are enumerated up to `resamples` of them.
    """
    moved = differences[differences != 0]
    if (n := len(moved)) < 2:  # none, or one whose two signs are equally far from zero
        return 1.0, True
    is_exact = n < 60 and 2**n <= resamples
    every = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1) if is_exact else None
    tosses = _tossed(n, resamples, seed) if every is None else [every]
    mean, means = moved.mean(), np.concatenate([(signs * moved).mean(axis=1) for signs in tosses])
    near = abs(mean) * EQUAL
    fewer = min((means <= mean + near).sum(), (means >= mean - near).sum())
    seen = 0 if is_exact else 1  # the sample itself, which all signs hold
    return min(1.0, 2 * float(fewer + seen) / (len(means) + seen)), is_exact


def _tossed(n: int, resamples: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield signs of n values at random, of shape (part, n), until there are `resamples`."""
    rng, rows = np.random.default_rng(seed), max(1, BATCH_VALUES // n)
    for start in range(0, resamples, rows):
        both = np.tile([1, -1], (min(rows, resamples), n, 1))
        yield rng.permuted(both, axis=-1)[: resamples - start, :, 0]


def least_bound(differences: npt.NDArray[np.float64]) -> float:
    """Return an upper bound of the two-sided p-value of the mean's sign test (Hoeffding, 1963).

    differences: (n,). With tossed signs, |sum| reaches t with at most 2 exp(-t² / 2 Σd²). The bound
    may be smaller than one in the resamples, the smallest p-value of resampling.
    """
    squares = float(differences @ differences)
    if not squares:
        return 1.0
    return min(1.0, 2 * math.exp(-(float(differences.sum()) ** 2) / (2 * squares)))


def bootstrap_interval(
    differences: npt.NDArray[np.float64], *, seed: int, resamples: int = RESAMPLES
) -> tuple[float | None, float | None, str]:
    """Return the 95% percentile interval of the mean of n values, or why there is none.

    The level of its ends is that of a t interval of as many observations as there are values other
    than zero. There is none if these are fewer than FEWEST_CHANGED, or if all n are equal, since
    resampling such values shows no spread.
    """
    changed = int((differences != 0).sum())
    if changed < FEWEST_CHANGED:
        queries = f"{len(differences)} quer{'y' if len(differences) == 1 else 'ies'}"
        few = f"only {changed} of {queries} changed" if changed else "no query changed"
        return None, None, few
    if np.ptp(differences) <= UNCHANGED:
        return None, None, ALIKE
    reach = student_quantile(LEVEL, changed - 1) * math.sqrt(changed / (changed - 1))
    rng, n, means = np.random.default_rng(seed), len(differences), []
    rows = max(1, BATCH_VALUES // n)
    for start in range(0, resamples, rows):
        drawn = rng.integers(n, size=(min(rows, resamples - start), n))
        means.append(differences[drawn].mean(axis=1))
    tail = normal_tail(reach)
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return float(low), float(high), ""
