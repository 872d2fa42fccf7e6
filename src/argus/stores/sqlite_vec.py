"""Read, search and write a sqlite-vec table (vec0) in an SQLite file.

`sqlite-vec:FILE.db/TABLE` of --store and --corpus (https://alexgarcia.xyz/sqlite-vec). It
implements `argus.stores.protocol`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.documents import listed
from argus.data.types import FloatArray
from argus.data.writing import closing_if_it_fails
from argus.stores.client import Client, no_collection, no_folder, quoted, stacked
from argus.stores.protocol import (
    ENCODER,
    KIND,
    MARK,
    PARENT,
    REMEDY,
    SCALE,
    Filter,
    Hits,
    Metric,
    Records,
    StoreFacts,
)
from argus.stores.spec import StoreConfig, StoreSpec

_VECTOR = re.compile(r"(?<!\w)(\w++)\s++float\s*+\[\s*+(\d++)\s*+\]([^,]*)", re.IGNORECASE)
_METRIC = re.compile(r"distance_metric\s*=\s*(\w+)", re.IGNORECASE)
_KEY = re.compile(r"(?<!\w)(\w++)\s++(\w++)\s++primary\s+key", re.IGNORECASE)
_COLUMN = re.compile(r"(?P<plus>\+?)\s*(?P<name>\w+)\s+(?P<type>\w+)")
METRICS = {"cosine": Metric.COSINE, "l2": Metric.L2}
# The columns of FIELDS. A search filters by those without a plus, of which there are 16.
OF_REMEDIES = {REMEDY: "TEXT", PARENT: "+TEXT", KIND: "+TEXT", ENCODER: "+TEXT", SCALE: "+FLOAT"}
BUSY_MS = 5_000  # to wait for another process that writes to the file


class SqliteVecStore(Client):
    """One vector column of a vec0 table. connection: of apsw, with the extension loaded."""

    can_search_exactly = True

    def __init__(self, connection: Any, table: str, name: str, field: str | None) -> None:
        super().__init__(name, table)
        self._db = connection
        made = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE '%vec0%'"
        statements = dict(connection.execute(made).fetchall())
        if table not in statements:
            raise no_collection(name, table, list(statements))
        rows = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
        statement = statements[table]
        self._vectors = {m[1]: (int(m[2]), m[3]) for m in _VECTOR.finditer(statement)}
        self.field = self._vector_field(list(self._vectors), field)
        key = _KEY.search(statement)
        self._key = key[1] if key else "rowid"
        self._has_text_ids = key is not None and key[2].upper() == "TEXT"
        hidden = {self._key, *self._vectors, table, "distance", "k"}
        self._others = [row[1] for row in rows if row[1] not in hidden]
        self.columns = self._others
        inner = statement[statement.index("(") + 1 : statement.rindex(")")]
        matches = (_COLUMN.match(part.strip()) for part in inner.split(","))
        declared = {m["name"]: m["plus"] + m["type"] for m in matches if m}
        self._declared = {other: declared[other] for other in self._others}

    def describe(self) -> StoreFacts:
        """Return its facts as they are now."""
        dim, rest = self._vectors[self.field]
        metric = _METRIC.search(rest)
        (n,) = self._db.execute(f"SELECT count(*) FROM {quoted(self.collection)}").fetchone()
        self._metric = METRICS.get(metric[1].lower() if metric else "l2", Metric.L2)
        return self._facts(int(n), dim, "exact", is_exact=True)

    def _pages(
        self, size: int, matching: Filter | None, *, with_vectors: bool
    ) -> Iterator[Records]:
        """Yield the rows that match, in the table's order."""
        self._check_keys(matching or {}, [self._key, *self._others])
        dim = self._vectors[self.field][0] if with_vectors else 0
        columns = (self._key, *self._others, *[self.field] * with_vectors)
        statement = f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(self.collection)}"
        if matching:
            statement += " WHERE " + " AND ".join(f"{quoted(key)} = ?" for key in matching)
        cursor = self._db.cursor().execute(statement, tuple((matching or {}).values()))
        while rows := list(islice(cursor, size)):
            blobs = [row[-1] if with_vectors else b"" for row in rows]
            values = [None if blob is None else np.frombuffer(blob, np.float32) for blob in blobs]
            vectors, broken = stacked(values, dim)
            payloads = [dict(zip(self._others, row[1:], strict=False)) for row in rows]
            yield Records([str(row[0]) for row in rows], vectors, payloads, broken)

    def search(
        self, vectors: FloatArray, k: int, *, matching: Filter | None = None, exact: bool = False
    ) -> list[Hits]:
        """Return the k best of each vector. Scores are distances with their sign turned."""
        self._check_keys(matching or {}, [self._key, *self._others])
        where = "".join(f" AND {quoted(key)} = ?" for key in matching or {})
        statement = (
            f"SELECT {quoted(self._key)}, distance FROM {quoted(self.collection)} "
            f"WHERE {quoted(self.field)} MATCH ? AND k = ?{where} ORDER BY distance"
        )
        answers = []
        for vector in vectors:
            values = (np.asarray(vector, np.float32).tobytes(), k, *(matching or {}).values())
            rows = self._db.execute(statement, values).fetchall()
            # a vector with a NaN has no distance, and comes first
            answers.append([(str(id_), -float(far)) for id_, far in rows if far is not None])
        return answers

    def upsert(self, records: Records) -> None:
        """Write rows in one transaction. Those whose key is there take its place."""
        columns = (self._key, self.field, *self._others)
        marks = ", ".join("?" * len(columns))
        names = ", ".join(map(quoted, columns))
        insert = f"INSERT INTO {quoted(self.collection)} ({names}) VALUES ({marks})"
        with self._db:
            self.delete(records.ids)
            for id_, vector, payload in records.rows():
                others = [payload.get(name) for name in self._others]
                blob = np.asarray(vector, np.float32).tobytes()
                self._db.execute(insert, (self._native(id_), blob, *others))

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        statement = f"DELETE FROM {quoted(self.collection)} WHERE {quoted(self._key)} = ?"
        with self._db:
            self._db.executemany(statement, [(self._native(id_),) for id_ in listed(ids)])

    def _open(self, collection: str, name: str) -> SqliteVecStore | None:
        if not self._statement(collection):
            return None
        return SqliteVecStore(self._db, collection, name, self.field)

    def _make(self, name: str) -> None:
        """Make a table whose ids are texts."""
        columns = {**self._declared, **OF_REMEDIES}
        key = next(k for k in (self._key, "id", "record_id") if k not in {"rowid", *columns})
        parts = [
            f"{key} TEXT PRIMARY KEY",
            f"{self.field} FLOAT[{self._vectors[self.field][0]}] distance_metric=cosine",
            *(f"{'+' * kind.startswith('+')}{c} {kind.lstrip('+')}" for c, kind in columns.items()),
        ]
        self._db.execute(
            f"CREATE VIRTUAL TABLE {quoted(name)} /* {MARK} */ USING vec0({', '.join(parts)})"
        )

    def _is_own_and_empty(self, name: str) -> bool:
        if f"/* {MARK} */" not in self._statement(name):
            return False
        (rows,) = self._db.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()
        return not rows

    def _drop(self, name: str) -> None:
        self._db.execute(f"DROP TABLE {quoted(name)}")

    def _statement(self, table: str) -> str:
        """Return the statement that made a table, "" where there is none."""
        statement = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
        row = self._db.execute(statement, (table,)).fetchone()
        return str(row[0]) if row else ""

    def interrupt(self) -> None:
        """Stop the search that is under way."""
        self._db.interrupt()

    def close(self) -> None:
        """Close the file. Where a search that was given up still reads it, at our own end."""
        import apsw

        with suppress(apsw.ThreadingViolationError):
            self._db.close()


def open_sqlite_vec(
    spec: StoreSpec, config: StoreConfig, key: str | None, hidden: Sequence[str]
) -> SqliteVecStore:
    """Open a vec0 table of an SQLite file, through apsw: some Pythons load no extensions."""
    import apsw
    import sqlite_vec

    if not Path(spec.place).is_file():
        raise no_folder(spec.place, "SQLite")
    connection = apsw.Connection(spec.place)
    connection.set_busy_timeout(BUSY_MS)
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
    with closing_if_it_fails(connection):
        return SqliteVecStore(connection, spec.collection, str(spec), config.vector_field)
