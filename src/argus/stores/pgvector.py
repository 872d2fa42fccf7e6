"""Read, search and write a pgvector column of a PostgreSQL table.

`pgvector:postgresql://.../TABLE` of --store and --corpus (https://github.com/pgvector/pgvector). It
implements `argus.stores.protocol`. Statements are never prepared: after five runs a plan would be
kept, and `enable_indexscan = off` would no longer reach it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.data.documents import listed
from argus.data.types import FloatArray
from argus.data.writing import closing_if_it_fails
from argus.stores.client import Client, no_collection, quoted, stacked, uuid_of
from argus.stores.protocol import MARK, SCALE, TEXTS, Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import StoreConfig, StoreSpec

if TYPE_CHECKING:
    import psycopg

# Number formats of the columns that are read and searched, as the server sends them.
TYPES = {"vector": ">f4", "halfvec": ">f2"}
OPERATORS = {Metric.COSINE: "<=>", Metric.DOT: "<#>", Metric.L2: "<->"}
_CLASSES = {
    f"{type_}_{name}_ops": metric
    for type_ in TYPES
    for name, metric in (("cosine", Metric.COSINE), ("ip", Metric.DOT), ("l2", Metric.L2))
}
CANCEL_S = 5.0
_TABLES = """
SELECT DISTINCT attrelid::regclass::text FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relkind = 'r' AND format_type(a.atttypid, -1) = ANY(%s)
"""
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


class PgVectorStore(Client):
    """One vector column of a table. Without an index PostgreSQL compares every row."""

    can_search_exactly = True

    def __init__(
        self, connection: psycopg.Connection[Any], table: str, name: str, *,
        field: str | None = None, id_field: str | None = None, metric: str | None = None,
        hidden: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(name, table, hidden)
        self._db, regclass = connection, _of_table(table)
        self._table = _in_sql(regclass)
        if not self._is_there(regclass):
            raise no_collection(name, table, [row[0] for row in self._all(_TABLES, [*TYPES])])
        self._kinds = dict(self._all(_COLUMNS, regclass))
        primary = [row[0] for row in self._all(_PRIMARY, regclass)]
        fields = tuple(c for c, kind in self._kinds.items() if _type_of(kind)[0] in TYPES)
        self.field = self._vector_field(fields, field)
        self._id = self._id_column(list(self._kinds), id_field or next(iter(primary), None))
        self._others = [c for c in self._kinds if c not in {self._id, *fields}]
        self.columns = self._others
        self._type, self._dim = _type_of(self._kinds[self.field])
        self._has_text_ids = _type_of(self._kinds[self._id])[0] in ("text", "character varying")
        rows = self._all(_INDEXES, regclass, self.field, [*_CLASSES])
        metrics = [_CLASSES[class_] for _, class_, *_ in rows]
        self._metric = Metric(metric) if metric else next(iter(metrics), Metric.COSINE)
        # Kind, class, options, and the rows that it holds as SQL (None: all) of an index.
        self._index = next((row for row in rows if _CLASSES[row[1]] is self._metric), None)

    def describe(self) -> StoreFacts:
        """Return its facts as they are now."""
        ((n,),) = self._all(f"SELECT count(*) FROM {self._table}")
        index, held = "", None
        if self._index is not None:
            kind, _, options, held = self._index
            index = kind + (f" ({', '.join(options)})" if options else "")
            index = index if held is None else f"exact ({index} only WHERE {held})"
        is_exact = self._index is None or held is not None
        return self._facts(int(n), self._dimensions(), index, is_exact=is_exact)

    def _dimensions(self) -> int:
        """Return the length of the vectors. That of the first, where the column names none."""
        if not self._dim:
            field = _quoted(self.field)
            first = self._all(
                f"SELECT vector_dims({field}) FROM {self._table} WHERE {field} IS NOT NULL LIMIT 1"
            )
            self._dim = first[0][0] if first else 0
        return self._dim

    def _pages(
        self, size: int, matching: Filter | None, *, with_vectors: bool
    ) -> Iterator[Records]:
        """Yield the rows that match, through a cursor of the server's."""
        dim = self._dimensions() if with_vectors else 0
        vector = [f"{self._type}_send({_quoted(self.field)})"] * with_vectors
        columns = ", ".join([f"{_quoted(self._id)}::text", *map(_quoted, self._others), *vector])
        where, values = self._where(matching)
        with self._db.transaction(), self._db.cursor("argus_reading") as cursor:
            cursor.itersize = size
            cursor.execute(f"SELECT {columns} FROM {self._table} {where}", values)
            while rows := cursor.fetchmany(size):
                blobs = [row[-1] if with_vectors else b"" for row in rows]
                vectors, broken = stacked([self._numbers(blob) for blob in blobs], dim)
                payloads = [dict(zip(self._others, row[1:], strict=False)) for row in rows]
                yield Records([row[0] for row in rows], vectors, payloads, broken)

    def search(
        self, vectors: FloatArray, k: int, *, matching: Filter | None = None, exact: bool = False
    ) -> list[Hits]:
        """Return the k best of each vector. Scores are distances with their sign turned."""
        operator = OPERATORS[self._metric]
        where, values = self._where(matching)
        distance = f"{_quoted(self.field)} {operator} %s::{self._type}"
        statement = (
            f"SELECT {_quoted(self._id)}::text, {distance} AS distance FROM {self._table} "
            f"{where} ORDER BY {distance} LIMIT %s"
        )
        answers = []
        with self._db.transaction():
            if exact:
                self._db.execute("SET LOCAL enable_indexscan = off")
            for vector in vectors:
                text = _text(vector)
                rows = self._db.execute(statement, [text, *values, text, k], prepare=False)
                # a row without a vector has no distance, and comes last
                answers.append([(id_, -float(far)) for id_, far in rows if far is not None])
        return answers

    def _where(self, matching: Filter | None) -> tuple[str, list[Any]]:
        """Return a filter as SQL, "" for none, with its values: of columns, or paths into JSON."""
        terms: list[str] = []
        values: list[Any] = []
        for key, value in (matching or {}).items():
            column, path = self._column_of(key, [self._id, *self._others])
            name = _quoted(column)
            if path:
                terms.append(f"{name}::jsonb #> %s::text[] @> %s::jsonb")
                values += [path, json.dumps(value)]
            else:
                is_list = self._kinds[column].endswith("[]")
                terms.append(f"%s = ANY({name})" if is_list else f"{name} = %s")
                values.append(value)
        return (f"WHERE {' AND '.join(terms)}" if terms else ""), values

    def upsert(self, records: Records) -> None:
        """Write rows in one transaction. The column of ids has to be unique."""
        columns = [self._id, self.field, *self._others]
        updates = ", ".join(f"{_quoted(c)} = EXCLUDED.{_quoted(c)}" for c in columns[1:])
        statement = (
            f"INSERT INTO {self._table} ({', '.join(map(_quoted, columns))}) "
            f"VALUES (%s, {', '.join([f'%s::{self._type}', *['%s'] * len(self._others)])}) "
            f"ON CONFLICT ({_quoted(self._id)}) DO UPDATE SET {updates}"
        )
        rows = [
            [
                id_,
                _text(vector),
                *(_as_column(payload.get(c), self._kinds[c]) for c in self._others),
            ]
            for id_, vector, payload in records.rows()
        ]
        with self._db.transaction(), self._db.cursor() as cursor:
            cursor.executemany(statement, rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        column = _quoted(self._id) + ("" if self._has_text_ids else "::text")
        with self._db.transaction():
            self._db.execute(f"DELETE FROM {self._table} WHERE {column} = ANY(%s)", [listed(ids)])

    def record_id(self, name: str) -> str:
        """Return the name, or a UUID made of it."""
        return uuid_of(name) if self._kinds[self._id] == "uuid" else super().record_id(name)

    def _open(self, collection: str, name: str) -> PgVectorStore | None:
        if not self._is_there(_of_table(collection)):
            return None
        return PgVectorStore(
            self._db, collection, name, field=self.field, id_field=self._id, hidden=self._hidden
        )

    def _make(self, name: str) -> None:
        """Make a table, with an HNSW index where this one has one for all rows."""
        kinds = {
            self._id: "text PRIMARY KEY",
            self.field: f"{self._type}({self._dimensions()})",
            **{c: self._kinds[c] for c in self._others},
            **{c: "text" for c in TEXTS if c not in self._others},
            **({} if SCALE in self._others else {SCALE: "double precision"}),
        }
        columns = ", ".join(f"{_quoted(c)} {kind}" for c, kind in kinds.items())
        table, (kind, _, options, held) = _in_sql(_of_table(name)), self._index or ("", "", None, 0)
        with self._db.transaction():
            self._db.execute(f"CREATE TABLE {table} ({columns})", [])
            self._db.execute(f"COMMENT ON TABLE {table} IS '{MARK}'", [])
            if held is None and kind == "hnsw":
                settings = f" WITH ({', '.join(options)})" if options else ""
                column = f"({_quoted(self.field)} {self._type}_cosine_ops)"
                self._db.execute(f"CREATE INDEX ON {table} USING hnsw {column}{settings}", [])

    def drop_sibling(self, name: str) -> bool:
        """Remove a collection that Argus made, once it is empty. Return whether it was removed."""
        with self._db.transaction():
            return super().drop_sibling(name)

    def _is_own_and_empty(self, name: str) -> bool:
        described = "SELECT obj_description(%s::regclass, 'pg_class')"
        is_ours = self._all(described, _of_table(name)) == [(MARK,)]
        return is_ours and not self._all(f"SELECT 1 FROM {_in_sql(_of_table(name))} LIMIT 1")

    def _drop(self, name: str) -> None:
        self._db.execute(f"DROP TABLE {_in_sql(_of_table(name))}", [])

    def interrupt(self) -> None:
        """Stop the statement that is under way, if the server can be reached."""
        import psycopg

        with suppress(psycopg.Error):
            self._db.cancel_safe(timeout=CANCEL_S)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def _numbers(self, sent: bytes | None) -> FloatArray | None:
        """Return the numbers of a vector. Its length and two unused bytes stand before them."""
        if not sent:
            return None if sent is None else np.zeros(0, np.float32)
        return np.frombuffer(sent, TYPES[self._type], offset=4).astype(np.float32)

    def _all(self, statement: str, *values: Any) -> list[Any]:
        return self._db.execute(statement, list(values)).fetchall()

    def _is_there(self, regclass: str) -> bool:
        return self._all("SELECT to_regclass(%s)", regclass)[0][0] is not None


def _text(vector: FloatArray) -> str:
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def _as_column(value: Any, kind: str) -> Any:
    """Return a payload's value for a column of a type, which tells JSON from an array."""
    if value is not None and kind in ("json[]", "jsonb[]"):
        return [_as_column(part, kind[:-2]) for part in value]
    if value is None or kind not in ("json", "jsonb"):
        return value
    from psycopg.types.json import Json, Jsonb

    return (Jsonb if kind == "jsonb" else Json)(value)


def open_pgvector(
    spec: StoreSpec, config: StoreConfig, key: str | None, hidden: Sequence[str]
) -> PgVectorStore:
    """Open a table of postgresql://.... key: its password, kept out of messages."""
    import psycopg

    options: dict[str, Any] = {"password": key} if key else {}
    connection = psycopg.connect(spec.place, autocommit=True, connect_timeout=10, **options)
    connection.prepare_threshold = None
    with closing_if_it_fails(connection):
        return PgVectorStore(
            connection, spec.collection, str(spec), field=config.vector_field,
            id_field=config.id_field, metric=config.metric, hidden=hidden,
        )  # fmt: skip


def _type_of(kind: str) -> tuple[str, int]:
    """Return a column's type and its length, 0 where it has none."""
    type_, _, length = kind.partition("(")
    return type_, int(length.rstrip(")")) if length.rstrip(")").isdecimal() else 0


def _of_table(name: str) -> str:
    """Return the name of a table, perhaps with a schema, as PostgreSQL reads one."""
    return ".".join(map(quoted, name.split(".")))


def _quoted(column: str) -> str:
    """Return the name of a column as a statement of psycopg has it."""
    return _in_sql(quoted(column))


def _in_sql(name: str) -> str:
    """Return a name as it stands in a statement: a % begins the place of a value there."""
    return name.replace("%", "%%")
