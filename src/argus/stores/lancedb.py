"""Read, search and write a LanceDB table, in a folder or at an address.

`lancedb:PLACE/TABLE` of --store and --corpus (https://lancedb.github.io/lancedb). It implements
`argus.stores.protocol`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.documents import listed
from argus.data.types import FloatArray
from argus.errors import InputError
from argus.stores.client import Client, no_collection, no_folder, stacked
from argus.stores.protocol import MARK, SCALE, TEXTS, Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import StoreConfig, StoreSpec

METRICS = {"cosine": Metric.COSINE, "dot": Metric.DOT, "l2": Metric.L2}
OURS, RANKING = b"argus", b"argus.metric"
"""In the metadata of a table that Argus made: MARK, and the metric that it ranks by."""


class LanceStore(Client):
    """One vector column of a table. Without an index its rows are compared one by one."""

    can_search_exactly = True

    def __init__(
        self, database: Any, table: Any, name: str, *, field: str | None, id_field: str | None,
        metric: str | None, hidden: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(name, str(table.name), hidden)
        self._database, self._table = database, table
        schema: pa.Schema = table.schema
        lists = [
            f for f in schema if pa.types.is_fixed_size_list(f.type) or pa.types.is_list(f.type)
        ]
        fields = tuple(f.name for f in lists if pa.types.is_floating(f.type.value_type))
        self.field = self._vector_field(fields, field)
        self._id = self._id_column([f.name for f in schema], id_field)
        self._paths = dict(_paths(schema))
        self._others = [f.name for f in schema if f.name not in {self._id, *fields}]
        self.columns = self._others
        self._has_text_ids = not pa.types.is_integer(schema.field(self._id).type)
        indexes = {column: i for i in table.list_indices() for column in i.columns}
        self._index = indexes.get(self.field)
        stats = table.index_stats(self._index.name) if self._index else None
        indexed = str(stats.distance_type).lower() if stats and stats.distance_type else None
        own = (schema.metadata or {}).get(RANKING, b"").decode()
        self._metric = self._known_metric(indexed or metric or own or "l2", METRICS)
        if metric is not None and indexed not in (None, metric):
            expected = f"{indexed}, by which its index ranks"
            raise self._refused(f"--store-metric {metric}", expected, "Leave it out.")

    def describe(self) -> StoreFacts:
        """Return its facts as they are now. The metric is the index's, where there is one."""
        rows = self._table.count_rows()
        kind = self._table.schema.field(self.field).type
        if pa.types.is_fixed_size_list(kind):
            dim = int(kind.list_size)
        else:
            query = self._table.search().select([self.field]).limit(1)
            first = query.to_arrow()[self.field].to_pylist()
            dim = len(first[0]) if first and first[0] else 0
        index = str(self._index.index_type) if self._index else ""
        return self._facts(rows, dim, index, is_exact=self._index is None)

    def _pages(
        self, size: int, matching: Filter | None, *, with_vectors: bool
    ) -> Iterator[Records]:
        """Yield the rows that match, in the table's order."""
        dim, where = self.describe().dim if with_vectors else 0, self._where(matching)
        columns = [self._id, *[self.field] * with_vectors, *self._others]
        query = self._table.search().select(columns)
        for batch in (query.where(where) if where else query).to_batches(batch_size=size):
            ids = [str(id_) for id_ in batch.column(self._id).to_pylist()]
            payloads = batch.select(self._others).to_pylist() if self._others else [{}] * len(ids)
            column = batch.column(self.field) if with_vectors else None
            if column is None:
                vectors, broken = stacked([()] * len(ids), 0)
            elif pa.types.is_fixed_size_list(column.type) and column.null_count == 0:
                values = column.flatten().to_numpy(zero_copy_only=False)
                vectors, broken = np.asarray(values, np.float32).reshape(len(column), dim), {}
            else:
                vectors, broken = stacked(column.to_pylist(), dim)
            yield Records(ids, vectors, payloads, broken)

    def search(
        self, vectors: FloatArray, k: int, *, matching: Filter | None = None, exact: bool = False
    ) -> list[Hits]:
        """Return the k best of each vector. Scores are distances with their sign turned."""
        where = self._where(matching)
        answers = []
        for vector in vectors:
            query = self._table.search(vector, vector_column_name=self.field)
            query = query.distance_type(str(self._metric))
            query = query.select([self._id, "_distance"]).limit(k)
            query = query.where(where, prefilter=True) if where else query
            rows = (query.bypass_vector_index() if exact else query).to_arrow()
            ids, distances = rows[self._id].to_pylist(), rows["_distance"].to_pylist()
            answers.append([(str(i), -float(d)) for i, d in zip(ids, distances, strict=True)])
        return answers

    def upsert(self, records: Records) -> None:
        """Write rows. Those whose id is there take its place."""
        schema: pa.Schema = self._table.schema
        place, kind = schema.get_field_index(self.field), schema.field(self.field).type
        rows = [
            {self._id: self._native(id_), **payload}
            for id_, payload in zip(records.ids, records.payloads, strict=True)
        ]
        table = pa.Table.from_pylist(rows, schema=schema.remove(place))
        flat = pa.array(np.ascontiguousarray(records.vectors, np.float32).ravel())
        vectors = pa.FixedSizeListArray.from_arrays(flat, records.vectors.shape[1]).cast(kind)
        merge = self._table.merge_insert(self._id).when_matched_update_all()
        merge.when_not_matched_insert_all().execute(
            table.add_column(place, schema.field(place), vectors)
        )

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        gone = ", ".join(_literal(self._native(id_)) for id_ in listed(ids))
        self._table.delete(f"{self._paths[self._id][0]} IN ({gone})")

    def _open(self, collection: str, name: str) -> LanceStore | None:
        if collection not in _tables(self._database):
            return None
        table = self._database.open_table(collection)
        return LanceStore(self._database, table, name, field=self.field, id_field=self._id,
                          metric=None, hidden=self._hidden)  # fmt: skip

    def _make(self, name: str) -> None:
        """Make a table without an index."""
        schema: pa.Schema = self._table.schema
        fields = [
            pa.field(self._id, pa.string()),
            pa.field(self.field, pa.list_(pa.float32(), self.describe().dim)),
            *(pa.field(name, schema.field(name).type) for name in self._others),
            *(pa.field(name, pa.string()) for name in TEXTS if name not in self._others),
            *([] if SCALE in self._others else [pa.field(SCALE, pa.float64())]),
        ]
        metadata = {OURS: MARK.encode(), RANKING: str(Metric.COSINE).encode()}
        self._database.create_table(name, schema=pa.schema(fields, metadata=metadata))

    def _is_own_and_empty(self, name: str) -> bool:
        table = self._database.open_table(name)
        is_ours = (table.schema.metadata or {}).get(OURS) == MARK.encode()
        return is_ours and not table.count_rows()

    def _drop(self, name: str) -> None:
        self._database.drop_table(name)

    def _where(self, matching: Filter | None) -> str:
        """Return a filter as SQL, "" for none."""
        self._check_keys(matching or {}, self._paths)
        conditions = []
        for key, value in (matching or {}).items():
            (sql, kind), literal = self._paths[key], _literal(value)
            is_date, is_time = pa.types.is_date(kind), pa.types.is_timestamp(kind)
            if is_date or is_time:
                literal = f"CAST({literal} AS {'DATE' if is_date else 'TIMESTAMP'})"
            holds = pa.types.is_list(kind) or pa.types.is_large_list(kind)
            conditions.append(f"array_has({sql}, {literal})" if holds else f"{sql} = {literal}")
        return " AND ".join(conditions)

    def close(self) -> None:
        """Let go of the table."""
        self._table = None


