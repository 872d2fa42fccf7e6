"""Qdrant: a server, a folder, or in memory (https://qdrant.tech/documentation)."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.arguments import listed
from argus.data.types import FloatArray
from argus.errors import InputError
from argus.stores.columns import vector_field
from argus.stores.errors import closed_on_error, no_collection, no_folder, reported
from argus.stores.protocol import Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import hide, shown
from argus.stores.vectors import stacked
from argus.stores.writable import MARK, PARENT, REMEDY, Entries, sibling_name, uuid_of

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

METRICS = {"Cosine": Metric.COSINE, "Dot": Metric.DOT, "Euclid": Metric.L2}


class QdrantStore:
    """One vector field of a collection. client: opened. release: called when the store is closed.

    is_served: by a server; the client's own modes compare every vector. hidden: of messages.
    """

    can_search_exactly = True
    columns: Sequence[str] | None = None

    def __init__(
        self,
        client: QdrantClient,
        collection: str,
        name: str,
        field: str | None = None,
        *,
        is_served: bool = True,
        hidden: Sequence[str] = (),
        release: Callable[[], None] | None = None,
    ) -> None:
        self._release = release or client.close
        self._client, self.collection, self.name = client, collection, name
        self._is_served, self._hidden = is_served, hidden
        with reported(self.name, self._hidden):
            if not client.collection_exists(collection):
                names = [c.name for c in client.get_collections().collections]
                raise no_collection(name, collection, names)
        self.field, self._fields = self._vector_fields(field)

    def describe(self) -> StoreFacts:
        """Return what is known of it now."""
        with reported(self.name, self._hidden):
            info = self._client.get_collection(self.collection)
        params: Any = self._fields[self.field]
        hnsw: Any = info.config.hnsw_config
        metric = METRICS.get(params.distance.value)
        if metric is None:
            raise InputError(
                f"ranks by {params.distance.value}",
                expected=f"one of {', '.join(METRICS)}",
                fix="Argus cannot recompute that.",
                where=self.name,
            )
        built = bool(info.indexed_vectors_count)
        return StoreFacts(
            records=int(info.points_count or 0),
            dim=int(params.size),
            metric=metric,
            vector_field=self.field,
            vector_fields=tuple(self._fields),
            index=f"hnsw (m={hnsw.m}, ef_construct={hnsw.ef_construct})" if built else "exact",
            is_exact=not built,
        )

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all points, ordered by id."""
        dim = self.describe().dim
        offset: Any = None
        while True:
            with reported(self.name, self._hidden):
                points, offset = self._client.scroll(
                    self.collection, limit=size, offset=offset, with_payload=True,
                    with_vectors=[self.field] if self.field else True,
                )  # fmt: skip
            if points:
                vectors, broken = stacked([self._vector(point.vector) for point in points], dim)
                payloads = [point.payload or {} for point in points]
                yield Records([str(point.id) for point in points], vectors, payloads, broken)
            if offset is None:
                return

    def search(
        self,
        vectors: FloatArray,
        k: int,
        *,
        matching: Filter | None = None,
        exact: bool = False,
    ) -> list[Hits]:
        """Return the k best of each vector; L2 distances have their sign turned."""
        from qdrant_client import models

        condition = _condition(matching)
        requests = [
            models.QueryRequest(
                query=vector.tolist(),
                using=self.field or None,
                limit=k,
                filter=condition,
                params=models.SearchParams(exact=True) if exact and self._is_served else None,
            )
            for vector in vectors
        ]
        with reported(self.name, self._hidden):
            answers = self._client.query_batch_points(self.collection, requests)
        sign = -1 if self._fields[self.field].distance.value == "Euclid" else 1
        return [[(str(hit.id), sign * float(hit.score)) for hit in a.points] for a in answers]

    def upsert(self, records: Records) -> None:
        """Write points; a row without a whole vector is refused."""
        from qdrant_client import models

        vectors = records.vectors.tolist()
        points = models.Batch(
            ids=[_native(id_) for id_ in records.ids],
            vectors={self.field: vectors} if self.field else vectors,
            payloads=[dict(payload) for payload in records.payloads],
        )
        with reported(self.name, self._hidden):
            self._client.upsert(self.collection, points, wait=True)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove points."""
        from qdrant_client import models

        with reported(self.name, self._hidden):
            self._client.delete(
                self.collection,
                models.PointIdsList(points=[_native(i) for i in listed(ids)]),
                wait=True,
            )

    def record_id(self, name: str) -> str:
        """Return a UUID: Qdrant takes no texts."""
        return uuid_of(name)

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all points that match, ordered by id."""
        condition, offset = _condition(matching), None
        while True:
            with reported(self.name, self._hidden):
                points, offset = self._client.scroll(
                    self.collection, condition, limit=size, offset=offset, with_payload=True
                )
            if points:
                yield [str(p.id) for p in points], [p.payload or {} for p in points]
            if offset is None:
                return

    def sibling(self, name: str) -> QdrantStore | None:
        """Open another collection; it has the same field of vectors."""
        with reported(self.name, self._hidden):
            if not self._client.collection_exists(name):
                return None
        return QdrantStore(
            self._client, name, sibling_name(self.name, name), self.field or None,
            is_served=self._is_served, hidden=self._hidden, release=self._release,
        )  # fmt: skip

    def make_sibling(self, name: str) -> QdrantStore:
        """Make one, indexed as the server does by itself, its payloads as this one's are."""
        from qdrant_client import models

        dim = self._fields[self.field].size
        params = models.VectorParams(size=dim, distance=models.Distance.COSINE)
        with reported(self.name, self._hidden):
            self._client.create_collection(
                name,
                vectors_config={self.field: params} if self.field else params,
                metadata={"argus": MARK},
            )
            if self._is_served:  # the client's own modes filter without
                for field, schema in self._filtered().items():
                    self._client.create_payload_index(name, field, schema, wait=True)
        store = self.sibling(name)
        assert store is not None
        return store

    def _filtered(self) -> dict[str, Any]:
        """Return the fields by which a remedy's records are filtered, and how each is indexed."""
        own = self._client.get_collection(self.collection).payload_schema or {}
        fields = {name: info.params or info.data_type for name, info in own.items()}
        return {**fields, REMEDY: "keyword", PARENT: "keyword"}

    def drop_sibling(self, name: str) -> bool:
        """Remove one that Argus made, once it is empty."""
        with reported(self.name, self._hidden):
            info = self._client.get_collection(name)
            is_ours = (info.config.metadata or {}).get("argus") == MARK
            if not is_ours or self._client.count(name, exact=True).count:
                return False
            return bool(self._client.delete_collection(name))

    def close(self) -> None:
        """Close the client, or leave it to who else has its folder open."""
        self._release()

    def _vector_fields(self, field: str | None) -> tuple[str, dict[str, Any]]:
        """Return the field that is searched, and all dense fields with what is set of them."""
        with reported(self.name, self._hidden):
            vectors = self._client.get_collection(self.collection).config.params.vectors
        fields: dict[str, Any] = vectors if isinstance(vectors, dict) else {"": vectors}
        fields = {
            name: params for name, params in fields.items()
            if params is not None and params.multivector_config is None
        }  # fmt: skip
        return vector_field(list(fields), field, self.name), fields

    def _vector(self, value: Any) -> Any:
        return value.get(self.field) if isinstance(value, dict) else value


