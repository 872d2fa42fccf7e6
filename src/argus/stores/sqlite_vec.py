"""sqlite-vec: a vec0 table in an SQLite file (https://alexgarcia.xyz/sqlite-vec). Always exact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.arguments import listed
from argus.data.types import FloatArray
from argus.errors import ArgusError
from argus.stores.columns import check_keys, native_id, quoted, vector_field
from argus.stores.errors import closed_on_error, no_collection, no_folder, reported
from argus.stores.protocol import Filter, Hits, Metric, Records, StoreFacts
from argus.stores.vectors import stacked
from argus.stores.writable import (
    ENCODER,
    KIND,
    MARK,
    PARENT,
    PENALTY,
    REMEDY,
    SCALE,
    Entries,
    numbers_refused,
    sibling_name,
)  # fmt: skip

_VECTOR = re.compile(r"(?<!\w)(\w++)\s++float\s*+\[\s*+(\d++)\s*+\]([^,]*)", re.IGNORECASE)
_METRIC = re.compile(r"distance_metric\s*=\s*(\w+)", re.IGNORECASE)
_KEY = re.compile(r"(?<!\w)(\w++)\s++(\w++)\s++primary\s+key", re.IGNORECASE)
_COLUMN = re.compile(r"(?P<plus>\+?)\s*(?P<name>\w+)\s+(?P<type>\w+)")
METRICS = {"cosine": Metric.COSINE, "l2": Metric.L2}
OF_REMEDIES = {
    REMEDY: "TEXT", PARENT: "+TEXT", KIND: "+TEXT", ENCODER: "+TEXT", SCALE: "+FLOAT",
    PENALTY: "+FLOAT",
}  # fmt: skip
"""The columns of FIELDS. A search filters by those without a plus, of which there are 16."""
BUSY_MS = 5_000
"""For how long another process that writes to the file is waited for."""


@contextmanager
def _reported(name: str) -> Iterator[None]:
    """Turn whatever apsw raises into an ArgusError; a file that is held is told as such."""
    import apsw

    with reported(name):
        try:
            yield
        except apsw.BusyError as error:
            raise ArgusError(
                f"{name}: another process writes to the file, and still did after "
                f"{BUSY_MS / 1000:g} s ({error}). Try again when it is done."
            ) from error


class SqliteVecStore:
    """One vector column of a vec0 table. connection: of apsw, with the extension loaded."""

    can_search_exactly = True

    def __init__(self, connection: Any, table: str, name: str, field: str | None) -> None:
        self.name, self._db, self.collection = name, connection, table
        with _reported(name):
            made = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE '%vec0%'"
            ).fetchall()
        statements = dict(made)
        if table not in statements:
            raise no_collection(name, table, list(statements))
        self._columns = {m[1]: (int(m[2]), m[3]) for m in _VECTOR.finditer(statements[table])}
        self.field = vector_field(list(self._columns), field, name)
        key = _KEY.search(statements[table])
        self._key = key[1] if key else "rowid"
        self._key_is_text = key is not None and key[2].upper() == "TEXT"
        with _reported(name):
            rows = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
        hidden = {self._key, *self._columns, table, "distance", "k"}
        self._others = [row[1] for row in rows if row[1] not in hidden]
        self._declared = _declared(statements[table], self._others)

    def describe(self) -> StoreFacts:
        """Return what is known of it now."""
        dim, rest = self._columns[self.field]
        metric = _METRIC.search(rest)
        with _reported(self.name):
            (n,) = self._db.execute(f"SELECT count(*) FROM {quoted(self.collection)}").fetchone()
        return StoreFacts(
            records=int(n),
            dim=dim,
            metric=METRICS.get(metric[1].lower() if metric else "l2", Metric.L2),
            vector_field=self.field,
            vector_fields=tuple(self._columns),
            index="exact",
            is_exact=True,
        )

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all rows, in the table's order."""
        dim = self._columns[self.field][0]
        columns = ", ".join(map(quoted, (self._key, self.field, *self._others)))
        with _reported(self.name):
            cursor = self._db.cursor().execute(f"SELECT {columns} FROM {quoted(self.collection)}")
        while True:
            with _reported(self.name):
                rows = [row for _, row in zip(range(size), cursor, strict=False)]
            if not rows:
                return
            values = [None if r[1] is None else np.frombuffer(r[1], np.float32) for r in rows]
            vectors, broken = stacked(values, dim)
            payloads = [dict(zip(self._others, row[2:], strict=True)) for row in rows]
            yield Records([str(row[0]) for row in rows], vectors, payloads, broken)

    def search(
        self,
        vectors: FloatArray,
        k: int,
        *,
        matching: Filter | None = None,
        exact: bool = False,
    ) -> list[Hits]:
        """Return the k best of each vector; scores are distances with their sign turned."""
        check_keys(matching or {}, [self._key, *self._others], self.name)
        where = "".join(f" AND {quoted(key)} = ?" for key in matching or {})
        statement = (
            f"SELECT {quoted(self._key)}, distance FROM {quoted(self.collection)} "
            f"WHERE {quoted(self.field)} MATCH ? AND k = ?{where} ORDER BY distance"
        )
        answers = []
        for vector in vectors:
            values = (np.asarray(vector, np.float32).tobytes(), k, *(matching or {}).values())
            with _reported(self.name):
                rows = self._db.execute(statement, values).fetchall()
            # a vector with a NaN has no distance, and comes first
            answers.append([(str(id_), -float(far)) for id_, far in rows if far is not None])
        return answers

    def upsert(self, records: Records) -> None:
        """Write rows in one transaction; those whose key is there take its place."""
        columns = (self._key, self.field, *self._others)
        marks = ", ".join("?" * len(columns))
        insert = (
            f"INSERT INTO {quoted(self.collection)} ({', '.join(map(quoted, columns))}) "
            f"VALUES ({marks})"
        )
        with _reported(self.name), self._db:
            self.delete(records.ids)
            for id_, vector, payload in records.rows():
                others = [payload.get(name) for name in self._others]
                blob = np.asarray(vector, np.float32).tobytes()
                self._db.execute(insert, (self._native(id_), blob, *others))

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        statement = f"DELETE FROM {quoted(self.collection)} WHERE {quoted(self._key)} = ?"
        with _reported(self.name), self._db:
            self._db.executemany(statement, [(self._native(id_),) for id_ in listed(ids)])

    @property
    def columns(self) -> Sequence[str] | None:
        """The other columns of the table."""
        return self._others

    def record_id(self, name: str) -> str:
        """Return the name."""
        if not self._key_is_text:
            raise numbers_refused(self.name)
        return name

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all rows that match, in the table's order."""
        check_keys(matching or {}, [self._key, *self._others], self.name)
        columns = ", ".join(map(quoted, (self._key, *self._others)))
        where = " AND ".join(f"{quoted(key)} = ?" for key in matching or {})
        statement = f"SELECT {columns} FROM {quoted(self.collection)}"
        statement += f" WHERE {where}" if where else ""
        with _reported(self.name):
            cursor = self._db.cursor().execute(statement, tuple((matching or {}).values()))
        while True:
            with _reported(self.name):
                rows = [row for _, row in zip(range(size), cursor, strict=False)]
            if not rows:
                return
            payloads = [dict(zip(self._others, row[1:], strict=True)) for row in rows]
            yield [str(row[0]) for row in rows], payloads

    def sibling(self, name: str) -> SqliteVecStore | None:
        """Open another table; it has the same column of vectors."""
        with _reported(self.name):
            if not self._statement(name):
                return None
        return SqliteVecStore(self._db, name, sibling_name(self.name, name), self.field)

    def make_sibling(self, name: str) -> SqliteVecStore:
        """Make one whose ids are texts."""
        columns = {**self._declared, **OF_REMEDIES}
        key = next(k for k in (self._key, "id", "record_id") if k not in {"rowid", *columns})
        listed = [
            f"{key} TEXT PRIMARY KEY",
            f"{self.field} FLOAT[{self._columns[self.field][0]}] distance_metric=cosine",
            *(f"{'+' * kind.startswith('+')}{c} {kind.lstrip('+')}" for c, kind in columns.items()),
        ]
        with _reported(self.name):
            self._db.execute(
                f"CREATE VIRTUAL TABLE {quoted(name)} /* {MARK} */ USING vec0({', '.join(listed)})"
            )
        return SqliteVecStore(self._db, name, sibling_name(self.name, name), self.field)

    def drop_sibling(self, name: str) -> bool:
        """Remove one that Argus made, once it is empty."""
        with _reported(self.name):
            if f"/* {MARK} */" not in self._statement(name):
                return False
            (rows,) = self._db.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()
            if rows:
                return False
            self._db.execute(f"DROP TABLE {quoted(name)}")
        return True

    def _statement(self, table: str) -> str:
        """Return how a table was made; "" where there is none."""
        row = self._db.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
        ).fetchone()
        return str(row[0]) if row else ""

    def interrupt(self) -> None:
        """Stop the search that is under way."""
        self._db.interrupt()

    def close(self) -> None:
        """Close the file; where a search that was given up still reads it, at our own end."""
        import apsw

        with suppress(apsw.ThreadingViolationError):
            self._db.close()

    def _native(self, id_: str) -> int | str:
        return native_id(id_, is_text=self._key_is_text, name=self.name)


def _declared(statement: str, names: Sequence[str]) -> dict[str, str]:
    """Return the types of columns, as a vec0 table was made with them; "+" before an auxiliary."""
    inner = statement[statement.index("(") + 1 : statement.rindex(")")]
    matches = (_COLUMN.match(part.strip()) for part in inner.split(","))
    columns = {m["name"]: m["plus"] + m["type"] for m in matches if m}
    return {name: columns[name] for name in names}


def open_sqlite_vec(place: str, table: str, field: str | None) -> SqliteVecStore:
    """Open a vec0 table of an SQLite file, through apsw: some Pythons load no extensions."""
    import apsw
    import sqlite_vec

    name = f"sqlite-vec:{place}/{table}"
    if not Path(place).is_file():
        raise no_folder(place, "SQLite")
    with _reported(name):
        connection = apsw.Connection(place)
        connection.set_busy_timeout(BUSY_MS)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
    with closed_on_error(connection):
        return SqliteVecStore(connection, table, name, field)
