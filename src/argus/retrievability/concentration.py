"""How unevenly retrieval is spread over documents: Lorenz curve, Gini coefficient, hubness."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def lorenz(counts: npt.ArrayLike, *, points: int = 101) -> npt.NDArray[np.float64]:
    """Return the share of all retrievals that the least retrieved share of documents gets.

    counts: (n,), non-negative. Shape (points,), at equal steps of the share of documents from 0
    to 1, interpolated linearly. Zeros when nothing was retrieved.
    """
    values = np.sort(np.asarray(counts, np.float64))
    cumulative = np.concatenate([[0.0], np.cumsum(values)])
    total = cumulative[-1]
    shares = cumulative / total if total > 0 else cumulative
    steps = np.linspace(0, 1, len(cumulative))
    return np.asarray(np.interp(np.linspace(0, 1, points), steps, shares))


def gini(counts: npt.ArrayLike) -> float:
    """Return the Gini coefficient: 0 when all are equal, towards 1 when one has all.

    `G = Σ_i (2i - n - 1) c_i / (n Σ_i c_i)` over ascending counts, i from 1. As a measure of
    retrievability bias: Azzopardi & Vinay (2008). 0 when nothing was retrieved.
    """
    values = np.sort(np.asarray(counts, np.float64))
    n, total = len(values), values.sum()
    if n == 0 or total == 0:
        return 0.0
    return float(((2 * np.arange(1, n + 1) - n - 1) * values).sum() / (n * total))


def skewness(counts: npt.ArrayLike) -> float:
    """Return the skewness of the k-occurrence distribution, the usual measure of hubness.

    Radovanović, Nanopoulos & Ivanović (2010), N_k. 0 when all counts are equal.
    """
    values = np.asarray(counts, np.float64)
    spread = values.std()
    return float((((values - values.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0
