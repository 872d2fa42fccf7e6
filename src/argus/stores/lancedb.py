"""LanceDB: a folder or an address of an object store (https://lancedb.github.io/lancedb)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.arguments import listed
from argus.data.types import FloatArray
from argus.errors import InputError
from argus.stores.columns import check_keys, id_column, vector_field
from argus.stores.errors import no_collection, no_folder, reported
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
)  # fmt: skip

METRICS = {"cosine": Metric.COSINE, "dot": Metric.DOT, "l2": Metric.L2}
OURS, RANKING = b"argus", b"argus.metric"
"""Of the metadata of a table that Argus made: MARK, and by what it ranks."""


class LanceStore:
    """One vector column of a table. Without an index its rows are compared one by one."""

    can_search_exactly = True

    def __init__(
        self,
        table: Any,
        name: str,
        *,
        field: str | None,
        id_field: str | None,
        metric: str | None,
        hidden: Sequence[str] = (),
        database: Any = None,
    ) -> None:
        self.name, self._table, self._hidden = name, table, hidden
        self._database, self.collection = database, str(table.name)
        with reported(name, hidden):
            schema: pa.Schema = table.schema
        self._fields = tuple(f.name for f in schema if _is_vector(f.type))
        self.field = vector_field(self._fields, field, name)
        self._id = id_column([f.name for f in schema], id_field, name)
        self._paths = dict(_paths(schema))
        self._others = [f.name for f in schema if f.name not in {self._id, *self._fields}]
        self._has_numbers = pa.types.is_integer(schema.field(self._id).type)
        with reported(name, hidden):
            indexes = {column: i for i in table.list_indices() for column in i.columns}
            self._index = indexes.get(self.field)
            stats = table.index_stats(self._index.name) if self._index else None
        of_index = str(stats.distance_type).lower() if stats and stats.distance_type else None
        of_table = (schema.metadata or {}).get(RANKING, b"").decode() or None
        self._metric = _ranking(metric, of_index, of_table, name)

    def describe(self) -> StoreFacts:
        """Return what is known of it now; the metric is the index's, where there is one."""
        with reported(self.name, self._hidden):
            rows = self._table.count_rows()
            kind = self._table.schema.field(self.field).type
        return StoreFacts(
            records=rows,
            dim=_dim(kind, self._table, self.field),
            metric=self._metric,
            vector_field=self.field,
            vector_fields=self._fields,
            index=str(self._index.index_type) if self._index else "exact",
            is_exact=self._index is None,
        )

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all rows, in the table's order."""
        dim = self.describe().dim
        columns = [self._id, self.field, *self._others]
        with reported(self.name, self._hidden):
            query = self._table.search().select(columns)
            batches = iter(query.to_batches(batch_size=size))
        while True:
            with reported(self.name, self._hidden):
                batch = next(batches, None)
            if batch is None:
                return
            vectors, broken = _vectors(batch.column(self.field), dim)
            ids = [str(id_) for id_ in batch.column(self._id).to_pylist()]
            payloads = batch.select(self._others).to_pylist() if self._others else [{}] * len(ids)
            yield Records(ids, vectors, payloads, broken)

    def search(
        self,
        vectors: FloatArray,
        k: int,
        *,
        matching: Filter | None = None,
        exact: bool = False,
    ) -> list[Hits]:
        """Return the k best of each vector; scores are distances with their sign turned."""
        where = self._where(matching)
        answers = []
        for vector in vectors:
            with reported(self.name, self._hidden):
                query = self._table.search(vector, vector_column_name=self.field)
                query = query.distance_type(str(self._metric))
                query = query.select([self._id, "_distance"]).limit(k)
                query = query.where(where, prefilter=True) if where else query
                rows = (query.bypass_vector_index() if exact else query).to_arrow()
            ids, distances = rows[self._id].to_pylist(), rows["_distance"].to_pylist()
            answers.append([(str(i), -float(d)) for i, d in zip(ids, distances, strict=True)])
        return answers

    def upsert(self, records: Records) -> None:
        """Write rows; those whose id is there take its place."""
        with reported(self.name, self._hidden):
            merge = self._table.merge_insert(self._id).when_matched_update_all()
            merge.when_not_matched_insert_all().execute(self._rows(records))

    def _rows(self, records: Records) -> pa.Table:
        """Return records as rows of the table; vectors go as one block of numbers."""
        schema: pa.Schema = self._table.schema
        place, kind = schema.get_field_index(self.field), schema.field(self.field).type
        ids = [self._native(id_) for id_ in records.ids]
        rows = [
            {self._id: id_, **payload} for id_, payload in zip(ids, records.payloads, strict=True)
        ]
        table = pa.Table.from_pylist(rows, schema=schema.remove(place))
        flat = pa.array(np.ascontiguousarray(records.vectors, np.float32).ravel())
        vectors = pa.FixedSizeListArray.from_arrays(flat, records.vectors.shape[1]).cast(kind)
        return table.add_column(place, schema.field(place), vectors)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        gone = ", ".join(_literal(self._native(id_)) for id_ in listed(ids))
        with reported(self.name, self._hidden):
            self._table.delete(f"{self._paths[self._id][0]} IN ({gone})")

    @property
    def columns(self) -> Sequence[str] | None:
        """The other columns of the table."""
        return self._others

    def record_id(self, name: str) -> str:
        """Return the name."""
        if self._has_numbers:
            raise numbers_refused(self.name)
        return name

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all rows that match, in the table's order."""
        where = self._where(matching)
        with reported(self.name, self._hidden):
            query = self._table.search().select([self._id, *self._others])
            batches = iter((query.where(where) if where else query).to_batches(batch_size=size))
        while True:
            with reported(self.name, self._hidden):
                batch = next(batches, None)
            if batch is None:
                return
            ids = [str(id_) for id_ in batch.column(self._id).to_pylist()]
            yield ids, batch.select(self._others).to_pylist() if self._others else [{}] * len(ids)

    def sibling(self, name: str) -> LanceStore | None:
        """Open another table; it has the same columns of ids and vectors."""
        with reported(self.name, self._hidden):
            if name not in _tables(self._database):
                return None
            table = self._database.open_table(name)
        return LanceStore(
            table, sibling_name(self.name, name), field=self.field, id_field=self._id, metric=None,
            hidden=self._hidden, database=self._database,
        )  # fmt: skip

    def make_sibling(self, name: str) -> LanceStore:
        """Make one without an index."""
        schema: pa.Schema = self._table.schema
        dim = self.describe().dim
        fields = [
            pa.field(self._id, pa.string()),
            pa.field(self.field, pa.list_(pa.float32(), dim)),
            *(pa.field(name, schema.field(name).type) for name in self._others),
            *(pa.field(name, pa.string()) for name in TEXTS if name not in self._others),
            *(pa.field(name, pa.float64()) for name in NUMBERS if name not in self._others),
        ]
        metadata = {OURS: MARK.encode(), RANKING: str(Metric.COSINE).encode()}
        with reported(self.name, self._hidden):
            self._database.create_table(name, schema=pa.schema(fields, metadata=metadata))
        store = self.sibling(name)
        assert store is not None
        return store

    def drop_sibling(self, name: str) -> bool:
        """Remove one that Argus made, once it is empty."""
        with reported(self.name, self._hidden):
            table = self._database.open_table(name)
            is_ours = (table.schema.metadata or {}).get(OURS) == MARK.encode()
            if not is_ours or table.count_rows():
                return False
            self._database.drop_table(name)
        return True

    def _where(self, matching: Filter | None) -> str:
        """Return a filter as SQL; "" for none."""
        check_keys(matching or {}, self._paths, self.name)
        return " AND ".join(
            _condition(*self._paths[key], value) for key, value in (matching or {}).items()
        )

    def close(self) -> None:
        """Let go of the table."""
        self._table = None

    def _native(self, id_: str) -> int | str:
        """Return an id as the column of ids has them."""
        if not self._has_numbers:
            return id_
        if not id_.lstrip("-").isdecimal():
            raise InputError(
                f"id {id_!r}", expected=f"a whole number, as {self._id!r} holds them",
                fix="Correct it.", where=self.name,
            )  # fmt: skip
        return int(id_)


