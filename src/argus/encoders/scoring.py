"""Score documents for queries exactly, for rows of every kind.

Scores of a block of queries are float32, from products as large as the memory allows. Scores within
`bound` of each other are computed again in float64, pair by pair. So neither the size of blocks nor
the order of queries changes a rank, and equal rows tie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, cast

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.types import FloatArray, IntArray
from argus.encoders.protocol import UNIT_TOLERANCE, R, Rows, SparseRows, TokenRows

Float64Array = npt.NDArray[np.float64]
# Tokens of documents in a block. One text with more makes a block by itself.
BLOCK_TOKENS = 1 << 14
# Products of query tokens with document tokens, or sparse scores, in memory at once.
PAIR_BYTES = 64 << 20
# Of the probabilistic bound of Higham and Mary (2019), λ√n·u.
SIGMAS = 8.0


# Rows that are compared one by one. Of more, equal ones are compared once.
MAX_SINGLE = 64


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


def scoring_of(documents: R) -> Scoring[R]:
    """Return the scoring for the kind of the rows."""
    kinds: Any = {SparseRows: SparseScoring, TokenRows: TokenScoring}
    return cast(Scoring[R], kinds.get(type(documents), DenseScoring)(widened(documents)))


def widened(rows: R) -> R:
    """Return rows of at least 32 bits: products in half precision exceed every bound here."""
    if isinstance(rows, np.ndarray):
        return cast(R, rows.astype(np.result_type(rows, np.float32), copy=False))
    return rows


def reach_of(rows: Rows) -> float:
    """Return the length of the longest row, or token, or 1 if all have length 1."""
    if isinstance(rows, SparseRows):
        squares = np.asarray(rows.matrix.multiply(rows.matrix).sum(axis=1)).ravel()
    else:
        vectors = rows.vectors if isinstance(rows, TokenRows) else rows
        squares = np.einsum("ij,ij->i", vectors, vectors)
    if not len(squares):
        return 1.0
    longest, shortest = (float(np.sqrt(each)) for each in (squares.max(), squares.min()))
    return 1.0 if max(abs(longest - 1), abs(shortest - 1)) < UNIT_TOLERANCE else longest


@dataclass(frozen=True)
class Scoring(ABC, Generic[R]):
    """The documents of a search, and their scores for queries."""

    documents: R

    @cached_property
    def _reach(self) -> float:
        return reach_of(self.documents)

    @abstractmethod
    def products(self, queries: R) -> FloatArray:
        """Return the scores of all documents in float32, shape (n_queries, n_documents)."""

    @abstractmethod
    def bound(self, queries: R) -> float:
        """Return the largest error of a difference of two of these scores."""

    @abstractmethod
    def pairs(self, queries: R, documents: R) -> Float64Array:
        """Return the exact score of query i and document i, both of n rows, as shape (n,)."""

    def against(self, query: R, rows: IntArray) -> Float64Array:
        """Return the exact scores of one query, of one row, with some documents."""
        asking: Any = query
        documents: Any = self.documents
        return self.pairs(asking[np.zeros(len(rows), np.int64)], documents[rows])


class DenseScoring(Scoring[FloatArray]):
    """One vector per text, (n, dim): the dot product, which is the cosine of rows of length 1."""

    def products(self, queries: FloatArray) -> FloatArray:
        """See `Scoring`."""
        return np.asarray(queries @ self.documents.T)

    def bound(self, queries: FloatArray) -> float:
        """See `Scoring`."""
        return product_bound(self.documents.shape[1], self._reach * reach_of(queries))

    def pairs(self, queries: FloatArray, documents: FloatArray) -> Float64Array:
        """See `Scoring`."""
        exact: Float64Array = np.einsum("ij,ij->i", queries.astype(float), documents.astype(float))
        return exact

    def against(self, query: FloatArray, rows: IntArray) -> Float64Array:
        """See `Scoring`."""
        of = self._alike[rows] if len(rows) > MAX_SINGLE else rows
        distinct, places = np.unique(of, return_inverse=True)
        vectors = self.documents[distinct].astype(float)
        exact: Float64Array = np.einsum("j,ij->i", query[0].astype(float), vectors)
        return exact[places]

    @cached_property
    def _alike(self) -> IntArray:
        """The first of the rows with the same vector, for each row: duplicates are many at once."""
        first: dict[bytes, int] = {}
        rows = enumerate(self.documents)
        return np.array([first.setdefault(content_hash(v.tobytes()), i) for i, v in rows], np.int64)


class SparseScoring(Scoring[SparseRows]):
    """Weights of terms: the dot product over the terms that query and document share."""

    @cached_property
    def _postings(self) -> Any:
        return self.documents.matrix.T.tocsr()

    def products(self, queries: SparseRows) -> FloatArray:
        """See `Scoring`."""
        out = np.empty((len(queries), len(self.documents)), np.float32)
        step = max(1, PAIR_BYTES // (8 * max(1, len(self.documents))))
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            out[part] = (queries[part].matrix @ self._postings).toarray()
        return out

    def bound(self, queries: SparseRows) -> float:
        """See `Scoring`."""
        terms = int(np.diff(queries.matrix.indptr).max(initial=1))
        return product_bound(terms, self._reach * reach_of(queries))

    def pairs(self, queries: SparseRows, documents: SparseRows) -> Float64Array:
        """See `Scoring`."""
        shared = queries.matrix.astype(np.float64).multiply(documents.matrix.astype(np.float64))
        return np.asarray(shared.tocsr().sum(axis=1), np.float64).ravel()


class TokenScoring(Scoring[TokenRows]):
    """Late interaction (ColBERT, Khattab and Zaharia 2020, section 3.3, eq. 3): MaxSim.

    The sum, over the tokens of the query, of the largest dot product with a token of the document.
    """

    def products(self, queries: TokenRows) -> FloatArray:
        """See `Scoring`. Every text has a token."""
        out = np.empty((len(queries), len(self.documents)), np.float32)
        for part in _cut(self.documents.counts, BLOCK_TOKENS):
            block = self.documents[part]
            for some in _cut(queries.counts, PAIR_BYTES // (4 * BLOCK_TOKENS)):
                asking = queries[some]
                similarity = asking.vectors @ block.vectors.T  # (query tokens, document tokens)
                best = np.maximum.reduceat(similarity, block.starts[:-1], axis=1)
                starts = asking.starts[:-1]
                out[some, part] = np.add.reduceat(best, starts, axis=0, dtype=np.float64)
        return out

    def bound(self, queries: TokenRows) -> float:
        """See `Scoring`."""
        reach = self._reach * reach_of(queries)
        per_token = rounding_bound(self.documents.vectors.shape[1]) + 2.0**-22
        return float(queries.counts.max(initial=1)) * per_token * reach

    def pairs(self, queries: TokenRows, documents: TokenRows) -> Float64Array:
        """See `Scoring`."""
        out = np.zeros(len(queries))
        for i in range(len(queries)):
            similarity = queries.tokens(i).astype(float) @ documents.tokens(i).astype(float).T
            out[i] = similarity.max(axis=1).sum()
        return out


def _cut(counts: IntArray, most: int) -> Iterator[slice]:
    """Yield consecutive texts of at most `most` tokens together, unless one text has more."""
    start, total = 0, 0
    for i, count in enumerate(counts.tolist()):
        if i > start and total + count > most:
            yield slice(start, i)
            start, total = i, 0
        total += count
    if len(counts):
        yield slice(start, len(counts))
