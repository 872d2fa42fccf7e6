"""Cache rows of one encoder on disk, by the content of their texts.

Layout of the folder: `store.json` (fingerprint, dim), `keys.bin` (16 bytes per row), and the rows.
Vectors are in `vectors.f32` (row-major float32). Sparse rows and rows of tokens are in `values.f32`
(weights, or token vectors, one behind the other), `columns.i32` (the term of each weight) and
`ends.i64` (where each row ends, in weights or tokens).

All files only grow, and a batch's keys are written last. A run killed at any moment leaves whole
rows under whole keys. Opening cuts off the rest, so at most the batch in flight is lost.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Self

import numpy as np

from argus.data.reading import parse_json, read_own, reading
from argus.data.types import FloatArray, IntArray
from argus.data.writing import check_plain, take_lock, write_whole
from argus.encoders.protocol import Family, R, Rows, SparseRows, TokenRows, parts_of
from argus.errors import ArgusError, EncoderMismatch, InputError

HEADER, KEYS, VECTORS = "store.json", "keys.bin", "vectors.f32"
VALUES, COLUMNS, ENDS = "values.f32", "columns.i32", "ends.i64"
# The cache in a folder of results, or of an index.
EMBEDDINGS = "embeddings"
KEY_BYTES = 16
# By folder: the cache that stands in for its own.
_shared: dict[Path, Path] = {}


class Store(ABC, Generic[R]):
    """An append-only map from content key to the rows of one encoder.

    Raises EncoderMismatch when `path` holds rows of another encoder, InputError when they are
    of another dim, and ArgusError when another process is writing to it. failures: reasons why
    there can be no row for a key.
    """

    def __init__(self, path: Path, *, fingerprint: str, dim: int) -> None:
        self.path, self.fingerprint, self.dim = path, fingerprint, dim
        self.failures: dict[bytes, str] = {}
        path.mkdir(parents=True, exist_ok=True)
        for name in path.iterdir():
            check_plain(name)
        busy = f"{path} is in use by another run; wait for it, or give another --cache."
        self._lock = take_lock(path / "lock", busy=busy)
        try:
            self._check_header()
            self._rows = self._recover()
        except BaseException:
            self._lock.close()
            raise

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock. The store may then be opened again."""
        self._lock.close()

    def rows(self, keys: Sequence[bytes]) -> IntArray:
        """Return the row of each key, -1 where it is not stored, as shape (len(keys),)."""
        return np.array([self._rows.get(key, -1) for key in keys], np.int64)

    def gather(self, keys: Sequence[bytes]) -> R:
        """Return the rows of `keys`. Raises KeyError if one is missing."""
        rows = self.rows(keys)
        if missing := int((rows < 0).sum()):
            raise KeyError(f"{missing} of {len(keys)} keys are not in {self.path}")
        return self._read(rows)

    def append(self, keys: Sequence[bytes], vectors: R) -> None:
        """Add one row under each of `keys`, durably. Keys that are there already stay."""
        chosen: Any = vectors
        shape = len(keys), getattr(chosen, "matrix", getattr(chosen, "vectors", chosen)).shape[1]
        if (len(vectors), self.dim) != shape:
            raise ValueError(f"{len(vectors)} rows of {shape[1]} numbers for {len(keys)} keys")
        new = list({key: i for i, key in enumerate(keys) if key not in self._rows}.values())
        if not new:
            return
        try:
            self._append_rows(chosen[np.array(new)])
            append_bytes(self.path / KEYS, b"".join(keys[i] for i in new))
        except OSError as error:
            self._rows = self._recover()
            raise ArgusError(
                f"{self.path}: writing vectors failed ({error.strerror}); the {len(self)} vectors "
                "already there are whole. Free some space and run the same command again."
            ) from error
        for i in new:
            self._rows[keys[i]] = len(self._rows)

    @abstractmethod
    def _read(self, rows: IntArray) -> R:
        """Return some rows."""

    @abstractmethod
    def _append_rows(self, vectors: R) -> None:
        """Write rows behind those that are there, durably."""

    @abstractmethod
    def _cut(self, most: int) -> int:
        """Cut the files back to at most so many whole rows. Return how many are left."""

    def _numbers(self, name: str, kind: str, *shape: int) -> Any:
        """Return the whole items of a file, memory-mapped. shape: of an item."""
        path, dtype = self.path / name, np.dtype((kind, shape))
        n = path.stat().st_size // dtype.itemsize if path.exists() else 0
        return np.memmap(path, kind, "r", shape=(n, *shape)) if n else np.zeros((0, *shape), kind)

    def _recover(self) -> dict[bytes, int]:
        """Read the keys, cut all files back to whole rows, return key -> row."""
        keys = self.path / KEYS
        n = self._cut(len(self._numbers(KEYS, "u1", KEY_BYTES)))
        _truncate(keys, n * KEY_BYTES)
        data = keys.read_bytes() if n else b""
        return {data[row * KEY_BYTES : (row + 1) * KEY_BYTES]: row for row in range(n)}

    def _check_header(self) -> None:
        """Write the header of a new store. Refuse one of other rows."""
        header = read_header(self.path)
        if header is None:
            own = {"fingerprint": self.fingerprint, "dim": self.dim}
            write_whole(self.path / HEADER, json.dumps(own, indent=2) + "\n")
        elif header["fingerprint"] != self.fingerprint:
            raise EncoderMismatch(self.path, stored=header["fingerprint"], given=self.fingerprint)
        elif header["dim"] != self.dim:
            got = f"says dim {header['dim']}, the encoder makes vectors of {self.dim}"
            fix = "Restore it from a copy, give another --cache, or start over with --fresh."
            raise InputError(got, expected="one dimension", fix=fix, where=self.path / HEADER)


