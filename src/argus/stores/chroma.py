"""Chroma: a server or a folder (https://docs.trychroma.com). It cannot search exactly."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit

import numpy as np

from argus.data.arguments import listed
from argus.data.types import FloatArray
from argus.stores.errors import no_collection, no_folder, reported
from argus.stores.protocol import Filter, Hits, Metric, Records, StoreFacts
from argus.stores.spec import hide, shown
from argus.stores.vectors import stacked
from argus.stores.writable import MARK, Entries, sibling_name

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

TELEMETRY = "ANONYMIZED_TELEMETRY"
"""Of the environment: from it Chroma's clients take whether they report their use."""
METRICS = {"cosine": Metric.COSINE, "ip": Metric.DOT, "l2": Metric.L2}
TEXT = "document"
"""The payload field that holds a record's own text."""


class ChromaStore:
    """A collection. client: opened by the caller; hidden: what no message shows."""

    can_search_exactly = False
    columns: Sequence[str] | None = None

    def __init__(
        self, client: ClientAPI, collection: str, name: str, hidden: Sequence[str] = ()
    ) -> None:
        self.name, self._hidden = name, hidden
        self._client, self.collection = client, collection
        with reported(name, hidden):
            names = [c.name for c in client.list_collections()]
            if collection not in names:
                raise no_collection(name, collection, names)
            # an embedding function of its own would be fetched: vectors alone are asked here
            self._collection = client.get_collection(collection, embedding_function=None)

    def describe(self) -> StoreFacts:
        """Return what is known of it now."""
        with reported(self.name, self._hidden):
            hnsw: Any = self._collection.configuration_json.get("hnsw") or {}
            first = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
            records = self._collection.count()
        space, m = hnsw.get("space", "l2"), hnsw.get("max_neighbors")
        index = (
            f"hnsw (m={m}, ef_construct={hnsw.get('ef_construction')}, ef={hnsw.get('ef_search')})"
        )
        return StoreFacts(
            records=records,
            dim=len(first[0]) if first is not None and len(first) else 0,
            metric=METRICS[space],
            vector_field="",
            vector_fields=("",),
            index=index,
            is_exact=False,
        )

    def iterate(self, size: int) -> Iterator[Records]:
        """Yield all records, in the order in which they were added."""
        dim, offset = self.describe().dim, 0
        while True:
            with reported(self.name, self._hidden):
                page: Any = self._collection.get(
                    limit=size, offset=offset, include=["embeddings", "metadatas", "documents"]
                )
            if not page["ids"]:
                return
            vectors, broken = stacked(page["embeddings"], dim)
            yield Records(page["ids"], vectors, _payloads(page), broken)
            offset += len(page["ids"])

    def search(
        self,
        vectors: FloatArray,
        k: int,
        *,
        matching: Filter | None = None,
        exact: bool = False,
    ) -> list[Hits]:
        """Return the k best of each vector; scores are distances with their sign turned."""
        where = _condition(matching)
        with reported(self.name, self._hidden):
            answer: Any = self._collection.query(
                query_embeddings=np.asarray(vectors, np.float32), n_results=k, where=where,
                include=["distances"],
            )  # fmt: skip
        return [
            [(id_, -float(distance)) for id_, distance in zip(ids, distances, strict=True)]
            for ids, distances in zip(answer["ids"], answer["distances"], strict=True)
        ]

    def upsert(self, records: Records) -> None:
        """Write records; the payload's text becomes the record's document."""
        metadatas = [{k: v for k, v in p.items() if k != TEXT} or None for p in records.payloads]
        has_texts = any(TEXT in p for p in records.payloads)
        with reported(self.name, self._hidden):
            self._collection.upsert(
                ids=list(records.ids),
                embeddings=records.vectors,
                metadatas=metadatas,  # type: ignore[arg-type]
                documents=[str(p.get(TEXT, "")) for p in records.payloads] if has_texts else None,
            )

    def delete(self, ids: Sequence[str]) -> None:
        """Remove records."""
        with reported(self.name, self._hidden):
            self._collection.delete(ids=listed(ids))

    def record_id(self, name: str) -> str:
        """Return the name: ids are texts."""
        return name

    def payloads(self, size: int, matching: Filter | None = None) -> Iterator[Entries]:
        """Yield all records that match, in the order in which they were added."""
        offset, where = 0, _condition(matching)
        while True:
            with reported(self.name, self._hidden):
                page: Any = self._collection.get(
                    limit=size, offset=offset, where=where, include=["metadatas", "documents"]
                )
            if not page["ids"]:
                return
            yield page["ids"], _payloads(page)
            offset += len(page["ids"])

    def sibling(self, name: str) -> ChromaStore | None:
        """Open another collection."""
        with reported(self.name, self._hidden):
            if name not in [c.name for c in self._client.list_collections()]:
                return None
        return ChromaStore(self._client, name, sibling_name(self.name, name), self._hidden)

    def make_sibling(self, name: str) -> ChromaStore:
        """Make one."""
        metadata = {"hnsw:space": "cosine", "argus": MARK}
        with reported(self.name, self._hidden):
            self._client.create_collection(name, metadata=metadata, embedding_function=None)
        return ChromaStore(self._client, name, sibling_name(self.name, name), self._hidden)

    def drop_sibling(self, name: str) -> bool:
        """Remove one that Argus made, once it is empty."""
        with reported(self.name, self._hidden):
            other = self._client.get_collection(name, embedding_function=None)
            if (other.metadata or {}).get("argus") != MARK or other.count():
                return False
            self._client.delete_collection(name)
        return True

    def close(self) -> None:
        """Do nothing: clients of one folder share it, and Chroma closes it when they are gone."""


