"""pgvector: a column of vectors in PostgreSQL (https://github.com/pgvector/pgvector).

Statements are never prepared: after five runs a plan would be kept, and `enable_indexscan = off`
would no longer reach it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.data.arguments import listed
from argus.data.types import FloatArray
from argus.stores.columns import column_of, id_column, quoted, vector_field
from argus.stores.errors import closed_on_error, no_collection, reported
from argus.stores.pgvector_values import as_column, prepared, register_vectors, sent
from argus.stores.protocol import Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import hide, shown
from argus.stores.vectors import stacked
from argus.stores.writable import (
    MARK,
    NUMBERS,
    TEXTS,
    Entries,
    numbers_refused,
    sibling_name,
    uuid_of,
)  # fmt: skip

if TYPE_CHECKING:
    import psycopg

TYPES = {"vector": ">f4", "halfvec": ">f2"}
"""Of columns that are read and searched: their numbers, as the server sends them."""
OPERATORS = {Metric.COSINE: "<=>", Metric.DOT: "<#>", Metric.L2: "<->"}
_CLASSES = {
    f"{type_}_{name}_ops": metric
    for type_ in TYPES
    for name, metric in (("cosine", Metric.COSINE), ("ip", Metric.DOT), ("l2", Metric.L2))
}
_ID_TEXTS = ("text", "character varying")
CANCEL_S = 5.0
_LENGTH = re.compile(r"(?P<type>\w+)(?:\((?P<dim>\d+)\))?")
_COLUMNS = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_attribute a WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_INDEXES = """
SELECT am.amname, opc.opcname, c.reloptions, pg_get_expr(i.indpred, i.indrelid)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am am ON am.oid = c.relam
JOIN pg_opclass opc ON opc.oid = i.indclass[0]
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = %s::regclass AND a.attname = %s AND am.amname IN ('hnsw', 'ivfflat')
  AND i.indisvalid
  AND opc.opcname = ANY(%s)
