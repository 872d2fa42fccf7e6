"""Rows of different length on disk: weights of terms, or a vector per token.

Layout of the folder: as in `argus.encoders.store`, but `values.f32` holds what all rows are made
of, one behind the other (weights, or token vectors), `columns.i32` the term of each weight, and
`ends.i64` where each row ends, in weights or tokens. A batch is written in the order values,
columns, ends, keys: whatever a kill leaves is cut back to whole rows under whole keys, and so are
rows behind an end that cannot be.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray, IntArray
from argus.encoders.rows import (
    BoolArray,
    Family,
    Rows,
    SparseRows,
    TokenRows,
    starts_of,
    usable,
)
from argus.encoders.store import EmbeddingStore, Store, append_bytes

VALUES, COLUMNS, ENDS = "values.f32", "columns.i32", "ends.i64"
_END_BYTES = 8


class _RaggedStore(Store[Any]):
    """What both kinds share. dim: length of a token vector, or number of terms."""

    columns = False
    """Whether there is a column beside every value."""

    @property
    def width(self) -> int:
        """Numbers in a value: one weight, or all of a token vector."""
        return 1 if self.columns else self.dim

    def _append_parts(self, values: FloatArray, columns: IntArray | None, counts: IntArray) -> None:
        append_bytes(self.path / VALUES, values.astype("<f4").tobytes())
        if columns is not None:
            append_bytes(self.path / COLUMNS, columns.astype("<i4").tobytes())
        last = int(self._ends()[-1]) if len(self) else 0
        append_bytes(self.path / ENDS, (last + np.cumsum(counts)).astype("<i8").tobytes())

    def _ends(self) -> IntArray:
        ends: IntArray = _mapped(self.path / ENDS, "<i8")
        return ends

    @abstractmethod
    def _read(self, rows: IntArray) -> Any:
        """Return rows that are on the disk."""

    def gather(self, keys: Sequence[bytes]) -> Any:
        """Return the rows of `keys`; KeyError if one is missing."""
        return self._read(self.rows_stored(keys))

    def _are_whole(self, rows: IntArray, *, unit: bool) -> BoolArray:
        return usable(self._read(rows))

    def _places(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions of the values of rows, in their order, and where each begins."""
        ends = self._ends()[: len(self)]
        starts = np.concatenate([[0], ends])[rows]
        counts = ends[rows] - starts
        begin = starts_of(counts)
        within = np.arange(begin[-1]) - np.repeat(begin[:-1], counts)
        return np.repeat(starts, counts) + within, begin

    def _cut(self, most: int) -> int:
        ends = self._ends()
        sizes = [_items(self.path / VALUES, 4 * self.width)]
        if self.columns:
            sizes.append(_items(self.path / COLUMNS, 4))
        whole = ends <= min(sizes)
        whole[1:] &= ends[1:] >= ends[:-1]
        n = min(most, len(ends) if whole.all() else int(whole.argmin()))
        values = int(ends[n - 1]) if n else 0
        del ends  # a mapped file cannot be cut everywhere
        self._cut_file(self.path / ENDS, n * _END_BYTES)
        self._cut_file(self.path / VALUES, values * 4 * self.width)
        self._cut_file(self.path / COLUMNS, values * 4)
        return n


class SparseStore(_RaggedStore):
    """Weights of terms. dim: number of terms."""

    family: Family = "sparse"
    columns = True

    def _are_whole(self, rows: IntArray, *, unit: bool) -> BoolArray:
        places, starts = self._places(rows)
        columns = _mapped(self.path / COLUMNS, "<i4")[places]
        owner = np.repeat(np.arange(len(rows)), np.diff(starts))
        odd = (columns < 0) | (columns >= self.dim)
        odd[1:] |= (np.diff(columns) <= 0) & (np.diff(owner) == 0)
        good: BoolArray = np.bincount(owner[odd], minlength=len(rows)) == 0
        good[good] = super()._are_whole(rows[good], unit=unit)
        return good

    def _read(self, rows: IntArray) -> SparseRows:
        from scipy.sparse import csr_array

        places, starts = self._places(rows)
        values = _mapped(self.path / VALUES, "<f4")[places]
        columns = _mapped(self.path / COLUMNS, "<i4")[places]
        shape = len(rows), self.dim
        return SparseRows(csr_array((values, columns, starts), shape=shape))

    def _check_shape(self, keys: Sequence[bytes], vectors: SparseRows) -> None:
        if vectors.matrix.shape != (len(keys), self.dim):
            shape = vectors.matrix.shape
            raise ValueError(f"rows are {shape}, expected ({len(keys)}, {self.dim})")

    def _append_rows(self, vectors: SparseRows) -> None:
        matrix = vectors.matrix
        self._append_parts(matrix.data, matrix.indices, np.diff(matrix.indptr))


class TokenStore(_RaggedStore):
    """Vectors of tokens. dim: length of one."""

    family: Family = "tokens"

    def _read(self, rows: IntArray) -> TokenRows:
        places, starts = self._places(rows)
        values = _mapped(self.path / VALUES, "<f4").reshape(-1, self.dim)
        return TokenRows(np.asarray(values[places], np.float32), starts)

    def _check_shape(self, keys: Sequence[bytes], vectors: TokenRows) -> None:
        if len(vectors) != len(keys) or vectors.vectors.shape[1] != self.dim:
            shape = (len(vectors), *vectors.vectors.shape)
            raise ValueError(f"rows are {shape}, expected ({len(keys)}, n_tokens, {self.dim})")

    def _append_rows(self, vectors: TokenRows) -> None:
        self._append_parts(vectors.vectors, None, vectors.counts)


def open_store(family: Family, path: Path, *, fingerprint: str, dim: int) -> Store[Rows]:
    """Open the store of an encoder's rows; dim: length of a vector, or number of terms."""
    kinds: dict[Family, Any] = {
        "dense": EmbeddingStore, "sparse": SparseStore, "tokens": TokenStore
    }  # fmt: skip
    store: Store[Rows] = kinds[family](path, fingerprint=fingerprint, dim=dim)
    return store


def _items(path: Path, size: int) -> int:
    return path.stat().st_size // size if path.exists() else 0


def _mapped(path: Path, kind: str) -> Any:
    """Return the whole numbers of a file, memory-mapped."""
    n = _items(path, np.dtype(kind).itemsize)
    return np.memmap(path, kind, "r", shape=(n,)) if n else np.zeros(0, kind)
