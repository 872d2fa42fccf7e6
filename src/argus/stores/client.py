"""Share code of the vector database clients: paging, error messages, ids, filter columns.

`Client` is the base class of the Chroma, Milvus, Qdrant, pgvector, LanceDB and sqlite-vec modules.
A subclass reads pages and searches. The base also opens, makes and drops a sibling: another
collection of the same database, beside the user's, into which remedies write their records.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any

import numpy as np

from argus.data.documents import ID_FIELDS
from argus.data.types import FloatArray
from argus.errors import InputError
from argus.stores.protocol import Entries, Filter, Metric, Records, StoreFacts, sibling_name
from argus.stores.spec import reported, shown


def _reporting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Have a method of a client turn its library's errors into an ArgusError."""

    @wraps(method)
    def call(self: Client, *args: Any, **options: Any) -> Any:
        with self._reported():
            return method(self, *args, **options)

    @wraps(method)
    def generate(self: Client, *args: Any, **options: Any) -> Iterator[Any]:
        with self._reported():
            yield from method(self, *args, **options)

    return generate if isgeneratorfunction(method) else call


class Client(ABC):
    """Base of the clients that keep fields: errors, pages, ids and siblings.

    A client sets `field` and `_metric`, which `_facts` describes. It has `_pages`, which
    reads records with or without vectors. Of collections it has `_open`, which opens another one or
    returns None, `_make`, `_is_own_and_empty` and `_drop`. Whatever its library raises in any of
    these, in `describe`, `search`, `upsert` and `delete` becomes an ArgusError.
    """

    columns: Sequence[str] | None = None
    field: str = ""
    _metric: Metric
    _open: Callable[[str, str], Any]
    _make: Callable[[str], None]
    _is_own_and_empty: Callable[[str], bool]
    _drop: Callable[[str], None]

    def __init__(self, name: str, collection: str, hidden: Sequence[str] = ()) -> None:
        self.name, self.collection, self._hidden = name, collection, hidden
        self._has_text_ids = True

    def __init_subclass__(cls) -> None:
        names = {"describe", "search", "upsert", "delete", "drop_sibling", "_pages"}
        for name in names & vars(cls).keys():
            setattr(cls, name, _reporting(vars(cls)[name]))

    def _facts(self, records: int, dim: int, index: str, *, is_exact: bool) -> StoreFacts:
        """Return the facts of a store. index: "" where it has none."""
        return StoreFacts(records, dim, self._metric, self.field, index or "exact", is_exact)

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all records, in the store's order."""
        return self._pages(size, None, with_vectors=True)

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all records that match, in the store's order."""
        pages = self._pages(size, matching, with_vectors=False)
        return ((records.ids, records.payloads) for records in pages)

    def record_id(self, name: str) -> str:
        """Return the name."""
        if not self._has_text_ids:
            expected = "a collection whose ids are texts or UUIDs, for the records of a remedy"
            fix = "Leave --into out: Argus makes a collection of its own."
            raise self._refused("its ids are whole numbers", expected, fix)
        return name

    def make_sibling(self, name: str) -> Any:
        """Make an empty collection for remedies and open it."""
        with self._reported():
            self._make(name)
        return self.sibling(name)

    def sibling(self, name: str) -> Any:
        """Open another collection. It has the same field of vectors."""
        with self._reported():
            return self._open(name, sibling_name(self.name, name))

    def drop_sibling(self, name: str) -> bool:
        """Remove a collection that Argus made, once it is empty. Return whether it was removed."""
        with self._reported():
            is_removed = self._is_own_and_empty(name)
            if is_removed:
                self._drop(name)
        return is_removed

    @abstractmethod
    def _pages(
        self, size: int, matching: Filter | None, *, with_vectors: bool
    ) -> Iterator[Records]: ...

    def _reported(self) -> AbstractContextManager[None]:
        return reported(self.name, self._hidden)

    def _refused(self, got: str, expected: str, fix: str) -> InputError:
        return InputError(got, expected=expected, fix=fix, where=self.name)

    def _native(self, id_: str) -> int | str:
        """Return an id as the store has it, a text or a whole number."""
        if self._has_text_ids:
            return id_
        try:
            return int(id_)
        except ValueError as error:
            expected = "a whole number, as its key is declared"
            fix = "Keep your own id in a field beside it."
            raise self._refused(f"id {id_!r}", expected, fix) from error

    def _known_metric(self, found: str, metrics: Mapping[str, Metric]) -> Metric:
        """Return the metric that a product calls `found`. Raises InputError for any other."""
        if found in metrics:
            return metrics[found]
        expected = f"one of {', '.join(metrics)}"
        raise self._refused(f"ranks by {found}", expected, "Argus cannot recompute that.")

    def _vector_field(self, fields: Sequence[str], field: str | None) -> str:
        """Return the vector field to search: the one that is named, or the only one."""
        if field is not None and field in fields:
            return field
        if field is None and len(fields) == 1:
            return fields[0]
        if not fields:
            expected = "a table with a column of vectors"
            raise self._refused("has no vectors", expected, "Name another table.")
        got = f"no vector field {field!r}" if field else f"{len(fields)} vector fields"
        raise self._refused(got, f"one of {', '.join(fields)}", "Name it with --vector-field.")

    def _id_column(self, columns: Sequence[str], id_field: str | None) -> str:
        """Return the column of ids: the one that is named, or the first of the usual names."""
        names = (id_field,) if id_field else ID_FIELDS
        if column := next((c for c in names if c in columns), None):
            return column
        got = f"no column {id_field!r}" if id_field else "no column that is called like an id"
        raise self._refused(got, f"one of {', '.join(columns)}", "Name it with --store-id.")

    def _check_keys(self, keys: Iterable[str], columns: Collection[str]) -> None:
        """Raise InputError for a filter by a key that is no column."""
        for key in keys:
            if key not in columns:
                expected = f"one of {', '.join(columns)}"
                raise self._refused(f"a filter by {key!r}", expected, "Correct --where.")

    def _column_of(self, key: str, columns: Collection[str]) -> tuple[str, list[str]]:
        """Return the column that a filter's key names, and the path into it of a dotted one.

        Raises InputError for a key that is no column, nor a path into one.
        """
        column, *path = [key] if key in columns else key.split(".")
        if path and column in columns and all(path):
            return column, path
        self._check_keys([key], columns)
        return key, []


