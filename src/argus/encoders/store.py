"""Vectors on disk: memory-mapped, keyed by content, bound to one encoder's fingerprint.

Layout of the folder: `store.json` (fingerprint, dim), `vectors.f32` (row-major float32) and
`keys.bin` (16 bytes per row). Both data files only grow. A batch's vectors reach the disk before
its keys, so a run killed at any moment leaves whole rows under whole keys; opening cuts off the
rest, and at most the batch in flight is lost. A disk can still lose what it said it has: rows are
checked before they are read (`Store.forget_broken`), and broken ones stay where they are, without
a key. Rows of a sparse encoder, or of tokens, have files of their own (`argus.encoders.ragged`).
"""

from __future__ import annotations

import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Self

import numpy as np

from argus.data.provenance import content_hash
from argus.data.reading import parse_json, read_own
from argus.data.types import FloatArray, IntArray
from argus.data.writing import check_plain, take_lock, write_whole
from argus.encoders.held import HeldVectors
from argus.encoders.rows import BoolArray, Family, R, usable
from argus.errors import ArgusError, FingerprintMismatch, InputError

HEADER = "store.json"
EMBEDDINGS = "embeddings"
"""The store of vectors in a folder of results, or of an index."""
_shared: dict[Path, Path] = {}
"""By folder: the store that stands in for its own."""
KEY_BYTES = 16
LARGE_BYTES = 2 << 30
"""Vectors of more bytes than this are gathered on the disk, not in memory."""
GATHER_ROWS = 1 << 16
KEEP_ROWS = 1 << 14
CHECK_ROWS = 1 << 12
"""A block of so many vectors is checked within the caches."""
_GATHERED = "gathered-*.f32"


