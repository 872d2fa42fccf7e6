"""Real stores, each filled with the same few records."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from tests.support.payloads import write_payloads

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
    rows, ids = vectors(), [str(i) for i in range(N)]
    spec = write_payloads(folder, [payload(i) for i in range(N)], rows)
    return Filled(spec, ids, rows, {})


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


def open_sqlite_vec(file: Path) -> Any:
    """Return a connection that knows the extension."""
    import apsw
    import sqlite_vec as extension

    database = apsw.Connection(str(file))
    database.enable_load_extension(True)
    database.load_extension(extension.loadable_path())
    return database


def fill_sqlite_vec(file: Path) -> None:
    """Write the records into a file of SQLite."""
    database = open_sqlite_vec(file)
    database.execute(
        f"CREATE VIRTUAL TABLE docs USING vec0(id TEXT PRIMARY KEY, tenant INTEGER, "
        f"embedding FLOAT[{DIM}] distance_metric=cosine, +text TEXT)"
    )
    for i, row in enumerate(vectors()):
        values = f"d{i}", i % 3, row.tobytes(), f"text {i}"
        database.execute(
            "INSERT INTO docs (id, tenant, embedding, text) VALUES (?, ?, ?, ?)", values
        )
    database.close()


def fill_milvus(folder: Path, key: str, metric: str, rows: list[dict[str, Any]]) -> str:
    """Make a collection of rows with a vector; return how it is named."""
    from pymilvus import DataType, MilvusClient
    from pymilvus.client import grpc_handler

    # or it waits half a second for each collection
    grpc_handler.time = SimpleNamespace(time=time.time, sleep=lambda _: time.sleep(0.01))
    folder.mkdir()
    client = MilvusClient(uri=str(folder / "docs.db"))
    schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
    schema.add_field(key, DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=len(rows[0]["vector"]))
    params = client.prepare_index_params()
    params.add_index("vector", index_type="FLAT", metric_type=metric)
    client.create_collection("docs", schema=schema, index_params=params)
    client.insert("docs", rows)
    client.close()
    return f"milvus:{folder}/docs.db/docs"


def milvus(folder: Path) -> Filled:
    found, ids = vectors(), [f"d{i}" for i in range(N)]
    rows = [{"id": d, "vector": found[i].tolist(), **payload(i)} for i, d in enumerate(ids)]
    return Filled(fill_milvus(folder, "id", "COSINE", rows), ids, found, {})


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