def open_lancedb(
    place: str, collection: str, *, field: str | None, id_field: str | None, metric: str | None
) -> LanceStore:
    """Open a table. metric: of a column without an index (cosine, dot or l2), which has none."""
    name, hidden = f"lancedb:{shown(place)}/{collection}", hide(place)
    import lancedb

    if "://" not in place and not Path(place).is_dir():  # LanceDB would make one
        raise no_folder(place, "LanceDB")
    with reported(name, hidden):
        database = lancedb.connect(place)
        names = _tables(database)
        if collection not in names:
            raise no_collection(name, collection, names)
        table = database.open_table(collection)
    return LanceStore(
        table, name, field=field, id_field=id_field, metric=metric, hidden=hidden,
        database=database,
    )  # fmt: skip


def _tables(database: Any) -> list[str]:
    return list(database.list_tables(limit=10_000).tables)


def _ranking(metric: str | None, of_index: str | None, of_table: str | None, name: str) -> Metric:
    """Return by what a table ranks: by its index's metric, or by the one that is named.

    of_table: of one that Argus made.
    """
    if of_index is not None and of_index not in METRICS:
        raise InputError(
            f"ranks by {of_index}", expected=f"one of {', '.join(METRICS)}",
            fix="Argus cannot recompute that.", where=name,
        )  # fmt: skip
    if metric is not None and of_index not in (None, metric):
        raise InputError(
            f"--store-metric {metric}", expected=f"{of_index}, by which its index ranks",
            fix="Leave it out.", where=name,
        )  # fmt: skip
    return METRICS[of_index or metric or of_table or "l2"]


