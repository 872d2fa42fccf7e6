"""How far rounding can move a similarity."""

from __future__ import annotations

import numpy as np

_SIGMAS = 8.0  # of the probabilistic bound of Higham & Mary (2019), λ√n·u


def rounding_bound(dim: int) -> float:
    """Return how far two float32 similarities may be from their exact difference.

    For unit vectors of length `dim`; similarities closer than this are to be compared in float64.
    """
    return float(2 * _SIGMAS * np.sqrt(dim) * 2.0**-24)
