"""Rows of encoders: one vector per text, weights of terms, or a vector per token.

A job that works with any of them takes `Rows` and never looks inside: parts of them are rows again,
and `argus.encoders.scoring` compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeVar

from argus.data.types import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

UNIT_TOLERANCE = 1e-3
"""Tolerance of a vector's length 1: half precision rounds by less."""

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = slice | IntArray | BoolArray


@dataclass(frozen=True)
class SparseRows:
    """Weights of terms, for sparse encoders: a row per text, a column per term of the vocabulary.

    matrix: (n, n_terms) float32, columns of a row ascending.
    """

    matrix: csr_array

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, places: Places) -> SparseRows:
        return SparseRows(self.matrix[places])

    def terms(self, row: int) -> tuple[IntArray, FloatArray]:
        """Return the terms of a row, by column, and their weights."""
        part = slice(self.matrix.indptr[row], self.matrix.indptr[row + 1])
        return self.matrix.indices[part].astype(np.int64), self.matrix.data[part]


@dataclass(frozen=True)
class TokenRows:
    """A vector per token, for late interaction: those of text i are `starts[i]:starts[i + 1]`.

    vectors: (n_tokens, dim) float32. starts: (n + 1,).
    """

    vectors: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, texts: Sequence[FloatArray], dim: int) -> TokenRows:
        """Return the rows of texts, of shape (n_tokens, dim) each."""
        counts = [len(vectors) for vectors in texts]
        empty = np.zeros((0, dim), np.float32)
        return cls(np.concatenate([empty, *texts]).astype(np.float32), starts_of(np.array(counts)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, places: Places) -> TokenRows:
        if isinstance(places, slice):
            first, last, step = places.indices(len(self))
            if step == 1:
                bounds = self.starts[first : max(first, last) + 1]
                return TokenRows(self.vectors[bounds[0] : bounds[-1]], bounds - bounds[0])
        rows = np.arange(len(self))[places]
        tokens = [self.tokens(row) for row in rows.tolist()]
        return TokenRows.of(tokens, self.vectors.shape[1])

    def tokens(self, row: int) -> FloatArray:
        """Return the token vectors of one text, shape (n_tokens, dim)."""
        vectors: FloatArray = self.vectors[self.starts[row] : self.starts[row + 1]]
        return vectors

    @property
    def counts(self) -> IntArray:
        """Tokens of every text, shape (n,)."""
        counts: IntArray = np.diff(self.starts)
        return counts


Rows: TypeAlias = FloatArray | SparseRows | TokenRows
Family = Literal["dense", "sparse", "tokens"]
R = TypeVar("R", bound=Rows, default=FloatArray)
"""Type parameter for rows. By default, one vector per text."""


def family_of(encoder: object) -> Family:
    """Return the kind of an encoder's rows. One vector per text by default."""
    family: Family = getattr(encoder, "family", "dense")
    return family


def empty_rows(family: Family, dim: int) -> Rows:
    """Return zero rows of a family. dim: length of a vector, or number of terms."""
    if family == "sparse":
        from scipy.sparse import csr_array

        return SparseRows(csr_array((0, dim), dtype=np.float32))
    if family == "tokens":
        return TokenRows.of([], dim)
    return np.zeros((0, dim), np.float32)


def starts_of(counts: IntArray) -> IntArray:
    """Return where each of some consecutive parts begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def concatenate(parts: Sequence[R]) -> R:
    """Return the rows of all parts, of which there is at least one, in their order."""
    like: Sequence[Any] = parts
    whole: Any
    if isinstance(like[0], SparseRows):
        from scipy.sparse import vstack

        whole = SparseRows(vstack([part.matrix for part in like], format="csr"))
    elif isinstance(like[0], TokenRows):
        counts = np.concatenate([part.counts for part in like])
        whole = TokenRows(np.concatenate([part.vectors for part in like]), starts_of(counts))
    else:
        whole = np.concatenate(like)
    return cast(R, whole)


def replaced(rows: R, places: BoolArray, others: R) -> R:
    """Return rows with others at some places, in order. An array is changed in place."""
    if isinstance(rows, np.ndarray):
        rows[places] = cast(FloatArray, others)
        return cast(R, rows)
    order = np.arange(len(rows))
    order[places] = len(rows) + np.arange(len(others))
    both: Any = concatenate([rows, others])
    return cast(R, both[order])


def arrays_of(rows: Rows) -> tuple[np.ndarray, ...]:
    """Return the arrays that determine rows."""
    if isinstance(rows, SparseRows):
        return rows.matrix.data, rows.matrix.indices, rows.matrix.indptr
    if isinstance(rows, TokenRows):
        return rows.vectors, rows.starts
    return (rows,)


def usable(rows: Rows, *, unit: bool = False) -> BoolArray:
    """Return which rows are finite and not empty or zero, shape (n,).

    unit: and which of an array are of length 1.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a torn block may hold anything
        if isinstance(rows, SparseRows):
            squares = rows.matrix.multiply(rows.matrix)
            lengths = np.asarray(squares.sum(axis=1)).ravel()
        elif isinstance(rows, TokenRows):
            squares = np.append((rows.vectors**2).sum(axis=1), 0)
            lengths = np.where(rows.counts > 0, np.add.reduceat(squares, rows.starts)[:-1], 0)
        else:
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            if unit:
                return np.asarray(np.abs(lengths - 1) <= UNIT_TOLERANCE)
    good: BoolArray = np.isfinite(lengths) & (lengths > 0)
    return good
