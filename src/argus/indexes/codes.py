"""Vectors in eight bits a number, and how far a score by them may be off: a quarter to read."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from argus.cores import worker_threads
from argus.data.types import FloatArray, IntArray
from argus.indexes.lanes import LANES, product_of_lanes, read_ahead

ROWS = 16_384
"""Rows that are coded at a time."""
GROUPS = 65_536
"""Groups of rows that are worth threads."""
AHEAD = 8
"""Rows that are brought near before they are read; twice and half of it gain less."""
MOST_PRODUCT = 2**30
"""Of a query and a row in codes: half of what 32 bits hold, so that rounding stays within."""
TOLERANCE = 1e-3
"""Of rounding, in products of queries and codes and in the length of a row."""


class Codes(NamedTuple):
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

    def most(self, query: CodedQuery, starts: IntArray, threads: int = 1) -> FloatArray:
        """Return the most that any row of each group can score, (n_groups,).

        starts: (n_groups + 1,) over the rows; no group is empty. threads: how many read them.
        """
        most = np.empty(len(starts) - 1, np.float32)
        edges = np.linspace(0, len(most), threads + 1).astype(np.int64)

        def part(first: int, last: int) -> None:
            _most_of_groups(query, self, starts[first : last + 1], most[first:last])

        if threads == 1 or len(most) < GROUPS:
            part(0, len(most))
        else:
            list(worker_threads().map(part, edges[:-1], edges[1:]))
        return most


class CodedQuery(NamedTuple):
    """A unit query, (dim,), and its codes: divided by `scale` and rounded to sixteen bits.

    error: how far it moves the score of a coded row at most.
    """

    vector: FloatArray
    codes: npt.NDArray[np.int16]
    scale: np.float32
    error: np.float32

    @classmethod
    def of(cls, query: FloatArray) -> CodedQuery:
        """Return the codes of a query; their products with a row's stay within 32 bits."""
        size = np.abs(query.astype(np.float64))
        scale = max(size.max(initial=0) / 32_767, size.sum() * 127 / MOST_PRODUCT, 1e-30)
        rounded = np.rint(query / scale)
        lost = float(np.linalg.norm(query - scale * rounded))
        # a coded row is less than 2 long
        return cls(query, rounded.astype(np.int16), np.float32(scale), np.float32(2 * lost))


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def dot(left, right):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the product of two float32 vectors."""
    total = np.float32(0)
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@numba.njit(cache=True, nogil=True, inline="always")
def most_of(query, rows, start, end):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return the most that any of some rows can score, by the codes of both."""
    most = np.float32(-np.inf)
    codes, of_rows, scale, error = query.codes, rows.codes, rows.scale, rows.error
    for row in range(start, end):
        total = product_of_lanes(codes, of_rows, row)  # type: ignore[call-arg, var-annotated]
        for i in range(len(codes) // LANES * LANES, len(codes)):
            total = np.int32(total + np.int32(codes[i]) * np.int32(of_rows[row, i]))
        most = max(most, scale[row] * query.scale * np.float32(total) + error[row])
    return most + query.error


@numba.njit(cache=True, nogil=True)
def _most_of_groups(query, rows, starts, most):  # type: ignore[no-untyped-def]  # pragma: no cover
    for group in range(len(most)):
        read_ahead(rows.codes, starts[group] + AHEAD)  # type: ignore[call-arg]
        most[group] = most_of(query, rows, starts[group], starts[group + 1])
