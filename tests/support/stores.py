"""Real stores, each filled with the same few records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from argus.stores.protocol import Metric

DIM, N = 16, 60


@dataclass(frozen=True)
class Filled:
    """A store that is there: how it is named, and what it holds."""

    spec: str
    ids: list[str]
    vectors: FloatArray
    options: dict[str, Any]
    metric: Metric = Metric.COSINE
    is_exact: bool = True


def lengthy() -> FloatArray:
    """Return vectors of many lengths: L2 ranks them otherwise than a cosine does."""
    return vectors() * np.linspace(0.3, 3, N, dtype=np.float32)[:, None]


def of(metric: Metric) -> FloatArray:
    """Return the vectors that a store of this metric is filled with."""
    return lengthy() if metric is Metric.L2 else vectors()


def vectors() -> FloatArray:
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(N, DIM)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def payload(i: int) -> dict[str, Any]:
    return {"text": f"text {i}", "tenant": i % 3}


def qdrant(folder: Path, metric: Metric = Metric.COSINE) -> Filled:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder))
    is_l2 = metric is Metric.L2
    distance = models.Distance.EUCLID if is_l2 else models.Distance.COSINE
    params = models.VectorParams(size=DIM, distance=distance)
    client.create_collection("docs", vectors_config=params)
    rows = of(metric)
    client.upsert(
        "docs",
        [
            models.PointStruct(id=i, vector=v.tolist(), payload=payload(i))
            for i, v in enumerate(rows)
        ],
    )
    client.close()
    return Filled(f"qdrant:{folder}/docs", [str(i) for i in range(N)], rows, {}, metric)


def chroma(folder: Path, metric: Metric = Metric.COSINE) -> Filled:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    docs = client.create_collection("docs", metadata={"hnsw:space": str(metric)})
    rows, ids = of(metric), [f"d{i}" for i in range(N)]
    docs.add(
        ids=ids, embeddings=rows, metadatas=[{"tenant": i % 3} for i in range(N)],
        documents=[f"text {i}" for i in range(N)],
    )  # fmt: skip
    return Filled(f"chroma:{folder}/docs", ids, rows, {}, metric, is_exact=False)


def lancedb(folder: Path, metric: Metric = Metric.COSINE) -> Filled:
    import lancedb as lance
    import pyarrow as pa

    rows, ids = of(metric), [f"d{i}" for i in range(N)]
    table = pa.table(
        {
            "id": ids,
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), DIM),
            "text": [f"text {i}" for i in range(N)],
            "tenant": [i % 3 for i in range(N)],
        }
    )
    lance.connect(str(folder)).create_table("docs", table)
    return Filled(f"lancedb:{folder}/docs", ids, rows, {"metric": str(metric)}, metric)


def faiss(folder: Path, metric: Metric = Metric.DOT) -> Filled:
    import faiss as library

    folder.mkdir()
    rows, ids = of(metric), list(range(100, 100 + N))
    flat = library.IndexFlatL2 if metric is Metric.L2 else library.IndexFlatIP
    index = library.IndexIDMap2(flat(DIM))
    index.add_with_ids(rows, np.array(ids))
    library.write_index(index, str(folder / "docs.index"))
    return Filled(f"faiss:{folder}/docs.index", [str(i) for i in ids], rows, {}, metric)


def sqlite_vec(folder: Path, metric: Metric = Metric.COSINE) -> Filled:
    folder.mkdir()
    fill_sqlite_vec(folder / "docs.db", metric)
    ids = [f"d{i}" for i in range(N)]
    return Filled(f"sqlite-vec:{folder}/docs.db/docs", ids, of(metric), {}, metric)


def fill_sqlite_vec(file: Path, metric: Metric = Metric.COSINE) -> None:
    """Write the records into a file of SQLite."""
    import apsw
    import sqlite_vec as extension

    database = apsw.Connection(str(file))
    database.enable_load_extension(True)
    database.load_extension(extension.loadable_path())
    database.execute(
        f"CREATE VIRTUAL TABLE docs USING vec0(id TEXT PRIMARY KEY, tenant INTEGER, "
        f"embedding FLOAT[{DIM}] distance_metric={metric}, +text TEXT)"
    )
    for i, row in enumerate(of(metric)):
        database.execute(
            "INSERT INTO docs (id, tenant, embedding, text) VALUES (?, ?, ?, ?)",
            (f"d{i}", i % 3, row.tobytes(), f"text {i}"),
        )
    database.close()


def milvus(folder: Path, metric: Metric = Metric.COSINE) -> Filled:
    from pymilvus import DataType, MilvusClient

    folder.mkdir()
    client = MilvusClient(uri=str(folder / "docs.db"))
    schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIM)
    params = client.prepare_index_params()
    params.add_index("vector", index_type="FLAT", metric_type=metric.upper())
    client.create_collection("docs", schema=schema, index_params=params)
    rows, ids = of(metric), [f"d{i}" for i in range(N)]
    client.insert(
        "docs",
        [
            {"id": d, "vector": v.tolist(), **payload(i)}
            for i, (d, v) in enumerate(zip(ids, rows, strict=True))
        ],
    )
    client.close()
    return Filled(f"milvus:{folder}/docs.db/docs", ids, rows, {}, metric)


def pgvector(uri: str, metric: Metric = Metric.COSINE) -> Filled:
    import psycopg

    rows, ids = of(metric), [f"d{i}" for i in range(N)]
    with psycopg.connect(uri, autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute("DROP TABLE IF EXISTS docs")
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
        database.execute(f"CREATE INDEX ON docs USING hnsw (embedding vector_{metric}_ops)")
    return Filled(f"pgvector:{uri}/docs", ids, rows, {}, metric, is_exact=False)


LOCAL: dict[str, Callable[..., Filled]] = {
    "qdrant": qdrant, "chroma": chroma, "lancedb": lancedb, "faiss": faiss,
    "sqlite-vec": sqlite_vec, "milvus": milvus,
}  # fmt: skip