def no_collection(name: str, collection: str, names: Iterable[str]) -> InputError:
    """Return the error of a store without such a collection."""
    expected = f"one of {', '.join(sorted(names)) or '(there is none)'}"
    got, fix = f"no collection {collection!r}", "Name it after the last slash."
    return InputError(got, expected=expected, fix=fix, where=name)


def no_folder(path: str, product: str) -> InputError:
    """Return the error of a path that is no folder or file."""
    got, fix = "no such file or folder", "Check the path; a server is named by http://HOST:PORT."
    return InputError(got, expected=f"what {product} wrote", fix=fix, where=shown(path))


def quoted(name: str) -> str:
    """Return a name of a table or column, of any characters, as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def uuid_of(name: str) -> str:
    """Return the id of a record where ids are UUIDs, always the same for a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def stacked(values: Sequence[Any], dim: int) -> tuple[FloatArray, dict[int, str]]:
    """Return vectors as (n, dim), with NaN rows for those of other lengths, and reasons by row."""
    lengths = [-1 if value is None else len(value) for value in values]
    broken = {
        row: "no vector" if n <= 0 else f"{n} dimensions, not {dim}"
        for row, n in enumerate(lengths)
        if n != dim
    }
    if not broken:
        return np.asarray(values, np.float32).reshape(len(values), dim), {}
    vectors = np.full((len(values), dim), np.nan, np.float32)
    for row, value in enumerate(values):
        if row not in broken:
            vectors[row] = value
    return vectors, broken
