"""Cache rows of one encoder on disk, by the content of their texts.

Layout of the folder: `store.json` (fingerprint, dim), `keys.bin` (16 bytes per row), and
`vectors.f32` (row-major float32). Files only grow, and a batch's keys are written last. A run
killed at any moment leaves whole rows under whole keys. Opening cuts off the rest, so at most the
batch in flight is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from argus.data.provenance import content_hash
from argus.data.reading import parse_json, read_own, reading
from argus.data.types import FloatArray, IntArray
from argus.data.writing import check_plain, take_lock, write_whole
from argus.errors import ArgusError, EncoderMismatch, InputError

HEADER, KEYS, VECTORS = "store.json", "keys.bin", "vectors.f32"
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


class EmbeddingStore:
    """An append-only map from content key to the vector of one encoder, memory-mapped.

    It may hold other vectors that were made before, in memory (`lay_over`). Raises EncoderMismatch
    when `path` holds vectors of another encoder, InputError when they are of another dim, and
    ArgusError when another process is writing to it. writes: False to read only: nothing changes on
    the disk.
    """

    def __init__(self, path: Path, *, fingerprint: str, dim: int, writes: bool = True) -> None:
        self.path, self.fingerprint, self.dim, self._writes = path, fingerprint, dim, writes
        self._held: FloatArray | None = None
        self._held_rows: dict[bytes, int] = {}
        self._failures: dict[bytes, str] = {}
        path.mkdir(parents=True, exist_ok=True)
        for name in path.iterdir():
            check_plain(name)
        busy = f"{path} is in use by another run; wait for it, or give another --cache."
        self._lock = take_lock(path / "lock", busy=busy)
        try:
            self._check_header()
            self._rows = self._recover()
            self._remove_gathered()  # of a run that was killed
        except BaseException:
            self._lock.close()
            raise

    def __len__(self) -> int:
        """Return the number of vectors on the disk."""
        return len(self._rows)

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows or key in self._held_rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock. The store may then be opened again.

        Large arrays that `gather` returned stay readable here, but their files are gone.
        """
        self._remove_gathered()
        self._lock.close()

    def lay_over(
        self, keys: Sequence[bytes], vectors: FloatArray, broken: Mapping[int, str]
    ) -> None:
        """Answer from these vectors first, until the store is closed: none goes to the disk.

        vectors: (len(keys), dim). broken: position to the reason why it has no vector.
        """
        self._held, self._held_rows = vectors, {}
        self._failures = {keys[position]: why for position, why in broken.items()}
        for row, key in enumerate(keys):
            if key not in self._failures:
                self._held_rows.setdefault(key, row)

    def failure(self, key: bytes) -> str | None:
        """Return why there can be no vector for a key. None if there is one, or can be."""
        return self._failures.get(key)

    def keep(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return keys that find the vectors of `keys` on the disk, writing them there if need be.

        A held vector is stored under its own hash: no text can find it later.
        """
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
        """Return the row of each key, -1 where it is not stored, as shape (len(keys),).

        Rows of held vectors come after those on the disk.
        """
        n, held = len(self), self._held_rows
        rows = (n + held[key] if key in held else self._rows.get(key, -1) for key in keys)
        return np.fromiter(rows, np.int64, len(keys))

    def gather(self, keys: Sequence[bytes]) -> FloatArray:
        """Return the vectors of `keys`, shape (len(keys), dim). Raises KeyError if one is missing.

        Beyond LARGE_BYTES they are a memory-mapped, read-only file in the store's folder, which
        is removed when the store is closed.
        """
        rows = self.rows(keys)
        if (rows < 0).any():
            raise KeyError(f"{int((rows < 0).sum())} of {len(keys)} keys are not in {self.path}")
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

    def append(self, keys: Sequence[bytes], vectors: FloatArray) -> None:
        """Add one row under each of `keys`, durably. Keys that are there already stay."""
        if not self._writes:
            raise ValueError(f"{self.path} was opened to be read")
        if vectors.shape != (len(keys), self.dim):
            raise ValueError(f"vectors of shape {vectors.shape} for {len(keys)} keys")
        new = list({key: i for i, key in enumerate(keys) if key not in self._rows}.values())
        if not new:
            return
        try:
            append_bytes(self.path / VECTORS, vectors[np.array(new)].astype("<f4").tobytes())
            append_bytes(self.path / KEYS, b"".join(keys[i] for i in new))
        except OSError as error:
            self._rows = self._recover()
            raise ArgusError(
                f"{self.path}: writing vectors failed ({error.strerror}); the {len(self)} vectors "
                "already there are whole. Free some space and run the same command again."
            ) from error
        for i in new:
            self._rows[keys[i]] = len(self._rows)

    def _read(self, rows: IntArray) -> FloatArray:
        if self._held is None:
            return np.ascontiguousarray(self.vectors[rows])
        out = np.empty((len(rows), self.dim), np.float32)
        held = rows >= len(self)
        out[held] = self._held[rows[held] - len(self)]
        out[~held] = self.vectors[rows[~held]]
        return out

    def _remove_gathered(self) -> None:
        for path in self.path.glob(_GATHERED):
            path.unlink(missing_ok=True)

    def _recover(self) -> dict[bytes, int]:
        """Read the keys, cut both files back to whole rows, return key -> row."""
        sizes = {KEYS: KEY_BYTES, VECTORS: 4 * self.dim}
        files = {self.path / name: size for name, size in sizes.items()}
        n = min(f.stat().st_size // size if f.exists() else 0 for f, size in files.items())
        for file, size in files.items():
            if self._writes and file.exists() and file.stat().st_size > n * size:
                os.truncate(file, n * size)
        data = (self.path / KEYS).read_bytes() if n else b""
        return {data[row * KEY_BYTES : (row + 1) * KEY_BYTES]: row for row in range(n)}

    def _check_header(self) -> None:
        """Write the header of a new store. Refuse one of other vectors."""
        stored, dim = _header(self.path)
        if stored is None:
            header = {"fingerprint": self.fingerprint, "dim": self.dim}
            write_whole(self.path / HEADER, json.dumps(header, indent=2) + "\n")
        elif stored != self.fingerprint:
            raise EncoderMismatch(self.path, stored=stored, given=self.fingerprint)
        elif dim != self.dim:
            got = f"says dim {dim}, the encoder makes vectors of {self.dim}"
            fix = "Restore it from a copy, give another --cache, or start over with --fresh."
            raise InputError(got, expected="one dimension", fix=fix, where=self.path / HEADER)


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
    return _header(path)[1]


def _header(path: Path) -> tuple[str | None, Any]:
    """Return fingerprint and dim of store.json, None without one."""
    header = path / HEADER
    if not header.is_file():
        return None, None
    got, expected = "is not the header of an embedding store", 'JSON with "fingerprint" and "dim"'
    with reading(header, got, expected=expected, fix="Give another --cache, or --fresh."):
        content = parse_json(read_own(header))
        return str(content["fingerprint"]), content["dim"]


def append_bytes(path: Path, data: bytes) -> None:
    """Append to a file, and wait until the disk confirms it."""
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
