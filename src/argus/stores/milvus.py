"""Milvus, and Milvus Lite in a file (https://milvus.io/docs)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from argus.data.arguments import listed
from argus.data.types import FloatArray
from argus.errors import InputError
from argus.stores.columns import column_of, native_id, vector_field
from argus.stores.errors import closed_on_error, no_collection, no_folder, reported
from argus.stores.protocol import Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import hide, shown
from argus.stores.vectors import stacked
from argus.stores.writable import MARK, Entries, numbers_refused, sibling_name

METRICS = {"COSINE": Metric.COSINE, "IP": Metric.DOT, "L2": Metric.L2}
_FIELD = re.compile(r"[^\W\d]\w*")
EXACT = ("FLAT", "")
FLOAT_VECTOR, VARCHAR = 101, 21
"""Of pymilvus.DataType."""
STRONG = {"consistency_level": "Strong"}
"""What was written is seen at once, in the collections that Argus makes."""
LONGEST_ID = 4_096
"""Of a record of a remedy, in bytes: the id of its parent and some more."""
NEVER = 2**31 - 1
UNPINGED = {"grpc.keepalive_time_ms": NEVER, "grpc.keepalive_permit_without_calls": 0}
"""Of a channel: the server of Milvus Lite hangs up on a client that pings it every ten seconds."""


class MilvusStore:
    """One dense field of a collection. client: opened; closed with the store.

    hidden: what no message shows.
    """

    can_search_exactly = False

    def __init__(
        self,
        client: Any,
        collection: str,
        name: str,
        field: str | None,
        hidden: Sequence[str] = (),
    ) -> None:
        self.name, self._client, self.collection = name, client, collection
        self._hidden = hidden
        with reported(name, hidden):
            names = client.list_collections()
            if collection not in names:
                raise no_collection(name, collection, names)
            schema = client.describe_collection(collection)
            client.load_collection(collection)
        self._reads: dict[str, Any] = STRONG if _is_ours(schema) else {}
        fields = schema["fields"]
        self._columns = [f["name"] for f in fields]
        self._is_open = bool(schema.get("enable_dynamic_field"))
        self._dims = {
            f["name"]: int(f["params"]["dim"]) for f in fields if int(f["type"]) == FLOAT_VECTOR
        }
        self.field = vector_field(list(self._dims), field, name)
        key = next(f for f in fields if f.get("is_primary"))
        self._key, self._key_is_text = key["name"], int(key["type"]) == VARCHAR
        with reported(name, hidden):
            indexes = client.list_indexes(collection, field_name=self.field)
            index = client.describe_index(collection, indexes[0]) if indexes else {}
        self._index = str(index.get("index_type", ""))
        self._metric = METRICS.get(str(index.get("metric_type", "COSINE")))
        if self._metric is None:
            raise InputError(
                f"ranks by {index.get('metric_type')}", expected=f"one of {', '.join(METRICS)}",
                fix="Argus cannot recompute that.", where=name,
            )  # fmt: skip

    def describe(self) -> StoreFacts:
        """Return what is known of it now."""
        assert self._metric is not None
        with reported(self.name, self._hidden):
            rows = self._client.query(
                self.collection, filter="", output_fields=["count(*)"], **self._reads
            )
        return StoreFacts(
            records=int(rows[0]["count(*)"]),
            dim=self._dims[self.field],
            metric=self._metric,
            vector_field=self.field,
            vector_fields=tuple(self._dims),
            index="exact" if self._index in EXACT else self._index,
            is_exact=self._index in EXACT,
        )

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all entities."""
        for rows in self._pages(size, ""):
            values = [row.get(self.field) for row in rows]
            vectors, broken = stacked(values, self._dims[self.field])
            ids, payloads = self._entries(rows)
            yield Records(ids, vectors, payloads, broken)

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all entities that match."""
        for rows in self._pages(size, self._condition(matching)):
            yield self._entries(rows)

    def _pages(self, size: int, condition: str) -> Iterator[list[dict[str, Any]]]:
        with reported(self.name, self._hidden):
            pages = self._client.query_iterator(
                self.collection,
                batch_size=size,
                filter=condition,
                output_fields=["*"],
                **self._reads,
            )
        try:
            while True:
                with reported(self.name, self._hidden):
                    rows = pages.next()
                if not rows:
                    return
                yield rows
        finally:
            pages.close()

    def _entries(self, rows: list[dict[str, Any]]) -> Entries:
        hidden = {self._key, *self._dims}
        payloads = [{k: v for k, v in row.items() if k not in hidden} for row in rows]
        return [str(row[self._key]) for row in rows], payloads

    def search(
        self,
        vectors: FloatArray,
        k: int,
        *,
        matching: Filter | None = None,
        exact: bool = False,
    ) -> list[Hits]:
        """Return the k best of each vector; L2 distances have their sign turned."""
        with reported(self.name, self._hidden):
            answers = self._client.search(
                self.collection, data=[v.tolist() for v in vectors], limit=k,
                anns_field=self.field, filter=self._condition(matching), output_fields=[self._key],
                **self._reads,
            )  # fmt: skip
        sign = -1 if self._metric is Metric.L2 else 1
        return [
            [(str(hit[self._key]), sign * float(hit["distance"])) for hit in a] for a in answers
        ]

    def _condition(self, matching: Filter | None) -> str:
        """Return a filter as an expression."""
        return " and ".join(
            f"{self._name_of(key)} == {_literal(value)}" for key, value in (matching or {}).items()
        )

    def _name_of(self, key: str) -> str:
        """Return a filter's field as an expression has it: a column, or a path into its JSON."""
        first = key.partition(".")[0]
        is_free = self._is_open and _FIELD.fullmatch(first) is not None
        column, path = column_of(key, [*self._columns, *([first] if is_free else [])], self.name)
        return column + "".join(f"[{_literal(name)}]" for name in path)

    def upsert(self, records: Records) -> None:
        """Write entities; those whose key is there take its place."""
        rows = [
            {self._key: self._native(id_), self.field: vector.tolist(), **payload}
            for id_, vector, payload in records.rows()
        ]
        with reported(self.name, self._hidden):
            self._client.upsert(self.collection, rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove entities."""
        with reported(self.name, self._hidden):
            self._client.delete(self.collection, ids=[self._native(id_) for id_ in listed(ids)])

    @property
    def columns(self) -> Sequence[str] | None:
        """The fields of the schema, where it takes no others."""
        if self._is_open:
            return None
        return [c for c in self._columns if c != self._key and c not in self._dims]

    def record_id(self, name: str) -> str:
        """Return the name."""
        if not self._key_is_text:
            raise numbers_refused(self.name)
        return name

    def sibling(self, name: str) -> MilvusStore | None:
        """Open another collection; it has the same field of vectors."""
        with reported(self.name, self._hidden):
            if name not in self._client.list_collections():
                return None
        place = sibling_name(self.name, name)
        return MilvusStore(self._client, name, place, self.field, self._hidden)

    def make_sibling(self, name: str) -> MilvusStore:
        """Make one that takes any field; exact where this one is."""
        from pymilvus import DataType

        kind = "FLAT" if self._index in EXACT else "AUTOINDEX"
        with reported(self.name, self._hidden):
            schema = self._client.create_schema(auto_id=False, enable_dynamic_field=True)
            schema.add_field(self._key, DataType.VARCHAR, is_primary=True, max_length=LONGEST_ID)
            schema.add_field(self.field, DataType.FLOAT_VECTOR, dim=self._dims[self.field])
            params = self._client.prepare_index_params()
            params.add_index(self.field, index_type=kind, metric_type="COSINE")
            self._client.create_collection(
                name, schema=schema, index_params=params, properties={"argus": MARK}, **STRONG
            )
        store = self.sibling(name)
        assert store is not None
        return store

    def drop_sibling(self, name: str) -> bool:
        """Remove one that Argus made, once it is empty."""
        with reported(self.name, self._hidden):
            facts = self._client.describe_collection(name)
            rows = self._client.query(name, filter="", output_fields=["count(*)"], **STRONG)
            if not _is_ours(facts) or int(rows[0]["count(*)"]):
                return False
            self._client.drop_collection(name)
        return True

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _native(self, id_: str) -> int | str:
        return native_id(id_, is_text=self._key_is_text, name=self.name)


def open_milvus(place: str, collection: str, field: str | None, key: str | None) -> MilvusStore:
    """Open a collection of a server (http://...), or of a file of Milvus Lite."""
    from pymilvus import MilvusClient

    name, hidden = f"milvus:{shown(place)}/{collection}", hide(place, key)
    logging.getLogger("pymilvus.client.iterator.query_iterator").addFilter(_is_news)
    remote = place.startswith(("http://", "https://"))
    if not remote and not Path(place).exists():
        raise no_folder(place, "Milvus Lite")
    with reported(name, hidden):
        client = MilvusClient(uri=place, token=key or "", grpc_options={} if remote else UNPINGED)
    with closed_on_error(client):
        return MilvusStore(client, collection, name, field, hidden)


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a warning tells something: of Milvus Lite each reading would repeat one."""
    return "mvccTs" not in record.msg


def _is_ours(facts: Any) -> bool:
    """Return whether a collection is one that Argus made; facts: what its client tells of it."""
    return dict(facts.get("properties") or {}).get("argus") == MARK


def _literal(value: Any) -> str:
    """Return a value as Milvus has it in an expression."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
