"""How well a score tells two groups apart: the area under the ROC curve, with its interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

FEWEST_OF_A_GROUP = 5
"""Of either group, below which no area is told."""


class Discrimination(TypedDict):
    """The probability that one of the first group has the higher score; ties count a half."""

    auc: float
    low: float
    high: float
    n: int
    """Of both groups."""


def discrimination(
    scores: npt.ArrayLike, is_of_group: npt.ArrayLike, *, confidence: float = 0.95
) -> Discrimination | None:
    """Return the AUC of `scores` for a group, with the interval of DeLong et al. (1988).

    scores: (n,), finite; is_of_group: (n,) bool. None where either group has fewer than
    FEWEST_OF_A_GROUP.
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
    return {
        "auc": round(auc, 4),
        "low": round(max(0.0, auc - reach), 4),
        "high": round(min(1.0, auc + reach), 4),
        "n": len(values),
    }
