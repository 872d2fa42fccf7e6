"""Qdrant: a server, a folder, or in memory (https://qdrant.tech/documentation)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.types import FloatArray
from argus.errors import InputError
from argus.stores.columns import vector_field
from argus.stores.errors import closed_on_error, no_collection, no_folder, reported
from argus.stores.protocol import Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import secrets, shown
from argus.stores.vectors import stacked

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

METRICS = {"Cosine": Metric.COSINE, "Dot": Metric.DOT, "Euclid": Metric.L2}


class QdrantStore:
    """One vector field of a collection. client: opened; closed with the store.

    is_served: by a server; the client's own modes compare every vector. hidden: of messages.
    """

    can_search_exactly = True

    def __init__(
        self,
        client: QdrantClient,
        collection: str,
        name: str,
        field: str | None = None,
        *,
        is_served: bool = True,
        hidden: Sequence[str] = (),
    ) -> None:
        self._client, self._collection, self.name = client, collection, name
        self._is_served, self._hidden = is_served, hidden
        with reported(self.name, self._hidden):
            if not client.collection_exists(collection):
                names = [c.name for c in client.get_collections().collections]
                raise no_collection(name, collection, names)
        self.field, self._fields = self._vector_fields(field)

    def describe(self) -> StoreFacts:
        """Return what is known of it now."""
        with reported(self.name, self._hidden):
            info = self._client.get_collection(self._collection)
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
                    self._collection, limit=size, offset=offset, with_payload=True,
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

        must = [
            models.FieldCondition(key=key, match=models.MatchValue(value=value))
            for key, value in (matching or {}).items()
        ]
        requests = [
            models.QueryRequest(
                query=vector.tolist(),
                using=self.field or None,
                limit=k,
                filter=models.Filter(must=list(must)) if must else None,
                params=models.SearchParams(exact=True) if exact and self._is_served else None,
            )
            for vector in vectors
        ]
        with reported(self.name, self._hidden):
            answers = self._client.query_batch_points(self._collection, requests)
        sign = -1 if self._fields[self.field].distance.value == "Euclid" else 1
        return [[(str(hit.id), sign * float(hit.score)) for hit in a.points] for a in answers]

    def upsert(self, records: Records) -> None:
        """Write points; a row without a whole vector is refused."""
        from qdrant_client import models

        points = [
            models.PointStruct(
                id=_native(id_),
                vector={self.field: vector.tolist()} if self.field else vector.tolist(),
                payload=dict(payload),
            )
            for id_, vector, payload in records.rows()
        ]
        with reported(self.name, self._hidden):
            self._client.upsert(self._collection, points, wait=True)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove points."""
        from qdrant_client import models

        with reported(self.name, self._hidden):
            self._client.delete(
                self._collection, models.PointIdsList(points=[_native(i) for i in ids]), wait=True
            )

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _vector_fields(self, field: str | None) -> tuple[str, dict[str, Any]]:
        """Return the field that is searched, and all dense fields with what is set of them."""
        with reported(self.name, self._hidden):
            vectors = self._client.get_collection(self._collection).config.params.vectors
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

    name, hidden = f"qdrant:{shown(place)}/{collection}", secrets(place, key)
    if place.startswith(("http://", "https://")):
        client = QdrantClient(url=place, api_key=key, timeout=60, check_compatibility=False)
        with closed_on_error(client):
            return QdrantStore(client, collection, name, field, hidden=hidden)
    if not Path(place).is_dir():
        raise no_folder(place, "Qdrant")
    with reported(name, hidden):
        client = QdrantClient(path=place)
    with closed_on_error(client):
        return QdrantStore(client, collection, name, field, is_served=False)


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
