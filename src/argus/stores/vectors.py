"""Vectors as stores hand them out, made one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from argus.data.types import FloatArray

MISSING = "no vector"


def stacked(values: Sequence[Any], dim: int) -> tuple[FloatArray, dict[int, str]]:
    """Return vectors as (n, dim), NaN where there is none of that length, and why by row."""
    lengths = [-1 if value is None else len(value) for value in values]
    broken = {
        row: MISSING if n <= 0 else f"{n} dimensions, not {dim}"
        for row, n in enumerate(lengths)
        if n != dim
    }
    if not broken:
        return np.asarray(values, np.float32).reshape(len(values), dim), {}
    vectors = np.full((len(values), dim), np.nan, np.float32)
    for row, value in enumerate(values):
        if row not in broken:
            vectors[row] = value
    return vectors, broken
