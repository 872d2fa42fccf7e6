"""How well a score tells two groups apart: the area under the ROC curve, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

FEWEST_OF_A_GROUP = 5
"""Of either group, below which no area is told."""


RESAMPLES = 1_000
"""Draws of clusters for an interval."""


class Discrimination(TypedDict):
    """The probability that one of the first group has the higher score; ties count a half.

    auc: the probability, from 0 to 1.
    n: items of both groups.
    """

    auc: float
    low: float
    high: float
    n: int


def discrimination(
    scores: npt.ArrayLike,
    is_of_group: npt.ArrayLike,
    *,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> Discrimination | None:
    """Return the AUC of `scores` for a group, with the interval of DeLong et al. (1988).

    scores: (n,), finite; is_of_group: (n,) bool. clusters: (n,), whose values belong together, such
    as a question with several documents; the interval then draws clusters, not values (bootstrap
    percentiles). None where either group has fewer than FEWEST_OF_A_GROUP.
    """
    from scipy.stats import norm, rankdata

    values, group = np.asarray(scores, np.float64), np.asarray(is_of_group, bool)
    if values.shape != group.shape or not np.isfinite(values).all():
        raise ValueError(f"{values.shape} scores, {group.shape} labels: needs as many, finite.")
    first, second = values[group], values[~group]
    if min(len(first), len(second)) < FEWEST_OF_A_GROUP:
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
    """Return the interval of the AUC where whole clusters are drawn; draws of one group go."""
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
