"""The rows of an index as a LanceDB table: what is checked before a row may enter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.provenance import content_hash
from argus.data.reading import is_of_reader
from argus.data.types import FloatArray, View
from argus.data.writing import check_plain, check_plain_folder, remove_leftovers, take_lock
from argus.encoders.rows import usable
from argus.errors import ArgusError, InputError
from argus.extras import naming_extras
from argus.indexes.deferral import deferred, unchecked_overrides
from argus.indexes.recipes import REMEDIES

NAME = "views"
READ_ROWS = 8192
_RUST_LINE = re.compile(r", \S+\.rs:\d+:\d+")
"""Where in its own source LanceDB found an error."""


def schema(dim: int) -> Any:
    """Return the Arrow schema of the table."""
    import pyarrow as pa

    names = ("id", "doc_id", "kind", "text", "source", "remedy")
    return pa.schema(
        [pa.field(name, pa.string(), nullable=False) for name in names]
        + [
            pa.field("added", pa.int64(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dim), nullable=False),
        ]
    )


def record_batch(
    views: Sequence[View], vectors: FloatArray, *, remedy: str, added: int, dim: int
) -> Any:
    """Return one Arrow batch of views; vectors as `check_vectors` returns them."""
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1), pa.float32())
    names = ("id", "doc_id", "kind", "text", "source")
    try:
        columns = [pa.array([getattr(v, name) for v in views], pa.string()) for name in names]
    except UnicodeEncodeError as error:
        raise InputError(
            f"a view holds characters that are no Unicode text ({error})",
            expected="text that can be written as UTF-8",
            fix="Remove lone surrogates from the text.",
        ) from error
    columns.append(pa.array([remedy] * len(views), pa.string()))
    columns.append(pa.array([added] * len(views), pa.int64()))
    columns.append(pa.FixedSizeListArray.from_arrays(flat, dim))
    return pa.record_batch(columns, schema=schema(dim))


def connect(path: Path) -> Any:
    """Open the database in a folder."""
    return import_lancedb().connect(path)


def open_views(path: Path) -> Any:
    """Open the table of an index at its latest version; a handle of its own, to be read or changed.

    Nothing that other handles do is seen by it.
    """
    return connect(path).open_table(NAME)


@naming_extras()
def import_lancedb() -> Any:
    """Return the module `lancedb`."""
    # The client is of catalogues: no table here is in one.
    with deferred("lance_namespace_urllib3_client"), unchecked_overrides():
        import lancedb
    return lancedb


def version_mark(path: Path, version: int) -> str:
    """Return what tells a version of the table from another of that number, as of a copy put back.

    LanceDB names the file of a version by its number, the later ones backwards, and writes what is
    unique into it. "" where there is none.
    """
    versions = path / f"{NAME}.lance" / "_versions"
    for number in (2**64 - 1 - version, version):
        with suppress(OSError):
            return content_hash((versions / f"{number}.manifest").read_bytes()).hex()
    return ""


def check_vectors(vectors: FloatArray, n: int, dim: int, *, unit: bool = True) -> FloatArray:
    """Return the vectors as float32; InputError unless (n, dim), finite and of length 1.

    unit: False for any other length but 0.
    """
    vectors = np.asarray(vectors, np.float32)
    if vectors.shape != (n, dim):
        raise InputError(
            f"vectors of shape {vectors.shape} for {n} views",
            expected=f"({n}, {dim}): a row per view, of the dimension of the index",
            fix="Embed the views with the encoder that the index names.",
        )
    wrong = np.flatnonzero(~usable(vectors, unit=unit))
    if len(wrong):
        row = int(wrong[0])
        norm = np.linalg.norm(vectors[row])
        bad = f"of length {norm:.4g}" if np.isfinite(norm) else "not finite"
        kind = "unit" if unit else "usable"
        raise InputError(
            f"{len(wrong)} of {n} vectors are no {kind} vectors: row {row} is {bad}",
            expected="finite vectors of length 1" if unit else "finite vectors that are not zero",
            fix="Divide each vector by its length; leave out what could not be embedded."
            if unit
            else "Leave out what could not be embedded.",
        )
    return vectors


def check_read(path: Path, doc_ids: Any, vectors: FloatArray, *, unit: bool) -> None:
    """Raise ArgusError where vectors of the table cannot be what `check_vectors` let in.

    doc_ids: an Arrow column, the document of each row.
    """
    wrong = np.flatnonzero(~usable(vectors, unit=unit))
    if len(wrong):
        documents = sorted(set(doc_ids.take(wrong).to_pylist()))
        raise ArgusError(
            f"{path}: {len(wrong):,} of {len(vectors):,} vectors are damaged (zeros, no numbers, "
            f"or not of the length that was written), of {first_of(documents)}. Put a copy of the "
            "index back, or delete these documents and add them again (argus index delete, argus "
            "index add)."
        )


def changed_while_read(path: Path) -> ArgusError:
    """Return the error for rows of which ids and vectors are not of one state."""
    return ArgusError(
        f"{path}: the index changed while it was read. It is whole; run the same command again."
    )


def first_of(ids: Sequence[str]) -> str:
    """Return the first five ids, for a message."""
    return ", ".join(map(repr, ids[:5])) + (" ..." if len(ids) > 5 else "")


def check_ids(views: Sequence[View], seen: set[str]) -> None:
    """Raise InputError for a view id that is empty or taken; else add the ids to `seen`."""
    ids = [view.id for view in views]
    twice = sorted({i for i, n in Counter(ids).items() if n > 1 or i in seen})
    if twice:
        raise InputError(
            f"{len(twice)} view ids are already taken: {first_of(twice)}",
            expected="one view per id",
            fix="Delete the document or roll the remedy back first, or give the views other ids.",
        )
    if any(not view.id or not view.doc_id for view in views):
        raise InputError(
            "a view without id or doc_id", expected="both", fix="Name the view and its document."
        )
    seen.update(ids)


class Checked:
    """Batches on their way into the table; keeps the error that stopped them.

    LanceDB reports an error raised inside the reader as text; `error` is the original.
    """

    def __init__(self, batches: Iterable[Any]) -> None:
        self.batches, self.rows = batches, 0
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[Any]:
        try:
            for batch in self.batches:
                self.rows += batch.num_rows
                yield batch
        except Exception as error:
            self.error = error
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Hold the index's lock; ArgusError when another process, or thread, writes to it.

    What LanceDB left half written when it was killed is removed: who holds the lock writes alone.
    So is what a killed remedy left in its folder.
    """
    busy = (
        f"{path} is being written to by another run; wait for it and run this again. "
        "Nothing was changed."
    )
    try:
        lock = take_lock(path / "lock", busy=busy)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})",
            expected="a folder that can be written",
            fix="Check its owner and mode, or copy the index.",
            where=path,
        ) from error
    with lock:
        check_plain(path / "index.json")
        for home in (path / f"{NAME}.lance", path / REMEDIES):
            check_plain_folder(home)
        for leftover in (path / f"{NAME}.lance").rglob(".tmp*"):
            with suppress(OSError):
                leftover.unlink()
        for home in (path / REMEDIES).glob("*"):
            remove_leftovers(home)
        yield


def remove_half_written(path: Path) -> None:
    """Remove what a killed writer left, for who has nothing to write; not where another writes."""
    with suppress(ArgusError), writing(path):
        pass


@contextmanager
def storage(path: Path, doing: str) -> Iterator[None]:
    """Turn what LanceDB raises, a panic of its Rust too, into an ArgusError with the path.

    Raises InputError where an id cannot be written as UTF-8: no index holds such a one.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError(
            f"{doing} failed: an id holds characters that are no Unicode text ({error})",
            expected="ids that can be written as UTF-8",
            fix="Remove lone surrogates from the id.",
            where=path,
        ) from error
    except BaseException as error:
        if not is_of_reader(error):
            raise
        lines = _RUST_LINE.sub("", str(error)).strip().splitlines() or [type(error).__name__]
        raise ArgusError(
            f"{path}: {doing} failed ({lines[0][:300]}). The index is as it was before; mend that "
            "(space on the disk, rights, a damaged file) and run the same command again."
        ) from error


def quoted(values: Iterable[str]) -> str:
    """Return values as a SQL list: `'a', 'O''Hara'`."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)