class Store(ABC, Generic[R]):
    """An append-only map from content key to the rows of one encoder.

    Raises FingerprintMismatch when `path` holds rows of another encoder, InputError when they are
    of another dim, and ArgusError when another process is writing to it. Keys are in `keys.bin`,
    which is written last. writes: False for who only reads: nothing of it changes on the disk.
    """

    family: Family = "dense"

    def __init__(self, path: Path, *, fingerprint: str, dim: int, writes: bool = True) -> None:
        self.path, self.fingerprint, self.dim, self._writes = path, fingerprint, dim, writes
        path.mkdir(parents=True, exist_ok=True)
        for name in path.iterdir():
            check_plain(name)
        busy = f"{path} is in use by another run; wait for it, or give another --store."
        self._lock = take_lock(path / "lock", busy=busy)
        try:
            self._check_fingerprint()
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
        """Release the lock; the store may then be opened again."""
        self._lock.close()

    @property
    def mapped_dim(self) -> int:
        """Numbers in a gathered row that may be a part of a file; 0 where all are in memory."""
        return 0

    def failure(self, key: bytes) -> str | None:
        """Return why there can be no row for a key; None where there is one, or can be."""
        return None

    def keep(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return keys that find the rows of `keys` on the disk, written there where need be."""
        return list(keys)

    def rows(self, keys: Sequence[bytes]) -> IntArray:
        """Return the row of each key, -1 where it is not stored; shape (len(keys),)."""
        return np.array([self._rows.get(key, -1) for key in keys], np.int64)

    def rows_stored(self, keys: Sequence[bytes]) -> IntArray:
        """Return the row of each key; KeyError if one is not stored."""
        rows = self.rows(keys)
        if (rows < 0).any():
            raise KeyError(f"{int((rows < 0).sum())} of {len(keys)} keys are not in {self.path}")
        return rows

    def forget_broken(self, keys: Sequence[bytes], *, unit: bool = False) -> int:
        """Count the rows of `keys` that cannot be what was written, and take their keys from them.

        A torn block of a disk is zeros, or anything. The keys are missing then, durably where the
        store may be written. unit: vectors that are not of length 1 are broken, too.
        """
        rows = np.sort(self.rows(keys))
        rows = rows[(rows >= 0) & (rows < len(self))]  # what is held is not on the disk
        blocks = (rows[i : i + CHECK_ROWS] for i in range(0, len(rows), CHECK_ROWS))
        broken = {
            row for block in blocks for row in block[~self._are_whole(block, unit=unit)].tolist()
        }
        lost = {key: row for key, row in self._rows.items() if row in broken} if broken else {}
        if lost and self._writes:
            self._forget(lost)
        for key, row in lost.items():
            del self._rows[key]
            self._rows[_no_key(row)] = row
        return len(broken)

    def _forget(self, lost: Mapping[bytes, int]) -> None:
        with (self.path / "keys.bin").open("r+b") as file:
            for row in lost.values():
                file.seek(row * KEY_BYTES)
                file.write(_no_key(row))
            file.flush()
            os.fsync(file.fileno())

    @abstractmethod
    def _are_whole(self, rows: IntArray, *, unit: bool) -> BoolArray:
        """Return which of some rows on the disk can be what was written, shape (n,)."""

    @abstractmethod
    def gather(self, keys: Sequence[bytes]) -> R:
        """Return the rows of `keys`; KeyError if one is missing."""

    def append(self, keys: Sequence[bytes], vectors: R) -> None:
        """Add one row under each of `keys`, durably. Keys that are there already stay."""
        if not self._writes:
            raise ValueError(f"{self.path} was opened to be read")
        self._check_shape(keys, vectors)
        new = [i for i, key in enumerate(keys) if key not in self._rows]
        new = list({keys[i]: i for i in new}.values())
        if not new:
            return
        chosen: Any = vectors
        try:
            self._append_rows(chosen[np.array(new)])
            append_bytes(self.path / "keys.bin", b"".join(keys[i] for i in new))
        except OSError as error:
            self._rows = self._recover()
            raise ArgusError(
                f"{self.path}: writing vectors failed ({error.strerror}); the {len(self)} vectors "
                "already there are whole. Free some space and run the same command again."
            ) from error
        for i in new:
            self._rows[keys[i]] = len(self._rows)

    @abstractmethod
    def _check_shape(self, keys: Sequence[bytes], vectors: R) -> None:
        """Raise ValueError for rows that do not fit the keys or the store."""

    @abstractmethod
    def _append_rows(self, vectors: R) -> None:
        """Write rows behind those that are there, durably."""

    @abstractmethod
    def _cut(self, most: int) -> int:
        """Cut the files back to at most so many whole rows; return how many are left."""

    def _cut_file(self, path: Path, size: int) -> None:
        """Cut a file back to a size, where it is larger and the store may be written."""
        if self._writes and path.exists() and path.stat().st_size > size:
            os.truncate(path, size)

    def _recover(self) -> dict[bytes, int]:
        """Read the keys, cut all files back to whole rows, return key -> row."""
        keys = self.path / "keys.bin"
        size = keys.stat().st_size if keys.exists() else 0
        n = self._cut(size // KEY_BYTES)
        self._cut_file(keys, n * KEY_BYTES)
        with keys.open("rb") if keys.exists() else io.BytesIO() as file:
            data = file.read(n * KEY_BYTES)
        rows: dict[bytes, int] = {}
        for row in range(n):
            key = data[row * KEY_BYTES : (row + 1) * KEY_BYTES]
            rows[_no_key(row) if key in rows else key] = row  # twice: a torn block of zeros
        return rows

    def _check_fingerprint(self) -> None:
        stored, family, dim = _header(self.path)
        if stored is None and (self.path / "keys.bin").exists():
            raise InputError(
                "holds vectors but no store.json, so nobody can tell which encoder made them",
                expected="the header that Argus wrote",
                fix="Put it back, give another --store, or start over with --fresh.",
                where=self.path,
            )
        if stored is None:
            kind = {} if self.family == "dense" else {"family": self.family}
            header = {"fingerprint": self.fingerprint, "dim": self.dim, **kind}
            write_whole(self.path / HEADER, json.dumps(header, indent=2) + "\n")
        elif stored != self.fingerprint:
            raise FingerprintMismatch(self.path, stored=stored, given=self.fingerprint)
        elif family != self.family:
            raise InputError(
                f"holds {family} rows",
                expected=f"{self.family} ones",
                fix="Give another --store.",
                where=self.path,
            )
        elif dim is not None and dim != self.dim:
            raise InputError(
                f"says dim {dim}, the encoder makes vectors of {self.dim}",
                expected="one dimension",
                fix="Restore it from a copy, give another --store, or start over with --fresh.",
                where=self.path / HEADER,
            )


class EmbeddingStore(Store[FloatArray]):
    """One vector per text: `vectors.f32`, memory-mapped."""

    def __init__(self, path: Path, *, fingerprint: str, dim: int, writes: bool = True) -> None:
        self._mapped: FloatArray | None = None
        self._held: HeldVectors | None = None
        super().__init__(path, fingerprint=fingerprint, dim=dim, writes=writes)
        self._remove_gathered()  # of a run that was killed

    def close(self) -> None:
        """Release the lock; the store may then be opened again.

        Large arrays that `gather` gave stay readable here, but their files are gone.
        """
        self._mapped = None
        self._remove_gathered()
        super().close()

    @property
    def mapped_dim(self) -> int:
        """See `Store`."""
        return self.dim

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows or (self._held is not None and key in self._held.rows)

    def lay_over(self, held: HeldVectors) -> None:
        """Answer from these vectors first, until the store is closed: none goes to the disk.

        Raises ValueError for vectors of another dimension.
        """
        if held.vectors.shape[1] != self.dim:
            raise ValueError(f"vectors are {held.vectors.shape}, expected (n, {self.dim})")
        self._held = held

    def failure(self, key: bytes) -> str | None:
        """See `Store`."""
        return None if self._held is None else self._held.failures.get(key)

    def keep(self, keys: Sequence[bytes]) -> list[bytes]:
        """See `Store`.

        A held vector is kept under the hash of itself: no text can find it later.
        """
        if self._held is None:
            return list(keys)
        held = {key: row for key in keys if (row := self._held.rows.get(key)) is not None}
        rows, own = list(held.values()), list[bytes]()
        for start in range(0, len(rows), KEEP_ROWS):  # of millions, all at once are a copy of all
            vectors = self._held.vectors[rows[start : start + KEEP_ROWS]]
            own_of = [content_hash("held", vector.tobytes()) for vector in vectors]
            self.append(own_of, vectors)
            own += own_of
        own_key = dict(zip(held, own, strict=True))
        return [own_key.get(key, key) for key in keys]

    @property
    def vectors(self) -> FloatArray:
        """All vectors on the disk, shape (len(self), dim), memory-mapped and read-only."""
        if self._mapped is None or len(self._mapped) != len(self):
            shape = (len(self), self.dim)
            empty = not len(self)
            self._mapped = (
                np.zeros(shape, np.float32)
                if empty
                else np.memmap(self.path / "vectors.f32", np.float32, "r", shape=shape)
            )
        return self._mapped

    def rows(self, keys: Sequence[bytes]) -> IntArray:
        """Return the row of each key, -1 where it is not stored; shape (len(keys),).

        Rows of vectors that are held come after those on the disk.
        """
        if self._held is None:
            return np.array([self._rows.get(key, -1) for key in keys], np.int64)
        held, n = self._held.rows, len(self)
        rows = ((held.get(key), self._rows.get(key, -1)) for key in keys)
        return np.array([own if row is None else n + row for row, own in rows], np.int64)

    def gather(self, keys: Sequence[bytes]) -> FloatArray:
        """Return the vectors of `keys`, shape (len(keys), dim); KeyError if one is missing.

        Beyond LARGE_BYTES they are a memory-mapped, read-only file in the store's folder, which
        goes when the store is closed.
        """
        rows = self.rows_stored(keys)
        if 4 * self.dim * len(rows) > LARGE_BYTES:
            return self._gather_on_disk(rows)
        return self._read(rows)

    def _are_whole(self, rows: IntArray, *, unit: bool) -> BoolArray:
        return usable(self.vectors[rows], unit=unit)

    def _read(self, rows: IntArray) -> FloatArray:
        """Return the vectors of rows, on the disk and held, in a new array."""
        if self._held is None:
            return np.ascontiguousarray(self.vectors[rows])
        out = np.empty((len(rows), self.dim), np.float32)
        held = rows >= len(self)
        out[held] = self._held.vectors[rows[held] - len(self)]
        out[~held] = self.vectors[rows[~held]]
        return out

    def _gather_on_disk(self, rows: IntArray) -> FloatArray:
        n = len(list(self.path.glob(_GATHERED)))
        path = self.path / _GATHERED.replace("*", str(n))
        try:
            with path.open("wb") as file:
                for start in range(0, len(rows), GATHER_ROWS):
                    file.write(self._read(rows[start : start + GATHER_ROWS]).tobytes())
        except OSError as error:
            path.unlink(missing_ok=True)
            raise ArgusError(
                f"{path}: gathering {len(rows):,} vectors failed ({error.strerror}); the store is "
                f"whole. Free {4 * self.dim * len(rows) / 1e9:.1f} GB and run the same command "
                "again."
            ) from error
        return np.memmap(path, np.float32, "r", shape=(len(rows), self.dim))

    def _remove_gathered(self) -> None:
        for path in self.path.glob(_GATHERED):
            path.unlink(missing_ok=True)

    def _check_shape(self, keys: Sequence[bytes], vectors: FloatArray) -> None:
        if vectors.shape != (len(keys), self.dim):
            raise ValueError(f"vectors are {vectors.shape}, expected ({len(keys)}, {self.dim})")

    def _append_rows(self, vectors: FloatArray) -> None:
        append_bytes(self.path / "vectors.f32", vectors.astype("<f4").tobytes())

    def _cut(self, most: int) -> int:
        vectors, row_bytes = self.path / "vectors.f32", 4 * self.dim
        size = vectors.stat().st_size if vectors.exists() else 0
        n = min(most, size // row_bytes)
        self._cut_file(vectors, n * row_bytes)
        return n


def store_of(folder: Path) -> Path:
    """Return where the vectors of a folder of results, or of an index, lie. No link is followed."""
    return _shared.get(folder.resolve()) or check_plain(folder / EMBEDDINGS)


@contextmanager
def sharing(folder: Path, store: Path) -> Iterator[None]:
    """Have a store stand in for a folder's own for as long as a block lasts."""
    _shared[folder.resolve()] = store
    try:
        yield
    finally:
        del _shared[folder.resolve()]


def stored_fingerprint(path: Path) -> str | None:
    """Return the fingerprint that the store at `path` is bound to; None when there is no store."""
    return _header(path)[0]


def stored_dim(path: Path) -> Any:
    """Return the dim that the header of the store at `path` names; None where it names none."""
    return _header(path)[2]


def _header(path: Path) -> tuple[str | None, str, Any]:
    """Return what store.json says: the fingerprint, if it is there, the rows' family and dim."""
    header = path / HEADER
    if not header.is_file():
        return None, "dense", None
    try:
        content = parse_json(read_own(header))
        return str(content["fingerprint"]), str(content.get("family", "dense")), content.get("dim")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "is not the header of an embedding store",
            expected='JSON with "fingerprint" and "dim"',
            fix="Give another --store, or start over with --fresh.",
            where=header,
        ) from error


def _no_key(row: int) -> bytes:
    """Return what stands in keys.bin for a row that no text can find."""
    return content_hash("no key", str(row))


def append_bytes(path: Path, data: bytes) -> None:
    """Write behind what is in a file, and see to it that it reaches the disk."""
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
