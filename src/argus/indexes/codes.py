"""Vectors in eight bits a number, and how far a score by them may be off: a quarter to read."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray

ROWS = 16_384
"""Rows that are coded at a time."""
TOLERANCE = 1e-3
"""Of rounding, in products of queries and codes and in the length of a row."""


@dataclass(frozen=True)
class Codes:
    """Rows divided by `scale` and rounded, (n_rows, dim).

    scale, error: (n_rows,); error is the length of what rounding took: a unit query scores a row
    within that of `scale · (query · codes)`.
    """

    codes: npt.NDArray[np.int8]
    scale: FloatArray
    error: FloatArray

    @classmethod
    def of(cls, vectors: FloatArray, rows: IntArray) -> Codes:
        """Return the codes of some rows."""
        codes = np.empty((len(rows), vectors.shape[1]), np.int8)
        scale, error = (np.empty(len(rows), np.float32) for _ in range(2))
        for start in range(0, len(rows), ROWS):
            part = slice(start, start + ROWS)
            block = vectors[rows[part]]
            scale[part] = np.maximum(np.abs(block).max(axis=1), np.float32(1e-12)) / np.float32(127)
            rounded = np.rint(block / scale[part, None])
            codes[part] = rounded
            error[part] = np.linalg.norm(block - scale[part, None] * rounded, axis=1)
        return cls(codes, scale, error * np.float32(1 + TOLERANCE) + np.float32(TOLERANCE / 10))

    def most(self, query: FloatArray, starts: IntArray) -> FloatArray:
        """Return the most that any row of each group can score, (n_groups,).

        starts: (n_groups + 1,) over the rows; no group is empty.
        """
        most: FloatArray = _most_of_groups(query, self.codes, self.scale, self.error, starts)
        return most


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def dot(left, right):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the product of a float32 vector with another, or with codes."""
    total = np.float32(0)
    for i in range(len(left)):
        total += left[i] * np.float32(right[i])
    return total


@numba.njit(cache=True, nogil=True)
def most_of(query, codes, scale, error, start, end):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the most that any of some rows can score, by their codes."""
    most = np.float32(-np.inf)
    for row in range(start, end):
        most = max(most, scale[row] * dot(query, codes[row]) + error[row])
    return most


@numba.njit(cache=True, nogil=True)
def _most_of_groups(query, codes, scale, error, starts):  # type: ignore[no-untyped-def]  # pragma: no cover
    most = np.empty(len(starts) - 1, np.float32)
    for group in range(len(most)):
        most[group] = most_of(query, codes, scale, error, starts[group], starts[group + 1])
    return most