ORDER BY i.indpred IS NOT NULL, c.relname
"""
_PRIMARY = """
SELECT a.attname FROM pg_index i
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = %s::regclass AND i.indisprimary AND i.indnkeyatts = 1
"""


@dataclass(frozen=True)
class _VectorIndex:
    """An approximate index of the column. rows: which it holds, as SQL; None for all of them."""

    kind: str
    metric: Metric
    options: Sequence[str] | None
    rows: str | None

    def __str__(self) -> str:
        text = self.kind + (f" ({', '.join(self.options)})" if self.options else "")
        return text if self.rows is None else f"exact ({text} only WHERE {self.rows})"


class PgVectorStore:
    """One vector column of a table. Without an index PostgreSQL compares every row."""

    can_search_exactly = True

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        table: str,
        name: str,
        *,
        field: str | None = None,
        id_field: str | None = None,
        metric: str | None = None,
        hidden: Sequence[str] = (),
    ) -> None:
        self._hidden = hidden
        self.name, self._db, self._table = name, connection, _in_sql(_of_table(table))
        self.collection, named = table, _of_table(table)
        with reported(name, hidden):
            regclass = connection.execute("SELECT to_regclass(%s)", [named]).fetchone()
        if regclass is None or regclass[0] is None:
            raise no_collection(name, table, self._tables())
        with reported(name, hidden):
            columns = dict(connection.execute(_COLUMNS, [named]).fetchall())
        self._fields = tuple(c for c, kind in columns.items() if kind.partition("(")[0] in TYPES)
        self.field = vector_field(self._fields, field, name)
        with reported(name, hidden):
            primary = connection.execute(_PRIMARY, [named]).fetchone()
        self._id = id_column(list(columns), id_field or (primary and primary[0]), name)
        self._kinds = columns
        self._others = [c for c in columns if c not in {self._id, *self._fields}]
        length = _LENGTH.match(columns[self.field])
        self._type, self._dim = (length["type"], int(length["dim"] or 0)) if length else ("", 0)
        with reported(name, hidden):
            rows = connection.execute(_INDEXES, [named, self.field, [*_CLASSES]]).fetchall()
        indexes = [
            _VectorIndex(kind, _CLASSES[class_], options, only)
            for kind, class_, options, only in rows
        ]
        self._metric = Metric(metric) if metric else indexes[0].metric if indexes else Metric.COSINE
        self._index = next((i for i in indexes if i.metric is self._metric), None)
        with reported(name, hidden):
            register_vectors(connection, self._type)

    def describe(self) -> StoreFacts:
        """Return what is known of it now; the metric is the index's, or the one that was named."""
        with reported(self.name, self._hidden):
            (n,) = self._one(f"SELECT count(*) FROM {self._table}")
        return StoreFacts(
            records=int(n),
            dim=self._dimensions(),
            metric=self._metric,
            vector_field=self.field,
            vector_fields=self._fields,
            index=str(self._index or "exact"),
            is_exact=self._index is None or self._index.rows is not None,
        )

    def _dimensions(self) -> int:
        """Return the length of the vectors; that of the first, where the column names none."""
        if not self._dim:
            with reported(self.name, self._hidden):
                first = self._one(
                    f"SELECT vector_dims({_quoted(self.field)}) FROM {self._table} "
                    f"WHERE {_quoted(self.field)} IS NOT NULL LIMIT 1"
                )
            self._dim = first[0] if first else 0
        return self._dim

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all rows, through a cursor of the server's."""
        dim = self._dimensions()
        columns = ", ".join(
            [
                f"{_quoted(self._id)}::text",
                f"{self._type}_send({_quoted(self.field)})",
                *map(_quoted, self._others),
            ]
        )
        with (
            reported(self.name, self._hidden),
            self._db.transaction(),
            self._db.cursor(name="argus_reading") as cursor,
        ):
            cursor.itersize = size
            cursor.execute(f"SELECT {columns} FROM {self._table}", [])
            while rows := cursor.fetchmany(size):
                values = [None if r[1] is None else self._numbers(r[1]) for r in rows]
                vectors, broken = stacked(values, dim)
                payloads = [dict(zip(self._others, row[2:], strict=True)) for row in rows]
                yield Records([row[0] for row in rows], vectors, payloads, broken)

    def search(
        self,
        vectors: FloatArray,
        k: int,
        *,
        matching: Filter | None = None,
        exact: bool = False,
    ) -> list[Hits]:
        """Return the k best of each vector; scores are distances with their sign turned."""
        operator = OPERATORS[self._metric]
        where, values = self._where(matching)
        distance = f"{_quoted(self.field)} {operator} %s::{self._type}"
        statement = (
            f"SELECT {_quoted(self._id)}::text, {distance} AS distance FROM {self._table} "
            f"{where} ORDER BY {distance} LIMIT %s"
        )
        answers = []
        with reported(self.name, self._hidden), self._searching(k, exact=exact):
            for vector in vectors:
                text = _written(vector)
                rows = self._db.execute(statement, [text, *values, text, k], prepare=False)
                # a row without a vector has no distance, and comes last
                answers.append([(id_, -float(far)) for id_, far in rows if far is not None])
        return answers

    def _where(self, matching: Filter | None) -> tuple[str, list[Any]]:
        """Return a filter as SQL, "" for none, with its values."""
        terms = [self._condition(key, value) for key, value in (matching or {}).items()]
        where = " AND ".join(sql for sql, _ in terms)
        return (f"WHERE {where}" if where else ""), [v for _, vs in terms for v in vs]

    def _condition(self, key: str, value: Any) -> tuple[str, list[Any]]:
        """Return a filter's condition with its values: of a column, or of what JSON has in it."""
        column, path = column_of(key, [self._id, *self._others], self.name)
        name = _quoted(column)
        if path:
            return f"{name}::jsonb #> %s::text[] @> %s::jsonb", [path, json.dumps(value)]
        is_list = self._kinds[column].endswith("[]")
        return (f"%s = ANY({name})" if is_list else f"{name} = %s"), [value]

    def upsert(self, records: Records) -> None:
        """Write rows in one transaction; the column of ids has to be unique."""
        columns = [self._id, self.field, *self._others]
        updates = ", ".join(f"{_quoted(c)} = EXCLUDED.{_quoted(c)}" for c in columns[1:])
        statement = (
            f"INSERT INTO {self._table} ({', '.join(map(_quoted, columns))}) "
            f"VALUES ({', '.join(['%s'] * len(columns))}) "
            f"ON CONFLICT ({_quoted(self._id)}) DO UPDATE SET {updates}"
        )
        rows = [
            [
                id_,
                sent(vector, TYPES[self._type]),
                *(as_column(p.get(c), self._kinds[c]) for c in self._others),
            ]
            for id_, vector, p in records.rows()
        ]
        with (
            reported(self.name, self._hidden),
            prepared(self._db),
            self._db.transaction(),
            self._db.cursor() as cursor,
        ):
            cursor.executemany(statement, rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        column = _quoted(self._id) + ("" if self._kinds[self._id] in _ID_TEXTS else "::text")
        with reported(self.name, self._hidden), self._db.transaction():
            self._db.execute(f"DELETE FROM {self._table} WHERE {column} = ANY(%s)", [listed(ids)])

    @property
    def columns(self) -> Sequence[str] | None:
        """The other columns of the table."""
        return self._others

    def record_id(self, name: str) -> str:
        """Return the name, or a UUID made of it."""
        kind = self._kinds[self._id]
        if kind == "uuid":
            return uuid_of(name)
        if kind.partition("(")[0] not in _ID_TEXTS:
            raise numbers_refused(self.name)
        return name

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all rows that match, through a cursor of the server's."""
        columns = ", ".join([f"{_quoted(self._id)}::text", *map(_quoted, self._others)])
        where, values = self._where(matching)
        with (
            reported(self.name, self._hidden),
            self._db.transaction(),
            self._db.cursor(name="argus_reading") as cursor,
        ):
            cursor.itersize = size
            cursor.execute(f"SELECT {columns} FROM {self._table} {where}", values)
            while rows := cursor.fetchmany(size):
                payloads = [dict(zip(self._others, row[1:], strict=True)) for row in rows]
                yield [row[0] for row in rows], payloads

    def sibling(self, name: str) -> PgVectorStore | None:
        """Open another table; it has the same columns of ids and vectors."""
        with reported(self.name, self._hidden):
            row = self._db.execute("SELECT to_regclass(%s)", [_of_table(name)]).fetchone()
            if row is None or row[0] is None:
                return None
        return PgVectorStore(
            self._db, name, sibling_name(self.name, name), field=self.field, id_field=self._id,
            hidden=self._hidden,
        )  # fmt: skip

    def make_sibling(self, name: str) -> PgVectorStore:
        """Make one, with an HNSW index where this one has one for all rows."""
        kinds = {
            self._id: "text PRIMARY KEY",
            self.field: f"{self._type}({self._dimensions()})",
            **{c: self._kinds[c] for c in self._others},
            **{c: "text" for c in TEXTS if c not in self._others},
            **{c: "double precision" for c in NUMBERS if c not in self._others},
        }
        columns = ", ".join(f"{_quoted(c)} {kind}" for c, kind in kinds.items())
        table, index = _in_sql(_of_table(name)), self._index
        with reported(self.name, self._hidden), self._db.transaction():
            self._db.execute(f"CREATE TABLE {table} ({columns})", [])
            self._db.execute(f"COMMENT ON TABLE {table} IS '{MARK}'", [])
            if index is not None and index.rows is None and index.kind == "hnsw":
                self._db.execute(
                    f"CREATE INDEX ON {table} USING hnsw "
                    f"({_quoted(self.field)} {self._type}_cosine_ops)"
                    + (f" WITH ({', '.join(index.options)})" if index.options else ""),
                    [],
                )
        store = self.sibling(name)
        assert store is not None
        return store

    def drop_sibling(self, name: str) -> bool:
        """Remove one that Argus made, once it is empty."""
        table = _in_sql(_of_table(name))
        with reported(self.name, self._hidden), self._db.transaction():
            (mark,) = self._db.execute(
                "SELECT obj_description(%s::regclass, 'pg_class')", [_of_table(name)]
            ).fetchone() or (None,)
            if mark != MARK or self._one(f"SELECT 1 FROM {table} LIMIT 1"):
                return False
            self._db.execute(f"DROP TABLE {table}", [])
        return True

    def interrupt(self) -> None:
        """Stop the statement that is under way; a server that cannot be reached is let be."""
        import psycopg

        with suppress(psycopg.Error):
            self._db.cancel_safe(timeout=CANCEL_S)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def _numbers(self, sent: bytes) -> FloatArray:
        """Return the numbers of a vector; its length and two unused bytes stand before them."""
        return np.frombuffer(sent, TYPES[self._type], offset=4).astype(np.float32)

    def _one(self, statement: str) -> Any:
        return self._db.execute(statement, []).fetchone()

    def _tables(self) -> list[str]:
        rows = self._db.execute(
            "SELECT DISTINCT attrelid::regclass::text FROM pg_attribute a "
            "JOIN pg_class c ON c.oid = a.attrelid "
            "WHERE c.relkind = 'r' AND format_type(a.atttypid, -1) = ANY(%s)",
            [list(TYPES)],
        )
        return [row[0] for row in rows]

    @contextmanager
    def _searching(self, k: int, *, exact: bool) -> Iterator[None]:
        """Search as the server is set, or without any index, for one transaction."""
        with self._db.transaction():
            if exact:
                self._db.execute("SET LOCAL enable_indexscan = off")
            yield


def open_pgvector(
    place: str,
    table: str,
    *,
    field: str | None,
    id_field: str | None,
    password: str | None,
    metric: str | None,
) -> PgVectorStore:
    """Open a table. place: postgresql://...; password: kept out of the address and of messages."""
    import psycopg

    name, hidden = f"pgvector:{shown(place)}/{table}", hide(place, password)
    options: dict[str, Any] = {"password": password} if password else {}
    with reported(name, hidden):
        connection = psycopg.connect(place, autocommit=True, connect_timeout=10, **options)
        connection.prepare_threshold = None
    with closed_on_error(connection):
        return PgVectorStore(
            connection, table, name,
            field=field, id_field=id_field, metric=metric, hidden=hidden,
        )  # fmt: skip


def _written(vector: FloatArray) -> str:
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def _of_table(name: str) -> str:
    """Return the name of a table, perhaps with a schema, as PostgreSQL reads one."""
    return ".".join(map(quoted, name.split(".")))


def _quoted(column: str) -> str:
    """Return the name of a column as a statement of psycopg has it."""
    return _in_sql(quoted(column))


def _in_sql(name: str) -> str:
    """Return a name as it stands in a statement: a % begins the place of a value there."""
    return name.replace("%", "%%")
