"""Real stores that hold documents with their vectors, in the shapes that teams have them in."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import Document, FloatArray
from argus.stores.protocol import Metric, Records, StoreFacts
from argus.stores.spec import StoreConfig
from tests.support.payloads import write_payloads
from tests.support.stores import fill_milvus, open_sqlite_vec


def qdrant(place: Path, documents: Sequence[Document], vectors: FloatArray) -> str:
    """Fill as LangChain does: page_content, and the rest as an object."""
    rows = [
        {"page_content": d.text, "metadata": {"title": d.title, "key": d.id}} for d in documents
    ]
    return write_payloads(place, rows, vectors)


def chroma(place: Path, documents: Sequence[Document], vectors: FloatArray) -> str:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(place), settings=Settings(anonymized_telemetry=False))
    collection = client.create_collection("docs", metadata={"hnsw:space": "l2"})
    collection.add(
        ids=[d.id for d in documents], embeddings=np.asarray(vectors, np.float32),
        metadatas=[{"title": d.title, "key": d.id} for d in documents],
        documents=[d.text for d in documents],
    )  # fmt: skip
    return f"chroma:{place}/docs"


def lancedb(place: Path, documents: Sequence[Document], vectors: FloatArray) -> str:
    import lancedb as lance
    import pyarrow as pa

    flat = pa.array(np.asarray(vectors, np.float32).ravel())
    table = pa.table(
        {
            "id": [d.id for d in documents],
            "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            "text": [d.text for d in documents],
            "metadata": [{"title": d.title, "key": d.id} for d in documents],
        }
    )
    lance.connect(str(place)).create_table("docs", table)
    return f"lancedb:{place}/docs"


def milvus(place: Path, documents: Sequence[Document], vectors: FloatArray) -> str:
    rows = [
        {"pk": d.id, "vector": v.tolist(), "chunk_text": d.text, "title": d.title, "key": d.id}
        for d, v in zip(documents, vectors, strict=True)
    ]
    return fill_milvus(place, "pk", "IP", rows)


def sqlite_vec(place: Path, documents: Sequence[Document], vectors: FloatArray) -> str:
    place.mkdir()
    database = open_sqlite_vec(place / "docs.db")
    database.execute(
        f"CREATE VIRTUAL TABLE docs USING vec0(id TEXT PRIMARY KEY, "
        f"embedding FLOAT[{vectors.shape[1]}] distance_metric=cosine, +content TEXT, +title TEXT, "
        "+key TEXT)"
    )
    for d, v in zip(documents, vectors, strict=True):
        database.execute(
            "INSERT INTO docs (id, embedding, content, title, key) VALUES (?, ?, ?, ?, ?)",
            (d.id, np.asarray(v, np.float32).tobytes(), d.text, d.title, d.id),
        )
    database.close()
    return f"sqlite-vec:{place}/docs.db/docs"


def pgvector(uri: str, documents: Sequence[Document], vectors: FloatArray) -> str:
    """Fill as LangChain does: `document`, and `cmetadata` as jsonb."""
    import psycopg

    with psycopg.connect(uri, autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute("DROP TABLE IF EXISTS chunks")
        database.execute(
            f"CREATE TABLE chunks (id text PRIMARY KEY, embedding vector({vectors.shape[1]}), "
            "document text, cmetadata jsonb)"
        )
        rows = [
            (d.id, str(v.tolist()), d.text, json.dumps({"title": d.title, "key": d.id}))
            for d, v in zip(documents, vectors, strict=True)
        ]
        with database.cursor() as cursor:
            cursor.executemany("INSERT INTO chunks VALUES (%s, %s, %s, %s)", rows)
    return f"pgvector:{uri}/chunks"


Fill = Callable[[Any, Sequence[Document], FloatArray], str]
FILLS: dict[str, Fill] = {
    "qdrant": qdrant, "chroma": chroma, "lancedb": lancedb, "milvus": milvus,
    "sqlite-vec": sqlite_vec, "pgvector": pgvector,
}  # fmt: skip


class ListStore:
    """Records in memory: what a store of one's own would hand out, page by page."""

    can_search_exactly = True

    def __init__(
        self, ids: Sequence[str], vectors: FloatArray, payloads: Sequence[dict[str, Any]]
    ) -> None:
        self.name = "mine:docs"
        self._records = Records(ids, np.asarray(vectors, np.float32), payloads)

    def describe(self) -> StoreFacts:
        n, dim = self._records.vectors.shape
        return StoreFacts(n, dim, Metric.COSINE, "", "exact", True)

    def iterate(self, size: int):
        for start in range(0, len(self._records.ids), size):
            part = slice(start, start + size)
            r = self._records
            yield Records(r.ids[part], r.vectors[part], r.payloads[part])

    def search(self, vectors, k, *, matching=None, exact=False):
        raise NotImplementedError

    def upsert(self, records):
        raise NotImplementedError

    def delete(self, ids):
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""


def opening(spec: str) -> StoreConfig:
    """Return what the name of a filled store does not say."""
    return StoreConfig(metric="cosine") if spec.startswith("lancedb") else StoreConfig()