def open_lancedb(
    spec: StoreSpec, config: StoreConfig, key: str | None, hidden: Sequence[str]
) -> LanceStore:
    """Open a table. The metric of a column without an index is in `config`."""
    import lancedb

    if "://" not in spec.place and not Path(spec.place).is_dir():  # LanceDB would make one
        raise no_folder(spec.place, "LanceDB")
    database = lancedb.connect(spec.place)
    names = _tables(database)
    if spec.collection not in names:
        raise no_collection(str(spec), spec.collection, names)
    return LanceStore(
        database, database.open_table(spec.collection), str(spec), field=config.vector_field,
        id_field=config.id_field, metric=config.metric, hidden=hidden,
    )  # fmt: skip


def _tables(database: Any) -> list[str]:
    return list(database.list_tables(limit=10_000).tables)


def _paths(
    fields: Iterable[pa.Field], dotted: str = "", quoted: str = ""
) -> Iterator[tuple[str, tuple[str, pa.DataType]]]:
    """Yield the name of each field, and of those within it, with how SQL has it and its type."""
    for field in fields:
        name, sql = dotted + field.name, quoted + "`" + field.name.replace("`", "``") + "`"
        yield name, (sql, field.type)
        if pa.types.is_struct(field.type):
            yield from _paths(field.type.fields, name + ".", sql + ".")


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
