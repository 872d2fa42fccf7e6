"""Real stores, each filled with the same few records."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray

DIM, N = 16, 60


@dataclass(frozen=True)
class Filled:
    """A store that is there: how it is named, and what it holds."""

    spec: str
    ids: list[str]
    vectors: FloatArray
    options: dict[str, Any]


def vectors() -> FloatArray:
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(N, DIM)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def payload(i: int) -> dict[str, Any]:
    return {"text": f"text {i}", "tenant": i % 3}


def qdrant(folder: Path) -> Filled:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder))
    params = models.VectorParams(size=DIM, distance=models.Distance.COSINE)
    client.create_collection("docs", vectors_config=params)
    rows = vectors()
    client.upsert(
        "docs",
        [
            models.PointStruct(id=i, vector=v.tolist(), payload=payload(i))
            for i, v in enumerate(rows)
        ],
    )
    client.close()
    return Filled(f"qdrant:{folder}/docs", [str(i) for i in range(N)], rows, {})


def chroma(folder: Path) -> Filled:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    docs = client.create_collection("docs", metadata={"hnsw:space": "cosine"})
    rows, ids = vectors(), [f"d{i}" for i in range(N)]
    docs.add(
        ids=ids, embeddings=rows, metadatas=[{"tenant": i % 3} for i in range(N)],
        documents=[f"text {i}" for i in range(N)],
    )  # fmt: skip
    return Filled(f"chroma:{folder}/docs", ids, rows, {})


def lancedb(folder: Path) -> Filled:
    import lancedb as lance
    import pyarrow as pa

    rows, ids = vectors(), [f"d{i}" for i in range(N)]
    table = pa.table(
        {
            "id": ids,
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), DIM),
            "text": [f"text {i}" for i in range(N)],
            "tenant": [i % 3 for i in range(N)],
        }
    )
    lance.connect(str(folder)).create_table("docs", table)
    return Filled(f"lancedb:{folder}/docs", ids, rows, {"metric": "cosine"})


def faiss(folder: Path) -> Filled:
    import faiss as library

    folder.mkdir()
    rows, ids = vectors(), list(range(100, 100 + N))
    index = library.IndexIDMap2(library.IndexFlatIP(DIM))
    index.add_with_ids(rows, np.array(ids))
    library.write_index(index, str(folder / "docs.index"))
    return Filled(f"faiss:{folder}/docs.index", [str(i) for i in ids], rows, {})


def sqlite_vec(folder: Path) -> Filled:
    folder.mkdir()
    fill_sqlite_vec(folder / "docs.db")
    ids = [f"d{i}" for i in range(N)]
    return Filled(f"sqlite-vec:{folder}/docs.db/docs", ids, vectors(), {})


def fill_sqlite_vec(file: Path) -> None:
    """Write the records into a file of SQLite."""
    import apsw
    import sqlite_vec as extension

    database = apsw.Connection(str(file))
    database.enable_load_extension(True)
    database.load_extension(extension.loadable_path())
    database.execute(
        f"CREATE VIRTUAL TABLE docs USING vec0(id TEXT PRIMARY KEY, tenant INTEGER, "
        f"embedding FLOAT[{DIM}] distance_metric=cosine, +text TEXT)"
    )
    for i, row in enumerate(vectors()):
        database.execute(
            "INSERT INTO docs (id, tenant, embedding, text) VALUES (?, ?, ?, ?)",
            (f"d{i}", i % 3, row.tobytes(), f"text {i}"),
        )
    database.close()


def milvus(folder: Path) -> Filled:
    from pymilvus import DataType, MilvusClient

    folder.mkdir()
    client = MilvusClient(uri=str(folder / "docs.db"))
    schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIM)
    params = client.prepare_index_params()
    params.add_index("vector", index_type="FLAT", metric_type="COSINE")
    client.create_collection("docs", schema=schema, index_params=params)
    rows, ids = vectors(), [f"d{i}" for i in range(N)]
    client.insert(
        "docs",
        [
            {"id": d, "vector": v.tolist(), **payload(i)}
            for i, (d, v) in enumerate(zip(ids, rows, strict=True))
        ],
    )
    client.close()
    return Filled(f"milvus:{folder}/docs.db/docs", ids, rows, {})


def pgvector(uri: str) -> Filled:
    import psycopg

    rows, ids = vectors(), [f"d{i}" for i in range(N)]
    with psycopg.connect(uri, autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute("DROP TABLE IF EXISTS docs, docs_argus")
        database.execute(
            f"CREATE TABLE docs "
            f"(id text PRIMARY KEY, embedding vector({DIM}), text text, tenant int)"
        )
        with database.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO docs VALUES (%s, %s, %s, %s)",
                [
                    (d, str(v.tolist()), f"text {i}", i % 3)
                    for i, (d, v) in enumerate(zip(ids, rows, strict=True))
                ],
            )
        database.execute("CREATE INDEX ON docs USING hnsw (embedding vector_cosine_ops)")
    return Filled(f"pgvector:{uri}/docs", ids, rows, {})


LOCAL: dict[str, Callable[..., Filled]] = {
    "qdrant": qdrant, "chroma": chroma, "lancedb": lancedb, "faiss": faiss,
    "sqlite-vec": sqlite_vec, "milvus": milvus,
}  # fmt: skip
