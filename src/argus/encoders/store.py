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

from argus.data.provenance import content_hash
from argus.data.reading import parse_json, read_own, reading
from argus.data.types import FloatArray, IntArray
from argus.data.writing import check_plain, take_lock, write_whole
from argus.encoders.rows import Family, R, Rows, SparseRows, TokenRows, starts_of
from argus.errors import ArgusError, EncoderMismatch, InputError

HEADER, KEYS, VECTORS = "store.json", "keys.bin", "vectors.f32"
VALUES, COLUMNS, ENDS = "values.f32", "columns.i32", "ends.i64"
EMBEDDINGS = "embeddings"
"""The cache in a folder of results, or of an index."""
KEY_BYTES = 16
LARGE_BYTES = 2 << 30
"""Larger results are gathered on the disk, not in memory."""
GATHER_ROWS, HELD_ROWS = 1 << 16, 1 << 14
"""Rows in one copy to the disk, and of held vectors in one write."""
_GATHERED = "gathered-*.f32"
_shared: dict[Path, Path] = {}
"""By folder: the cache that stands in for its own."""


class Store(ABC, Generic[R]):
    """An append-only map from content key to the rows of one encoder.

    Raises EncoderMismatch when `path` holds rows of another encoder, InputError when they are
    of another dim, and ArgusError when another process is writing to it. writes: False to read
    only: nothing changes on the disk.
    """

    family: Family = "dense"

    def __init__(self, path: Path, *, fingerprint: str, dim: int, writes: bool = True) -> None:
        self.path, self.fingerprint, self.dim, self._writes = path, fingerprint, dim, writes
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

    @property
    def mapped_dim(self) -> int:
        """Numbers in a gathered row that may be part of a file, or 0 if all are in memory."""
        return 0

    def failure(self, key: bytes) -> str | None:
        """Return why there can be no row for a key. None if there is one, or can be."""
        return None

    def keep(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return keys that find the rows of `keys` on the disk, writing them there if need be."""
        return list(keys)

    def rows(self, keys: Sequence[bytes]) -> IntArray:
        """Return the row of each key, -1 where it is not stored, as shape (len(keys),)."""
        return np.array([self._rows.get(key, -1) for key in keys], np.int64)

    def rows_stored(self, keys: Sequence[bytes]) -> IntArray:
        """Return the row of each key. Raises KeyError if one is not stored."""
        rows = self.rows(keys)
        if (rows < 0).any():
            raise KeyError(f"{int((rows < 0).sum())} of {len(keys)} keys are not in {self.path}")
        return rows

    def gather(self, keys: Sequence[bytes]) -> R:
        """Return the rows of `keys`. Raises KeyError if one is missing."""
        return self._read(self.rows_stored(keys))

    def append(self, keys: Sequence[bytes], vectors: R) -> None:
        """Add one row under each of `keys`, durably. Keys that are there already stay."""
        if not self._writes:
            raise ValueError(f"{self.path} was opened to be read")
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

    def _cut_file(self, path: Path, size: int) -> None:
        """Cut a file back to a size, if it is larger and the store may be written."""
        if self._writes and path.exists() and path.stat().st_size > size:
            os.truncate(path, size)

    def _recover(self) -> dict[bytes, int]:
        """Read the keys, cut all files back to whole rows, return key -> row."""
        keys = self.path / KEYS
        n = self._cut(_count(keys, KEY_BYTES))
        self._cut_file(keys, n * KEY_BYTES)
        data = keys.read_bytes() if n else b""
        return {data[row * KEY_BYTES : (row + 1) * KEY_BYTES]: row for row in range(n)}

    def _check_header(self) -> None:
        """Write the header of a new store. Refuse one of other rows."""
        stored, family, dim = _header(self.path)
        if stored is None:
            kind = {} if self.family == "dense" else {"family": self.family}
            header = {"fingerprint": self.fingerprint, "dim": self.dim, **kind}
            write_whole(self.path / HEADER, json.dumps(header, indent=2) + "\n")
        elif stored != self.fingerprint:
            raise EncoderMismatch(self.path, stored=stored, given=self.fingerprint)
        elif family != self.family:
            got = f"holds {family} rows"
            expected = f"{self.family} ones"
            raise InputError(got, expected=expected, fix="Give another --cache.", where=self.path)
        elif dim is not None and dim != self.dim:
            got = f"says dim {dim}, the encoder makes vectors of {self.dim}"
            fix = "Restore it from a copy, give another --cache, or start over with --fresh."
            raise InputError(got, expected="one dimension", fix=fix, where=self.path / HEADER)


class EmbeddingStore(Store[FloatArray]):
    """One vector per text, memory-mapped. It may hold others that were made before, in memory."""

    def __init__(self, path: Path, *, fingerprint: str, dim: int, writes: bool = True) -> None:
        self._held: FloatArray | None = None
        self._held_rows: dict[bytes, int] = {}
        self._failures: dict[bytes, str] = {}
        super().__init__(path, fingerprint=fingerprint, dim=dim, writes=writes)
        self._remove_gathered()  # of a run that was killed

    def close(self) -> None:
        """Release the lock. The store may then be opened again.

        Large arrays that `gather` returned stay readable here, but their files are gone.
        """
        self._remove_gathered()
        super().close()

    @property
    def mapped_dim(self) -> int:
        """See `Store`."""
        return self.dim

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows or key in self._held_rows

    def lay_over(
        self, keys: Sequence[bytes], vectors: FloatArray, broken: Mapping[int, str]
    ) -> None:
        """Answer from these vectors first, until the store is closed: none goes to the disk.

        vectors: (len(keys), dim). broken: position to the reason why it has no vector. Raises
        ValueError for vectors of another dimension.
        """
        if vectors.shape[1] != self.dim:
            raise ValueError(f"vectors are {vectors.shape}, expected (n, {self.dim})")
        self._held, self._held_rows = vectors, {}
        self._failures = {keys[position]: why for position, why in broken.items()}
        for row, key in enumerate(keys):
            if key not in self._failures:
                self._held_rows.setdefault(key, row)

    def failure(self, key: bytes) -> str | None:
        """See `Store`."""
        return self._failures.get(key)

    def keep(self, keys: Sequence[bytes]) -> list[bytes]:
        """See `Store`. A held vector is stored under its own hash: no text can find it later."""
        if self._held is None:
            return list(keys)
        held = {key: row for key in keys if (row := self._held_rows.get(key)) is not None}
        rows, own = list(held.values()), list[bytes]()
        for start in range(0, len(rows), HELD_ROWS):  # of millions, all at once are a copy of all
            vectors = self._held[rows[start : start + HELD_ROWS]]
            own_of = [content_hash("held", vector.tobytes()) for vector in vectors]
            self.append(own_of, vectors)
            own += own_of
        own_key = dict(zip(held, own, strict=True))
        return [own_key.get(key, key) for key in keys]

    @property
    def vectors(self) -> FloatArray:
        """All vectors on the disk, shape (len(self), dim), memory-mapped and read-only."""
        shape = len(self), self.dim
        if not len(self):
            return np.zeros(shape, np.float32)
        return np.memmap(self.path / VECTORS, np.float32, "r", shape=shape)

    def rows(self, keys: Sequence[bytes]) -> IntArray:
        """See `Store`. Rows of held vectors come after those on the disk."""
        if self._held is None:
            return super().rows(keys)
        n = len(self)
        rows = ((self._held_rows.get(key), self._rows.get(key, -1)) for key in keys)
        return np.array([own if row is None else n + row for row, own in rows], np.int64)

    def gather(self, keys: Sequence[bytes]) -> FloatArray:
        """Return the vectors of `keys`, shape (len(keys), dim). Raises KeyError if one is missing.

        Beyond LARGE_BYTES they are a memory-mapped, read-only file in the store's folder, which
        is removed when the store is closed.
        """
        rows = self.rows_stored(keys)
        n_bytes = 4 * self.dim * len(rows)
        if n_bytes <= LARGE_BYTES:
            return self._read(rows)
        path = self.path / _GATHERED.replace("*", str(len(list(self.path.glob(_GATHERED)))))
        try:
            with path.open("wb") as file:
                for start in range(0, len(rows), GATHER_ROWS):
                    file.write(self._read(rows[start : start + GATHER_ROWS]).tobytes())
        except OSError as error:
            path.unlink(missing_ok=True)
            raise ArgusError(
                f"{path}: gathering {len(rows):,} vectors failed ({error.strerror}); the store is "
                f"whole. Free {n_bytes / 1e9:.1f} GB and run the same command again."
            ) from error
        return np.memmap(path, np.float32, "r", shape=(len(rows), self.dim))

    def _remove_gathered(self) -> None:
        for path in self.path.glob(_GATHERED):
            path.unlink(missing_ok=True)

    def _read(self, rows: IntArray) -> FloatArray:
        if self._held is None:
            return np.ascontiguousarray(self.vectors[rows])
        out = np.empty((len(rows), self.dim), np.float32)
        held = rows >= len(self)
        out[held] = self._held[rows[held] - len(self)]
        out[~held] = self.vectors[rows[~held]]
        return out

    def _append_rows(self, vectors: FloatArray) -> None:
        append_bytes(self.path / VECTORS, vectors.astype("<f4").tobytes())

    def _cut(self, most: int) -> int:
        n = min(most, _count(self.path / VECTORS, 4 * self.dim))
        self._cut_file(self.path / VECTORS, n * 4 * self.dim)
        return n


class _RaggedStore(Store[Any]):
    """Rows of different length, made of values: weights, or token vectors."""

    def _append_parts(self, values: FloatArray, columns: IntArray | None, counts: IntArray) -> None:
        append_bytes(self.path / VALUES, values.astype("<f4").tobytes())
        if columns is not None:
            append_bytes(self.path / COLUMNS, columns.astype("<i4").tobytes())
        last = int(self._map(ENDS, "<i8")[-1]) if len(self) else 0
        append_bytes(self.path / ENDS, (last + np.cumsum(counts)).astype("<i8").tobytes())

    def _map(self, name: str, kind: str) -> Any:
        """Return all numbers of a file, memory-mapped."""
        n = _count(self.path / name, np.dtype(kind).itemsize)
        return np.memmap(self.path / name, kind, "r", shape=(n,)) if n else np.zeros(0, kind)

    def _places(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions of the values of rows, in their order, and where each begins."""
        ends = self._map(ENDS, "<i8")[: len(self)]
        starts = np.concatenate([[0], ends])[rows]
        counts = ends[rows] - starts
        begin = starts_of(counts)
        within = np.arange(begin[-1]) - np.repeat(begin[:-1], counts)
        return np.repeat(starts, counts) + within, begin

    def _cut(self, most: int) -> int:
        ends = self._map(ENDS, "<i8")
        is_sparse = self.family == "sparse"
        width = 1 if is_sparse else self.dim  # numbers in a value
        n_values = _count(self.path / VALUES, 4 * width)
        if is_sparse:
            n_values = min(n_values, _count(self.path / COLUMNS, 4))
        whole = ends <= n_values
        whole[1:] &= ends[1:] >= ends[:-1]
        n = min(most, len(ends) if whole.all() else int(whole.argmin()))
        values = int(ends[n - 1]) if n else 0
        del ends  # a mapped file cannot be cut everywhere
        self._cut_file(self.path / ENDS, n * 8)
        self._cut_file(self.path / VALUES, values * 4 * width)
        self._cut_file(self.path / COLUMNS, values * 4)
        return n


class SparseStore(_RaggedStore):
    """Weights of terms. dim: number of terms."""

    family: Family = "sparse"

    def _read(self, rows: IntArray) -> SparseRows:
        from scipy.sparse import csr_array

        places, starts = self._places(rows)
        values, columns = self._map(VALUES, "<f4")[places], self._map(COLUMNS, "<i4")[places]
        return SparseRows(csr_array((values, columns, starts), shape=(len(rows), self.dim)))

    def _append_rows(self, vectors: SparseRows) -> None:
        matrix = vectors.matrix
        self._append_parts(matrix.data, matrix.indices, np.diff(matrix.indptr))


class TokenStore(_RaggedStore):
    """Vectors of tokens. dim: length of one."""

    family: Family = "tokens"

    def _read(self, rows: IntArray) -> TokenRows:
        places, starts = self._places(rows)
        values = self._map(VALUES, "<f4").reshape(-1, self.dim)
        return TokenRows(np.asarray(values[places], np.float32), starts)

    def _append_rows(self, vectors: TokenRows) -> None:
        self._append_parts(vectors.vectors, None, vectors.counts)


def open_store(family: Family, path: Path, *, fingerprint: str, dim: int) -> Store[Rows]:
    """Open the store of an encoder's rows. dim: length of a vector, or number of terms."""
    kinds: dict[Family, Any] = {
        "dense": EmbeddingStore,
        "sparse": SparseStore,
        "tokens": TokenStore,
    }
    store: Store[Rows] = kinds[family](path, fingerprint=fingerprint, dim=dim)
    return store


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


def stored_fingerprint(path: Path) -> str | None:
    """Return the fingerprint of the store at `path`. None if there is no store."""
    return _header(path)[0]


def stored_dim(path: Path) -> Any:
    """Return the dim in the header of the store at `path`. None if it has none."""
    return _header(path)[2]


def _header(path: Path) -> tuple[str | None, str, Any]:
    """Return fingerprint (None without a header), family and dim of store.json."""
    header = path / HEADER
    if not header.is_file():
        return None, "dense", None
    got, expected = "is not the header of an embedding store", 'JSON with "fingerprint" and "dim"'
    with reading(header, got, expected=expected, fix="Give another --cache, or --fresh."):
        content = parse_json(read_own(header))
        return str(content["fingerprint"]), str(content.get("family", "dense")), content.get("dim")


def _count(path: Path, size: int) -> int:
    """Return the number of whole items in a file."""
    return path.stat().st_size // size if path.exists() else 0


def append_bytes(path: Path, data: bytes) -> None:
    """Append to a file, and wait until the disk confirms it."""
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