def _condition(matching: Filter | None) -> Any:
    """Return a filter as Chroma has it."""
    terms = [{key: {"$eq": value}} for key, value in (matching or {}).items()]
    return None if not terms else terms[0] if len(terms) == 1 else {"$and": terms}


def _payloads(page: Any) -> list[dict[str, Any]]:
    return [
        {**(metadata or {}), **({} if text is None else {TEXT: text})}
        for metadata, text in zip(page["metadatas"], page["documents"], strict=True)
    ]


def open_chroma(place: str, collection: str, key: str | None) -> ChromaStore:
    """Open a collection of a server (http://...), or of a folder. Raises InputError, ArgusError."""
    import chromadb

    name, hidden = f"chroma:{shown(place)}/{collection}", hide(place, key)
    if place.startswith(("http://", "https://")):
        with reported(name, hidden):
            url = urlsplit(place)
            client = chromadb.HttpClient(
                host=url.hostname or "", port=url.port or 8000, ssl=url.scheme == "https",
                headers=_headers(url, key), settings=_settings(),
            )  # fmt: skip
        return ChromaStore(client, collection, name, hidden)
    if not (Path(place) / "chroma.sqlite3").is_file():
        raise no_folder(place, "Chroma")
    with reported(name, hidden):
        return ChromaStore(_folder_client(place), collection, name)


def _folder_client(place: str) -> Any:
    """Open a folder beside whoever has it open in this process.

    Chroma refuses a second client whose settings differ, and the retriever that is asked may be
    LangChain's, on the same folder: with Chroma's defaults, before or after this.
    """
    import chromadb

    settings = _settings()
    try:
        return chromadb.PersistentClient(place, settings=settings)
    except ValueError as error:
        if "different settings" not in str(error):
            raise
        settings.anonymized_telemetry = not settings.anonymized_telemetry
        os.environ[TELEMETRY] = str(settings.anonymized_telemetry)  # theirs goes on as it was
        return chromadb.PersistentClient(place, settings=settings)


def _settings() -> Any:
    """Return Chroma's default settings, with its telemetry off, also for clients opened later."""
    from chromadb.config import Settings

    os.environ.setdefault(TELEMETRY, "False")
    return Settings()


def _headers(url: SplitResult, key: str | None) -> dict[str, str]:
    """Return what says who asks: the key, or the user and password of the address."""
    if key:
        return {"x-chroma-token": key}
    if url.username is None:
        return {}
    pair = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return {"authorization": f"Basic {b64encode(pair.encode()).decode()}"}