class EmbeddingStore(Store[FloatArray]):
    """One vector per text, memory-mapped. It may hold others that were made before, in memory."""

    def __init__(self, path: Path, *, fingerprint: str, dim: int) -> None:
        self._held: FloatArray = np.zeros((0, dim), np.float32)
        self._held_rows: dict[bytes, int] = {}
        super().__init__(path, fingerprint=fingerprint, dim=dim)

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows or key in self._held_rows

    def lay_over(
        self, keys: Sequence[bytes], vectors: FloatArray, broken: Mapping[int, str]
    ) -> None:
        """Answer from these vectors first, until the store is closed: none goes to the disk.

        vectors: (len(keys), dim). broken: position to the reason why it has no vector.
        """
        self._held, self._held_rows = vectors, {}
        self.failures = {keys[position]: why for position, why in broken.items()}
        for row, key in enumerate(keys):
            if key not in self.failures:
                self._held_rows.setdefault(key, row)

    @property
    def vectors(self) -> FloatArray:
        """All vectors on the disk, shape (len(self), dim), memory-mapped and read-only."""
        vectors: FloatArray = self._numbers(VECTORS, "<f4", self.dim)
        return vectors

    def rows(self, keys: Sequence[bytes]) -> IntArray:
        """See `Store`. Rows of held vectors come after those on the disk."""
        if not self._held_rows:
            return super().rows(keys)
        n = len(self)
        rows = ((self._held_rows.get(key), self._rows.get(key, -1)) for key in keys)
        return np.array([own if row is None else n + row for row, own in rows], np.int64)

    def _read(self, rows: IntArray) -> FloatArray:
        if not self._held_rows:
            return np.asarray(self.vectors[rows])
        out = np.empty((len(rows), self.dim), np.float32)
        held = rows >= len(self)
        out[held] = self._held[rows[held] - len(self)]
        out[~held] = self.vectors[rows[~held]]
        return out

    def _append_rows(self, vectors: FloatArray) -> None:
        append_bytes(self.path / VECTORS, vectors.astype("<f4").tobytes())

    def _cut(self, most: int) -> int:
        n = min(most, len(self.vectors))
        _truncate(self.path / VECTORS, n * 4 * self.dim)
        return n


