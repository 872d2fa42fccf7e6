"""Read, search and write a Qdrant collection, on a server or in a folder.

`qdrant:PLACE/COLLECTION` of --store and --corpus (https://qdrant.tech/documentation). It implements
`argus.stores.protocol`.
"""

from __future__ import annotations

import gc
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.documents import listed
from argus.data.types import FloatArray
from argus.data.writing import closing_if_it_fails
from argus.errors import InputError
from argus.stores.client import Client, no_collection, no_folder, stacked, uuid_of
from argus.stores.protocol import MARK, PARENT, REMEDY, Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import StoreConfig, StoreSpec

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

METRICS = {"Cosine": Metric.COSINE, "Dot": Metric.DOT, "Euclid": Metric.L2}


class QdrantStore(Client):
    """One vector field of a collection. client: opened. release: called when the store is closed.

    is_served: by a server. The client's own modes compare every vector. hidden: secrets that no
    message shows.
    """

    can_search_exactly = True

    def __init__(
        self, client: QdrantClient, collection: str, name: str, field: str | None = None, *,
        is_served: bool = True, hidden: Sequence[str] = (),
        release: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name, collection, hidden)
        self._client, self._is_served = client, is_served
        self.close = release or client.close  # a folder's client stays open for its other users
        if not client.collection_exists(collection):
            names = [c.name for c in client.get_collections().collections]
            raise no_collection(name, collection, names)
        vectors = client.get_collection(collection).config.params.vectors
        fields: dict[str, Any] = vectors if isinstance(vectors, dict) else {"": vectors}
        self._params = {
            field: params
            for field, params in fields.items()
            if params is not None and params.multivector_config is None
        }
        self.field = self._vector_field(list(self._params), field)

    def describe(self) -> StoreFacts:
        """Return its facts as they are now."""
        info = self._client.get_collection(self.collection)
        params: Any = self._params[self.field]
        self._metric = self._known_metric(params.distance.value, METRICS)
        hnsw: Any = info.config.hnsw_config
        is_built = bool(info.indexed_vectors_count)
        index = f"hnsw (m={hnsw.m}, ef_construct={hnsw.ef_construct})" if is_built else ""
        n, dim = int(info.points_count or 0), int(params.size)
        return self._facts(n, dim, index, is_exact=not is_built)

    def _pages(
        self, size: int, matching: Filter | None, *, with_vectors: bool
    ) -> Iterator[Records]:
        """Yield the points that match, ordered by id."""
        condition, offset = _condition(matching), None
        dim = self.describe().dim if with_vectors else 0
        wanted: Any = with_vectors and ([self.field] if self.field else True)
        while True:
            points, offset = self._client.scroll(
                self.collection, condition, limit=size, offset=offset, with_vectors=wanted
            )
            if points:
                values: list[Any] = [point.vector if with_vectors else () for point in points]
                own = [v.get(self.field) if isinstance(v, dict) else v for v in values]
                vectors, broken = stacked(own, dim)
                payloads = [point.payload or {} for point in points]
                yield Records([str(point.id) for point in points], vectors, payloads, broken)
            if offset is None:
                return

    def search(
        self, vectors: FloatArray, k: int, *, matching: Filter | None = None, exact: bool = False
    ) -> list[Hits]:
        """Return the k best of each vector. L2 distances have their sign turned."""
        from qdrant_client import models

        condition = _condition(matching)
        params = models.SearchParams(exact=True) if exact and self._is_served else None
        requests = [
            models.QueryRequest(
                query=vector.tolist(), using=self.field or None, limit=k, filter=condition,
                params=params,
            )
            for vector in vectors
        ]  # fmt: skip
        answers = self._client.query_batch_points(self.collection, requests)
        sign = -1 if self._params[self.field].distance.value == "Euclid" else 1
        return [[(str(hit.id), sign * float(hit.score)) for hit in a.points] for a in answers]

    def upsert(self, records: Records) -> None:
        """Write points. A row without a whole vector is refused."""
        from qdrant_client import models

        vectors = records.vectors.tolist()
        points = models.Batch(
            ids=[self._native(id_) for id_ in records.ids],
            vectors={self.field: vectors} if self.field else vectors,
            payloads=[dict(payload) for payload in records.payloads],
        )
        self._client.upsert(self.collection, points, wait=True)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove points."""
        from qdrant_client import models

        gone = models.PointIdsList(points=[self._native(id_) for id_ in listed(ids)])
        self._client.delete(self.collection, gone, wait=True)

    def record_id(self, name: str) -> str:
        """Return a UUID: Qdrant takes no texts."""
        return uuid_of(name)

    def _open(self, collection: str, name: str) -> QdrantStore | None:
        if not self._client.collection_exists(collection):
            return None
        return QdrantStore(
            self._client, collection, name, self.field or None, is_served=self._is_served,
            hidden=self._hidden, release=self.close,
        )  # fmt: skip

    def _make(self, name: str) -> None:
        """Make a collection, indexed as the server does by itself, its payloads as here."""
        from qdrant_client import models

        dim = self._params[self.field].size
        params = models.VectorParams(size=dim, distance=models.Distance.COSINE)
        config = {self.field: params} if self.field else params
        self._client.create_collection(name, vectors_config=config, metadata={"argus": MARK})
        if self._is_served:  # the client's own modes filter without
            own = self._client.get_collection(self.collection).payload_schema or {}
            fields: dict[str, Any] = {key: i.params or i.data_type for key, i in own.items()}
            for key, schema in {**fields, REMEDY: "keyword", PARENT: "keyword"}.items():
                self._client.create_payload_index(name, key, schema, wait=True)

    def _is_own_and_empty(self, name: str) -> bool:
        info = self._client.get_collection(name)
        is_ours = (info.config.metadata or {}).get("argus") == MARK
        return is_ours and not self._client.count(name, exact=True).count

    def _drop(self, name: str) -> None:
        self._client.delete_collection(name)

    def _native(self, id_: str) -> int | str:
        if id_.isdecimal():
            return int(id_)
        try:
            return str(uuid.UUID(id_))
        except ValueError as error:
            expected = "a whole number or a UUID, as Qdrant takes them"
            fix = "Keep your own id in the payload."
            raise InputError(f"id {id_!r}", expected=expected, fix=fix, where="qdrant") from error


def open_qdrant(
    spec: StoreSpec, config: StoreConfig, key: str | None, hidden: Sequence[str]
) -> QdrantStore:
    """Open a collection of a server (http://...), or of a folder."""
    from qdrant_client import QdrantClient

    place, named = spec.place, (spec.collection, str(spec), config.vector_field)
    if place.startswith(("http://", "https://")):
        client = QdrantClient(url=place, api_key=key, timeout=60, check_compatibility=False)
        with closing_if_it_fails(client):
            return QdrantStore(client, *named, hidden=hidden)
    if not (Path(place) / "meta.json").is_file():  # its client would make one
        raise no_folder(place, "Qdrant")
    folder, held = Path(place).resolve(), ExitStack()

    def release() -> None:
        with _LOCAL_LOCK:
            client, users = _LOCAL.pop(folder)
            if users > 1:
                _LOCAL[folder] = (client, users - 1)
            else:
                client.close()

    with closing_if_it_fails(held):
        with _LOCAL_LOCK:
            if folder not in _LOCAL and (theirs := _held_elsewhere(folder)):
                return QdrantStore(theirs, *named, is_served=False, release=lambda: None)
            client, users = _LOCAL.get(folder) or (QdrantClient(path=str(folder)), 0)
            _LOCAL[folder] = (client, users + 1)
        held.callback(release)
        return QdrantStore(client, *named, is_served=False, release=held.close)


# The client of each open folder, and how many stores use it: a folder takes one client.
_LOCAL: dict[Path, tuple[QdrantClient, int]] = {}
_LOCAL_LOCK = threading.Lock()


def _held_elsewhere(folder: Path) -> QdrantClient | None:
    """Return the client by which a user's own retriever has opened a folder in this process."""
    from portalocker import Lock, LockException
    from qdrant_client import QdrantClient

    with suppress(FileNotFoundError, LockException), Lock(folder / ".lock", "r+", timeout=0):
        return None  # nobody has: looking at all objects takes as long as there are many
    for one in gc.get_objects():
        if type(one) is QdrantClient and not getattr(one._client, "_closed", True):
            place = getattr(one._client, "location", None)
            if place is not None and Path(place).resolve() == folder:
                return one
    return None


def _condition(matching: Filter | None) -> models.Filter | None:
    """Return a filter as Qdrant has it."""
    from qdrant_client import models

    if not matching:
        return None
    matches = {key: models.MatchValue(value=value) for key, value in matching.items()}
    terms = [models.FieldCondition(key=key, match=match) for key, match in matches.items()]
    return models.Filter(must=list(terms))