def open_qdrant(place: str, collection: str, field: str | None, key: str | None) -> QdrantStore:
    """Open a collection of a server (http://...), or of a folder. Raises InputError, ArgusError."""
    from qdrant_client import QdrantClient

    name, hidden = f"qdrant:{shown(place)}/{collection}", hide(place, key)
    if place.startswith(("http://", "https://")):
        with reported(name, hidden):
            client = QdrantClient(url=place, api_key=key, timeout=60, check_compatibility=False)
        with closed_on_error(client):
            return QdrantStore(client, collection, name, field, hidden=hidden)
    if not (Path(place) / "meta.json").is_file():  # its client would make one
        raise no_folder(place, "Qdrant")
    folder, held = Path(place).resolve(), ExitStack()
    with closed_on_error(held):
        with reported(name, hidden):
            client = _take_local(folder)
        held.callback(_release_local, folder)
        return QdrantStore(client, collection, name, field, is_served=False, release=held.close)


_LOCAL: dict[Path, tuple[QdrantClient, int]] = {}
"""The client of each open folder, and how many stores use it: a folder takes one client."""
_LOCAL_LOCK = threading.Lock()


def _take_local(folder: Path) -> QdrantClient:
    from qdrant_client import QdrantClient

    with _LOCAL_LOCK:
        client, users = _LOCAL.get(folder, (None, 0))
        client = client or QdrantClient(path=str(folder))
        _LOCAL[folder] = (client, users + 1)
        return client


def _release_local(folder: Path) -> None:
    with _LOCAL_LOCK:
        client, users = _LOCAL.pop(folder)
        if users > 1:
            _LOCAL[folder] = (client, users - 1)
        else:
            client.close()


def _condition(matching: Filter | None) -> models.Filter | None:
    """Return a filter as Qdrant has it."""
    from qdrant_client import models

    if not matching:
        return None
    return models.Filter(
        must=[
            models.FieldCondition(key=key, match=models.MatchValue(value=value))
            for key, value in matching.items()
        ]
    )


def _native(id_: str) -> int | str:
    """Return an id as Qdrant has them: a whole number or a UUID."""
    if id_.isdecimal():
        return int(id_)
    try:
        return str(uuid.UUID(id_))
    except ValueError as error:
        raise InputError(
            f"id {id_!r}", expected="a whole number or a UUID, as Qdrant takes them",
            fix="Keep your own id in the payload.", where="qdrant",
        ) from error  # fmt: skip