class RaggedStore(Store[Any]):
    """Rows of different length: weights of terms, or vectors of tokens.

    dim: number of terms, or length of a token's vector.
    """

    def __init__(self, path: Path, *, fingerprint: str, dim: int, is_sparse: bool) -> None:
        self._is_sparse = is_sparse
        super().__init__(path, fingerprint=fingerprint, dim=dim)

    def _values(self) -> Any:
        return self._numbers(VALUES, "<f4", *(() if self._is_sparse else (self.dim,)))

    def _read(self, rows: IntArray) -> Rows:
        ends = self._numbers(ENDS, "<i8")[: len(self)]
        places, starts = parts_of(np.concatenate([[0], ends]), rows)
        values = np.asarray(self._values()[places])
        if not self._is_sparse:
            return TokenRows(values, starts)
        from scipy.sparse import csr_array

        columns = self._numbers(COLUMNS, "<i4")[places]
        return SparseRows(csr_array((values, columns, starts), shape=(len(rows), self.dim)))

    def _append_rows(self, vectors: SparseRows | TokenRows) -> None:
        ends = self._numbers(ENDS, "<i8")
        if isinstance(vectors, SparseRows):
            values, starts = vectors.matrix.data, vectors.matrix.indptr
        else:
            values, starts = vectors.vectors, vectors.starts
        append_bytes(self.path / VALUES, values.astype("<f4").tobytes())
        if isinstance(vectors, SparseRows):
            append_bytes(self.path / COLUMNS, vectors.matrix.indices.astype("<i4").tobytes())
        own_ends = starts[1:].astype("<i8") + (ends[-1] if len(ends) else 0)
        append_bytes(self.path / ENDS, own_ends.tobytes())

    def _cut(self, most: int) -> int:
        ends, n_values = self._numbers(ENDS, "<i8")[:most], len(self._values())
        if self._is_sparse:
            n_values = min(n_values, len(self._numbers(COLUMNS, "<i4")))
        n = int(np.searchsorted(ends, n_values, side="right"))
        last = int(ends[n - 1]) if n else 0
        _truncate(self.path / ENDS, n * 8)
        _truncate(self.path / VALUES, last * 4 * (1 if self._is_sparse else self.dim))
        _truncate(self.path / COLUMNS, last * 4)
        return n


def open_store(family: Family, path: Path, *, fingerprint: str, dim: int) -> Store[Any]:
    """Open the store of an encoder's rows. dim: length of a vector, or number of terms."""
    if family == "dense":
        return EmbeddingStore(path, fingerprint=fingerprint, dim=dim)
    return RaggedStore(path, fingerprint=fingerprint, dim=dim, is_sparse=family == "sparse")


def store_of(folder: Path) -> Path:
    """Return the cache of a folder of results, or of an index. No link is followed."""
    return _shared.get(folder.resolve()) or check_plain(folder / EMBEDDINGS)


@contextmanager
def sharing(folder: Path, store: Path) -> Iterator[None]:
    """Let another cache stand in for a folder's own, within the context."""
    _shared[folder.resolve()] = store
    try:
        yield
    finally:
        del _shared[folder.resolve()]


def read_header(path: Path) -> dict[str, Any] | None:
    """Return the fingerprint and dim of the store at `path`. None if there is no store."""
    header = path / HEADER
    if not header.is_file():
        return None
    got, expected = "is not the header of an embedding store", 'JSON with "fingerprint" and "dim"'
    with reading(header, got, expected=expected, fix="Give another --cache, or --fresh."):
        content = parse_json(read_own(header))
        return {"fingerprint": str(content["fingerprint"]), "dim": content["dim"]}


def append_bytes(path: Path, data: bytes) -> None:
    """Append to a file, and wait until the disk confirms it."""
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _truncate(path: Path, size: int) -> None:
    """Cut a file back to a size, if it is larger."""
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)
