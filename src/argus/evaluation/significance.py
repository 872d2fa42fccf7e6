"""Is a mean difference over queries more than chance? Paired test and bootstrap interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
BCA_UP_TO = 2_000
"""Queries up to which the interval is BCa: its jackknife costs n² operations."""
BATCH_VALUES = 4_000_000
"""Numbers that are resampled at once: 32 MB."""
UNCHANGED = 1e-9
"""Differences up to this are rounding: both systems score the query alike."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """What two systems' values on the same queries say. No field is ever NaN."""

    queries: int
    mean_before: float
    mean_after: float
    mean_difference: float
    low: float | None
    """Lower end of the bootstrap interval of the mean difference; None for a single query."""
    high: float | None
    p_value: float
    """Two-sided, of the hypothesis that each query's sign is a coin toss; 1 without a change."""
    exact: bool
    """Whether all signs were enumerated; else Monte Carlo, with the +1 correction."""
    interval: str
    """bca, percentile, point (every difference is the same), or none."""
    improved: int
    harmed: int
    unchanged: int

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def paired_difference(
    before: Mapping[str, float],
    after: Mapping[str, float],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> PairedDifference:
    """Compare two systems' values per query, `after` minus `before`.

    Both mappings must hold the same queries, at least one. The test is the paired randomisation
    test (Fisher, 1935; Smucker, Allan and Carterette, 2007); the interval is the bootstrap's over
    queries (Efron, 1987). Queries are ordered by id, so the order of a file changes nothing.
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
    low, high, interval = bootstrap_interval(
        difference, seed=seed, resamples=resamples, confidence=confidence
    )
    return PairedDifference(
        queries=len(ids),
        mean_before=float(first.mean()),
        mean_after=float(second.mean()),
        mean_difference=float(difference.mean()),
        low=low,
        high=high,
        p_value=p_value,
        exact=exact,
        interval=interval,
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
    if len(moved) < 2:  # none, or one whose two signs are equally far from zero
        return 1.0, True
    from scipy.stats import permutation_test

    found: Any = permutation_test(
        (moved,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, BATCH_VALUES // len(moved)),
        rng=np.random.default_rng(seed),
    )
    return min(1.0, float(found.pvalue)), bool(len(moved) < 60 and 2 ** len(moved) <= resamples)


def bootstrap_interval(
    differences: npt.NDArray[np.float64],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> tuple[float | None, float | None, str]:
    """Return the bootstrap interval of the mean and its kind, over n values.

    bca up to BCA_UP_TO values, percentile beyond and where BCa is not defined; one value has no
    interval ("none"), and equal values have that one ("point").
    """
    n = len(differences)
    if n < 2:
        return None, None, "none"
    if (differences == differences[0]).all():
        return float(differences[0]), float(differences[0]), "point"
    from scipy.stats import bootstrap

    for method in ["bca", "percentile"] if n <= BCA_UP_TO else ["percentile"]:
        found: Any = bootstrap(
            (differences,),
            np.mean,
            method=method,
            n_resamples=resamples,
            confidence_level=confidence,
            vectorized=True,
            batch=max(1, BATCH_VALUES // n),
            rng=np.random.default_rng(seed),
        )
        low, high = map(float, found.confidence_interval)
        if np.isfinite([low, high]).all():
            return low, high, method
    raise ArithmeticError("The percentile interval of finite values is finite.")
