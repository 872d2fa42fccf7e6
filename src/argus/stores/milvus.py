"""Read, search and write a Milvus collection, on a server or in a file of Milvus Lite.

`milvus:PLACE/COLLECTION` of --store and --corpus (https://milvus.io/docs). It implements
`argus.stores.protocol`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from argus.data.documents import listed
from argus.data.types import FloatArray
from argus.data.writing import closing_if_it_fails
from argus.stores.client import Client, no_collection, no_folder, stacked
from argus.stores.protocol import MARK, Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import StoreConfig, StoreSpec

METRICS = {"COSINE": Metric.COSINE, "IP": Metric.DOT, "L2": Metric.L2}
_FIELD = re.compile(r"[^\W\d]\w*")
EXACT = ("FLAT", "")
FLOAT_VECTOR, VARCHAR = 101, 21  # of pymilvus.DataType
# Reads see the last write at once, in the collections that Argus makes.
STRONG = {"consistency_level": "Strong"}
MAX_ID_BYTES = 4_096  # of a record of a remedy: the id of its parent and some more
NEVER = 2**31 - 1
# Channel options. Milvus Lite's server hangs up on a client that pings it every ten seconds.
UNPINGED = {"grpc.keepalive_time_ms": NEVER, "grpc.keepalive_permit_without_calls": 0}


class MilvusStore(Client):
    """One dense field of a collection. client: opened, and closed with the store.

    hidden: secrets that no message shows.
    """

    can_search_exactly = False

    def __init__(
        self, client: Any, collection: str, name: str, field: str | None, hidden: Sequence[str] = ()
    ) -> None:
        super().__init__(name, collection, hidden)
        self._client = client
        names = client.list_collections()
        if collection not in names:
            raise no_collection(name, collection, names)
        schema = client.describe_collection(collection)
        client.load_collection(collection)
        self._reads: dict[str, Any] = STRONG if _is_ours(schema) else {}
        fields = schema["fields"]
        self._names = [f["name"] for f in fields]
        self._is_open = bool(schema.get("enable_dynamic_field"))
        self._dims = {
            f["name"]: int(f["params"]["dim"]) for f in fields if int(f["type"]) == FLOAT_VECTOR
        }
        self.field = self._vector_field(list(self._dims), field)
        key = next(f for f in fields if f.get("is_primary"))
        self._key, self._has_text_ids = key["name"], int(key["type"]) == VARCHAR
        if not self._is_open:
            self.columns = [c for c in self._names if c != self._key and c not in self._dims]
        indexes = client.list_indexes(collection, field_name=self.field)
        index = client.describe_index(collection, indexes[0]) if indexes else {}
        self._index = str(index.get("index_type", ""))
        self._metric = self._known_metric(str(index.get("metric_type", "COSINE")), METRICS)

    def describe(self) -> StoreFacts:
        """Return its facts as they are now."""
        records = _count(self._client, self.collection, self._reads)
        is_exact = self._index in EXACT
        index = "exact" if is_exact else self._index
        return self._facts(records, self._dims[self.field], index, is_exact=is_exact)

    def _pages(
        self, size: int, matching: Filter | None, *, with_vectors: bool
    ) -> Iterator[Records]:
        """Yield the entities that match."""
        hidden, dim = {self._key, *self._dims}, self._dims[self.field] if with_vectors else 0
        pages = self._client.query_iterator(
            self.collection, batch_size=size, filter=self._condition(matching),
            output_fields=["*"], **self._reads,
        )  # fmt: skip
        try:
            while rows := pages.next():
                values = [row.get(self.field) if with_vectors else () for row in rows]
                vectors, broken = stacked(values, dim)
                payloads = [{k: v for k, v in row.items() if k not in hidden} for row in rows]
                yield Records([str(row[self._key]) for row in rows], vectors, payloads, broken)
        finally:
            pages.close()

    def search(
        self, vectors: FloatArray, k: int, *, matching: Filter | None = None, exact: bool = False
    ) -> list[Hits]:
        """Return the k best of each vector. L2 distances have their sign turned."""
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
        """Return a filter as an expression. A key names a column, or a path into its JSON."""
        terms = []
        for key, value in (matching or {}).items():
            first = key.partition(".")[0]
            free = [first] if self._is_open and _FIELD.fullmatch(first) else []
            column, path = self._column_of(key, [*self._names, *free])
            place = column + "".join(f"[{_literal(name)}]" for name in path)
            terms.append(f"{place} == {_literal(value)}")
        return " and ".join(terms)

    def upsert(self, records: Records) -> None:
        """Write entities. Those whose key is there take its place."""
        rows = [
            {self._key: self._native(id_), self.field: vector.tolist(), **payload}
            for id_, vector, payload in records.rows()
        ]
        self._client.upsert(self.collection, rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove entities."""
        self._client.delete(self.collection, ids=[self._native(id_) for id_ in listed(ids)])

    def _open(self, collection: str, name: str) -> MilvusStore | None:
        if collection not in self._client.list_collections():
            return None
        return MilvusStore(self._client, collection, name, self.field, self._hidden)

    def _make(self, name: str) -> None:
        """Make a collection that takes any field. Exact where this one is."""
        from pymilvus import DataType

        kind = "FLAT" if self._index in EXACT else "AUTOINDEX"
        schema = self._client.create_schema(auto_id=False, enable_dynamic_field=True)
        schema.add_field(self._key, DataType.VARCHAR, is_primary=True, max_length=MAX_ID_BYTES)
        schema.add_field(self.field, DataType.FLOAT_VECTOR, dim=self._dims[self.field])
        params = self._client.prepare_index_params()
        params.add_index(self.field, index_type=kind, metric_type="COSINE")
        self._client.create_collection(
            name, schema=schema, index_params=params, properties={"argus": MARK}, **STRONG
        )

    def _is_own_and_empty(self, name: str) -> bool:
        facts = self._client.describe_collection(name)
        return _is_ours(facts) and not _count(self._client, name, STRONG)

    def _drop(self, name: str) -> None:
        self._client.drop_collection(name)

    def close(self) -> None:
        """Close the client."""
        self._client.close()


def open_milvus(
    spec: StoreSpec, config: StoreConfig, key: str | None, hidden: Sequence[str]
) -> MilvusStore:
    """Open a collection of a server (http://...), or of a file of Milvus Lite."""
    from pymilvus import MilvusClient

    # Milvus Lite repeats one warning with each reading
    logging.getLogger("pymilvus.client.iterator.query_iterator").addFilter(_is_news)
    remote = spec.place.startswith(("http://", "https://"))
    if not remote and not Path(spec.place).exists():
        raise no_folder(spec.place, "Milvus Lite")
    options = {} if remote else UNPINGED
    client = MilvusClient(uri=spec.place, token=key or "", grpc_options=options)
    with closing_if_it_fails(client):
        return MilvusStore(client, spec.collection, str(spec), config.vector_field, hidden)


def _is_news(record: logging.LogRecord) -> bool:
    return "mvccTs" not in record.msg


def _is_ours(facts: Any) -> bool:
    """Return whether Argus made a collection. facts: its client's description of it."""
    return dict(facts.get("properties") or {}).get("argus") == MARK


def _count(client: Any, collection: str, reads: dict[str, Any]) -> int:
    rows = client.query(collection, filter="", output_fields=["count(*)"], **reads)
    return int(rows[0]["count(*)"])


def _literal(value: Any) -> str:
    """Return a value as Milvus has it in an expression."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
