"""Read, search and write a Chroma collection, on a server or in a folder.

`chroma:PLACE/COLLECTION` of --store and --corpus (https://docs.trychroma.com). It implements
`argus.stores.protocol`.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np

from argus.data.documents import listed
from argus.data.types import FloatArray
from argus.stores.client import Client, no_collection, no_folder, stacked
from argus.stores.protocol import MARK, Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import StoreConfig, StoreSpec

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

TELEMETRY = "ANONYMIZED_TELEMETRY"  # in the environment: whether Chroma's clients report their use
METRICS = {"cosine": Metric.COSINE, "ip": Metric.DOT, "l2": Metric.L2}
TEXT = "document"  # the payload field that holds a record's own text


class ChromaStore(Client):
    """A collection. client: opened by the caller. hidden: secrets that no message shows."""

    can_search_exactly = False

    def __init__(
        self, client: ClientAPI, collection: str, name: str, hidden: Sequence[str] = ()
    ) -> None:
        super().__init__(name, collection, hidden)
        self._client = client
        names = [c.name for c in client.list_collections()]
        if collection not in names:
            raise no_collection(name, collection, names)
        # an embedding function of its own would be fetched: vectors alone are asked here
        self._collection = client.get_collection(collection, embedding_function=None)

    def describe(self) -> StoreFacts:
        """Return its facts as they are now."""
        hnsw: Any = self._collection.configuration_json.get("hnsw") or {}
        first = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
        records = self._collection.count()
        names = ("space", "max_neighbors", "ef_construction", "ef_search")
        space, m, ef_construct, ef = map(hnsw.get, names)
        self._metric = METRICS[space or "l2"]
        dim = len(first[0]) if first is not None and len(first) else 0
        index = f"hnsw (m={m}, ef_construct={ef_construct}, ef={ef})"
        return self._facts(records, dim, index, is_exact=False)

    def _pages(
        self, size: int, matching: Filter | None, *, with_vectors: bool
    ) -> Iterator[Records]:
        """Yield the records that match, in the order in which they were added."""
        dim, offset = self.describe().dim if with_vectors else 0, 0
        include: list[Any] = ["metadatas", "documents", *["embeddings"] * with_vectors]
        while True:
            page: Any = self._collection.get(
                limit=size, offset=offset, where=_condition(matching), include=include
            )
            if not (ids := page["ids"]):
                return
            vectors, broken = stacked(page["embeddings"] if with_vectors else [()] * len(ids), dim)
            payloads = [
                {**(metadata or {}), **({} if text is None else {TEXT: text})}
                for metadata, text in zip(page["metadatas"], page["documents"], strict=True)
            ]
            yield Records(ids, vectors, payloads, broken)
            offset += len(ids)

    def search(
        self, vectors: FloatArray, k: int, *, matching: Filter | None = None, exact: bool = False
    ) -> list[Hits]:
        """Return the k best of each vector. Scores are distances with their sign turned."""
        where = _condition(matching)
        answer: Any = self._collection.query(
            query_embeddings=np.asarray(vectors, np.float32), n_results=k, where=where,
            include=["distances"],
        )  # fmt: skip
        return [
            [(id_, -float(distance)) for id_, distance in zip(ids, distances, strict=True)]
            for ids, distances in zip(answer["ids"], answer["distances"], strict=True)
        ]

    def upsert(self, records: Records) -> None:
        """Write records. The payload's text becomes the record's document."""
        metadatas = [{k: v for k, v in p.items() if k != TEXT} or None for p in records.payloads]
        has_texts = any(TEXT in p for p in records.payloads)
        self._collection.upsert(
            ids=list(records.ids),
            embeddings=records.vectors,
            metadatas=metadatas,  # type: ignore[arg-type]
            documents=[str(p.get(TEXT, "")) for p in records.payloads] if has_texts else None,
        )

    def delete(self, ids: Sequence[str]) -> None:
        """Remove records."""
        self._collection.delete(ids=listed(ids))

    def _open(self, collection: str, name: str) -> ChromaStore | None:
        if collection not in [c.name for c in self._client.list_collections()]:
            return None
        return ChromaStore(self._client, collection, name, self._hidden)

    def _make(self, name: str) -> None:
        metadata = {"hnsw:space": "cosine", "argus": MARK}
        self._client.create_collection(name, metadata=metadata, embedding_function=None)

    def _is_own_and_empty(self, name: str) -> bool:
        other = self._client.get_collection(name, embedding_function=None)
        return (other.metadata or {}).get("argus") == MARK and not other.count()

    def _drop(self, name: str) -> None:
        self._client.delete_collection(name)

    def close(self) -> None:
        """Do nothing: clients of one folder share it, and Chroma closes it when they are gone."""


def _condition(matching: Filter | None) -> Any:
    """Return a filter as Chroma has it."""
    terms = [{key: {"$eq": value}} for key, value in (matching or {}).items()]
    return None if not terms else terms[0] if len(terms) == 1 else {"$and": terms}


def open_chroma(
    spec: StoreSpec, config: StoreConfig, key: str | None, hidden: Sequence[str]
) -> ChromaStore:
    """Open a collection of a server (http://...), or of a folder."""
    import chromadb

    if spec.place.startswith(("http://", "https://")):
        url = urlsplit(spec.place)
        headers = {"x-chroma-token": key} if key else {}
        if not key and url.username is not None:
            pair = f"{unquote(url.username)}:{unquote(url.password or '')}"
            headers = {"authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        client = chromadb.HttpClient(
            host=url.hostname or "", port=url.port or 8000, ssl=url.scheme == "https",
            headers=headers, settings=_settings(),
        )  # fmt: skip
        return ChromaStore(client, spec.collection, str(spec), hidden)
    if not (Path(spec.place) / "chroma.sqlite3").is_file():
        raise no_folder(spec.place, "Chroma")
    settings = _settings()
    try:
        client = chromadb.PersistentClient(spec.place, settings=settings)
    except ValueError as error:
        # Chroma refuses a second client with other settings in a process, and a retriever of
        # LangChain may have this folder open with Chroma's defaults
        if "different settings" not in str(error):
            raise
        settings.anonymized_telemetry = not settings.anonymized_telemetry
        os.environ[TELEMETRY] = str(settings.anonymized_telemetry)  # theirs goes on as it was
        client = chromadb.PersistentClient(spec.place, settings=settings)
    return ChromaStore(client, spec.collection, str(spec))


def _settings() -> Any:
    """Return Chroma's default settings, with its telemetry off, also for clients opened later."""
    from chromadb.config import Settings

    os.environ.setdefault(TELEMETRY, "False")
    return Settings()
