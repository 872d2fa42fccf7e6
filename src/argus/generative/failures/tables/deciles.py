"""Ten groups of equal weight along a figure, whatever its ties (docs/failures.md, "Tables")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

GROUPS = 10

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Decile:
    """One of the groups. number: from 1, the lowest values.

    low, high: the least and the greatest value of the questions that belong to it, wholly or in
    part. weight: how many questions it counts for, n / groups. mean: of the values.
    """

    number: int
    low: float
    high: float
    weight: float
    mean: float
    outcomes: dict[str, float | None]
    """Mean of every outcome over the questions that have it. None if none has."""


def deciles(
    values: npt.ArrayLike, outcomes: Mapping[str, npt.ArrayLike], groups: int = GROUPS
) -> list[Decile]:
    """Part questions into `groups` of equal weight by their value. None with fewer values.

    values and every outcome: (n,), None or NaN where a question has none. A question whose value
    is tied across a border belongs to both groups in proportion: as if ties were broken at
    random, on average. Nothing depends on the order of the questions.
    """
    value = np.asarray(values, np.float64)
    there = ~np.isnan(value)
    n = int(there.sum())
    if n < groups:
        return []
    different, place = np.unique(value[there], return_inverse=True)
    counts = np.bincount(place)
    shares = _memberships(counts, groups)  # (groups, m)
    rates = {
        name: _means(shares / counts, place, np.asarray(outcome, np.float64)[there])
        for name, outcome in outcomes.items()
    }
    parts = []
    for group, share in enumerate(shares):
        members = np.flatnonzero(share)
        parts.append(
            Decile(
                number=group + 1,
                low=float(different[members[0]]),
                high=float(different[members[-1]]),
                weight=n / groups,
                mean=float(share @ different / n),
                outcomes={name: rate[group] for name, rate in rates.items()},
            )
        )
    return parts


def published_deciles(
    values: npt.ArrayLike, outcomes: Mapping[str, npt.ArrayLike], *, by_rank: bool
) -> list[Decile]:
    """Part questions as the thesis does. None below ten values.

    Equal values stay together: a group ends at a tenth's quantile (linear between two values),
    which belongs to it, and of equal quantiles one counts. So groups differ in size (Table 13).
    by_rank: groups of n // 10 questions by value, then by order. The last takes the rest (Table
    12).
    """
    value = np.asarray(values, np.float64)
    there = np.flatnonzero(~np.isnan(value))
    n = len(there)
    if n < GROUPS:
        return []
    value = value[there]
    if by_rank:
        rank = np.empty(n, np.int64)
        rank[np.argsort(value, kind="stable")] = np.arange(n)
        group = np.minimum(rank // (n // GROUPS), GROUPS - 1)
    else:
        ends = np.unique(np.quantile(value, np.arange(1, GROUPS) / GROUPS))
        group = np.searchsorted(ends, value)
    of_outcomes = {name: np.asarray(o, np.float64)[there] for name, o in outcomes.items()}
    return [
        _decile(number, value[members], {name: o[members] for name, o in of_outcomes.items()})
        for number, members in enumerate((group == g for g in np.unique(group)), start=1)
    ]


def _decile(number: int, values: Floats, outcomes: Mapping[str, Floats]) -> Decile:
    """Return a group of whole questions."""
    means = {}
    for name, outcome in outcomes.items():
        measured = outcome[~np.isnan(outcome)]
        means[name] = float(measured.mean()) if len(measured) else None
    low, high = float(values.min()), float(values.max())
    return Decile(number, low, high, float(len(values)), float(values.mean()), means)


def _memberships(counts: Ints, groups: int) -> Ints:
    """Part of every value in every group, in `groups`-ths of a question: (groups, m).

    counts: (m,) questions per value, sorted. Whole numbers: value v covers groups * counts[v] of a
    line of groups * n, of which each group is a stretch of n.
    """
    ends = np.cumsum(counts) * groups  # (m,)
    starts = ends - counts * groups
    n = int(counts.sum())
    left = np.arange(groups)[:, None] * n  # (groups, 1)
    overlap: Ints = np.minimum(ends, left + n) - np.maximum(starts, left)
    return np.maximum(overlap, 0)


def _means(per_question: Floats, place: Ints, outcome: Floats) -> list[float | None]:
    """Mean outcome of every group. per_question: (groups, m) weight of a question of a value."""
    has = ~np.isnan(outcome)
    order = np.lexsort((outcome[has], place[has]))  # sums must not depend on the questions' order
    place, outcome = place[has][order], outcome[has][order]
    m = per_question.shape[1]
    sums = per_question @ np.bincount(place, weights=outcome, minlength=m)  # (groups,)
    weights = per_question @ np.bincount(place, minlength=m)
    return [float(s / w) if w > 0 else None for s, w in zip(sums, weights, strict=True)]
