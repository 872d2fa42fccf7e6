"""Real stores that hold the records of a blend."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from argus.stores.qdrant import QdrantStore
from tests.support.blended import Record


def qdrant(folder: Path, records: Sequence[Record], distance: str = "Cosine") -> str:
    from qdrant_client import QdrantClient

    client = QdrantClient(path=str(folder))
    _fill(client, records, distance)
    client.close()
    return f"qdrant:{folder}/docs_argus"


def in_memory(records: Sequence[Record]) -> QdrantStore:
    """Return an opened collection of Qdrant, which is ten times faster than a folder."""
    from qdrant_client import QdrantClient

    client = QdrantClient(":memory:")
    _fill(client, records, "Cosine")
    return QdrantStore(client, "docs_argus", "qdrant:memory/docs_argus", is_served=False)


def _fill(client: Any, records: Sequence[Record], distance: str) -> None:
    from qdrant_client import models

    params = models.VectorParams(size=len(records[0][1]), distance=models.Distance(distance))
    client.create_collection("docs_argus", vectors_config=params)
    points = [models.PointStruct(id=i, vector=v.tolist(), payload=f) for i, v, f in records]
    client.upsert("docs_argus", points)


def qdrant_l2(folder: Path, records: Sequence[Record]) -> str:
    return qdrant(folder, records, "Euclid")


def chroma(folder: Path, records: Sequence[Record]) -> str:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    docs = client.create_collection("docs_argus", metadata={"hnsw:space": "cosine"})
    docs.add(
        ids=[id_ for id_, _, _ in records], embeddings=[v for _, v, _ in records],
        metadatas=[fields for _, _, fields in records],
    )  # fmt: skip
    return f"chroma:{folder}/docs_argus"


def lancedb(folder: Path, records: Sequence[Record]) -> str:
    """A table without an index ranks by squared L2."""
    import lancedb as lance

    rows = [{"id": id_, "vector": vector.tolist(), **fields} for id_, vector, fields in records]
    lance.connect(str(folder)).create_table("docs_argus", rows)
    return f"lancedb:{folder}/docs_argus"


def pgvector(uri: str, records: Sequence[Record]) -> str:
    import psycopg

    dim = len(records[0][1])
    names = ["text", "tenant", "url", "argus_remedy", "argus_parent", "argus_kind", "argus_scale"]
    with psycopg.connect(uri, autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute("DROP TABLE IF EXISTS docs_argus")
        database.execute(
            f"CREATE TABLE docs_argus (id text PRIMARY KEY, embedding vector({dim}), text text, "
            "tenant int, url text, argus_remedy text, argus_parent text, argus_kind text, "
            "argus_scale float8)"
        )
        with database.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO docs_argus VALUES (%s, %s, {', '.join(['%s'] * len(names))})",
                [(id_, str(v.tolist()), *(f[n] for n in names)) for id_, v, f in records],
            )
        database.execute("CREATE INDEX ON docs_argus USING hnsw (embedding vector_cosine_ops)")
    return f"pgvector:{uri}/docs_argus"


LOCAL: dict[str, Callable[[Path, Sequence[Record]], str]] = {
    "qdrant": qdrant, "qdrant-l2": qdrant_l2, "chroma": chroma, "lancedb": lancedb,
}  # fmt: skip
