"""Score documents for queries exactly.

Scores of a block of queries are float32, from products as large as the memory allows. Scores within
`bound` of each other are computed again in float64, pair by pair. So neither the size of blocks nor
the order of queries changes a rank, and equal rows tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.types import FloatArray, IntArray

Float64Array = npt.NDArray[np.float64]
UNIT = 1e-3
"""Tolerance of a row's length 1."""
SIGMAS = 8.0
"""Of the probabilistic bound of Higham and Mary (2019), λ√n·u."""
MAX_SINGLE = 64
"""Rows that are compared one by one. Of more, equal ones are compared once."""


def rounding_bound(dim: int) -> float:
    """Return how far two float32 similarities may be from their exact difference.

    For unit vectors of length `dim`; similarities closer than this are to be compared in float64.
    """
    return float(2 * SIGMAS * np.sqrt(dim) * 2.0**-24)


def product_bound(dim: int, reach: float) -> float:
    """Return how far two float32 products of vectors of `dim` may be from their exact difference.

    reach: the largest length of the one times that of the other. Numbers below 2**-126 stand at
    one distance from each other, however small they are.
    """
    return rounding_bound(dim) * reach + dim * 2.0**-149


def widened(rows: FloatArray) -> FloatArray:
    """Return rows of at least 32 bits."""
    return rows.astype(np.result_type(rows, np.float32), copy=False)


def reach_of(vectors: FloatArray) -> float:
    """Return the length of the longest row, or 1 if all rows have length 1."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    if not len(squares):
        return 1.0
    longest, shortest = (float(np.sqrt(each)) for each in (squares.max(), squares.min()))
    return 1.0 if abs(longest - 1) < UNIT and abs(shortest - 1) < UNIT else longest


@dataclass(frozen=True)
class Scoring:
    """The documents of a search, (n, dim), and their scores for queries: dot products.

    Those of rows of length 1 are cosines.
    """

    documents: FloatArray

    def __post_init__(self) -> None:
        """Widen half precision, whose products exceed every bound here."""
        object.__setattr__(self, "documents", widened(self.documents))

    @cached_property
    def _reach(self) -> float:
        return reach_of(self.documents)

    def products(self, queries: FloatArray) -> FloatArray:
        """Return the scores of all documents in float32, shape (n_queries, n_documents)."""
        scores: FloatArray = queries @ self.documents.T
        return scores

    def bound(self, queries: FloatArray) -> float:
        """Return the largest error of a difference of two of these scores."""
        return product_bound(self.documents.shape[1], self._reach * reach_of(queries))

    def pairs(self, queries: FloatArray, documents: FloatArray) -> Float64Array:
        """Return the exact score of query i and document i, both of n rows, as shape (n,)."""
        exact: Float64Array = np.einsum("ij,ij->i", queries.astype(float), documents.astype(float))
        return exact

    def against(self, query: FloatArray, rows: IntArray) -> Float64Array:
        """Return the exact scores of one query, of one row, with some documents."""
        if len(rows) <= MAX_SINGLE:
            return self._exact(query, rows)
        of = self._alike[rows]
        scores = np.zeros(len(self.documents))
        scores[of] = 1
        distinct = np.flatnonzero(scores)
        scores[distinct] = self._exact(query, distinct)
        return scores[of]

    def _exact(self, query: FloatArray, rows: IntArray) -> Float64Array:
        vectors = self.documents[rows].astype(float)
        exact: Float64Array = np.einsum("j,ij->i", query[0].astype(float), vectors)
        return exact

    @cached_property
    def _alike(self) -> IntArray:
        """The first of the rows with the same vector, for each row: duplicates are many at once."""
        first: dict[bytes, int] = {}
        rows = enumerate(self.documents)
        return np.array([first.setdefault(content_hash(v.tobytes()), i) for i, v in rows], np.int64)
