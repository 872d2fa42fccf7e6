"""Vectors as stores hand them out, made one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from argus.stores.protocol import Records

MISSING = "no vector"
NAN, ZERO = "a value that is no number", "all zeros"


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


def whole_rows(records: Records, rows: Sequence[int]) -> tuple[list[int], dict[int, str]]:
    """Return which of the rows hold vectors that can be searched by, and why others do not."""
    members = set(rows)
    broken = {row: why for row, why in records.broken.items() if row in members}
    odd = np.flatnonzero(~np.isfinite(records.vectors).all(axis=1))
    zero = np.flatnonzero(~records.vectors.any(axis=1))
    for those, why in ((odd, NAN), (zero, ZERO)):
        broken |= {row: why for row in those.tolist() if row in members and row not in broken}
    return [row for row in rows if row not in broken], broken
