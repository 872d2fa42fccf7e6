"""How far rounding can move a similarity."""

from __future__ import annotations

import numpy as np

_SIGMAS = 8.0  # of the probabilistic bound of Higham & Mary (2019), λ√n·u


def rounding_bound(dim: int) -> float:
    """Return how far two float32 similarities may be from their exact difference.

    For unit vectors of length `dim`; similarities closer than this are to be compared in float64.
    """
    return float(2 * _SIGMAS * np.sqrt(dim) * 2.0**-24)


def product_bound(dim: int, reach: float) -> float:
    """Return how far two float32 products of vectors of `dim` may be from their exact difference.

    reach: the largest length of the one times that of the other. Numbers below 2**-126 stand at
    one distance from each other, however small they are.
    """
    return rounding_bound(dim) * reach + dim * 2.0**-149