def _is_vector(kind: pa.DataType) -> bool:
    lists = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind)
    return bool(lists and pa.types.is_floating(kind.value_type))


def _paths(
    fields: Iterable[pa.Field], dotted: str = "", quoted: str = ""
) -> Iterator[tuple[str, tuple[str, pa.DataType]]]:
    """Yield the name of each field, and of those within it, with how SQL has it and its type."""
    for field in fields:
        name, sql = dotted + field.name, quoted + "`" + field.name.replace("`", "``") + "`"
        yield name, (sql, field.type)
        if pa.types.is_struct(field.type):
            yield from _paths(field.type.fields, name + ".", sql + ".")


def _dim(kind: pa.DataType, table: Any, field: str) -> int:
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size)
    first = table.search().select([field]).limit(1).to_arrow()[field].to_pylist()
    return len(first[0]) if first and first[0] else 0


def _vectors(column: pa.Array, dim: int) -> tuple[FloatArray, dict[int, str]]:
    if pa.types.is_fixed_size_list(column.type) and column.null_count == 0:
        values = column.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(values, np.float32).reshape(len(column), dim), {}
    return stacked(column.to_pylist(), dim)


def _condition(sql: str, kind: pa.DataType, value: Any) -> str:
    """Return what a filter asks of a field; a list holds the value."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"array_has({sql}, {_literal(value)})"
    if isinstance(value, str) and (name := _cast(kind)):
        return f"{sql} = CAST({_literal(value)} AS {name})"
    return f"{sql} = {_literal(value)}"


def _cast(kind: pa.DataType) -> str | None:
    """Return what SQL calls a type whose values are written as texts; None for another."""
    if pa.types.is_date(kind):
        return "DATE"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP"
    return f"DECIMAL({kind.precision},{kind.scale})" if pa.types.is_decimal(kind) else None


def _literal(value: Any) -> str:
    """Return a value as LanceDB's SQL has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise InputError(
        f"{value!r}", expected="text, a number, true or false", fix="Correct it.", where="--where"
    )
