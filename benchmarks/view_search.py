"""Latency of approximate search over 50,000 documents x 5 views against x 1, one query at a time.

Vectors: MiniLM embeddings of the 13,517 texts of wiki2, cranfield and the first 6,000 entities of
fb15k237; the other 36,483 documents are unit(b + 0.5 r), b and r the vectors of two random texts.
A document's further views stand for document + passage: unit(d + 0.6 p), p one of the 50 texts
nearest to b, drawn at random. Queries: the questions of wiki2 and cranfield. Recall is the share of
the exact ten best documents (brute force, max fold) that the approximate index returns.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import read_corpus
from argus.data.documents import read_queries
from argus.data.provenance import peak_memory_bytes
from argus.data.types import FloatArray, View
from argus.encoders import EmbeddingStore, EncoderConfig, documents, embed, load_encoder, queries
from argus.encoders.protocol import unit_rows
from argus.indexes.views import ViewIndex
from benchmarks.shared import collection

DOCUMENTS, VIEWS, K, QUERIES, BATCH = 50_000, 5, 10, 150, 5_000


def run() -> dict[str, Any]:
    base, asked = _embed()
    views = _views(base, np.random.default_rng(0))
    with tempfile.TemporaryDirectory() as folder:
        built = {n: _build(Path(folder) / str(n), views[:, :n]) for n in (1, VIEWS)}
        times: dict[int, list[float]] = {n: [] for n in built}
        found: dict[int, list[list[str]]] = {n: [] for n in built}
        for query in asked:
            for n, (index, _) in built.items():  # by turns, so that a busy moment hits both
                start = time.perf_counter()
                found[n] += index.search(query[None], K, exact=False).doc_ids
                times[n].append((time.perf_counter() - start) * 1e3)
        rows = [_row(n, *built[n], asked, times[n], found[n]) for n in built]
    return {
        "documents": DOCUMENTS,
        "queries": len(asked),
        "rows": rows,
        "latency_ratio": round(rows[1]["p50_ms"] / rows[0]["p50_ms"], 2),
        "peak_mib": round(peak_memory_bytes() / 2**20),
    }


def _row(
    n: int,
    index: ViewIndex,
    build_s: float,
    asked: FloatArray,
    times: list[float],
    found: list[list[str]],
) -> dict[str, Any]:
    snapshot = index.snapshot()
    exact = snapshot.search(asked, K).doc_ids
    start = time.perf_counter()
    for query in asked[:20]:
        snapshot.search(query[None], K)
    exact_ms = (time.perf_counter() - start) / 20 * 1e3
    shared = [len(set(a) & set(b)) / K for a, b in zip(found, exact, strict=True)]
    return {
        "views_per_document": n,
        "recall_at_10": round(statistics.mean(shared), 4),
        "p50_ms": round(statistics.median(times), 2),
        "p95_ms": round(float(np.quantile(times, 0.95)), 2),
        "exact_in_memory_ms": round(exact_ms, 2),
        "build_ann_s": round(build_s, 1),
    }


def _embed() -> tuple[FloatArray, FloatArray]:
    corpora = [read_corpus(collection(name)) for name in ("wiki2", "cranfield")]
    corpora.append(read_corpus(collection("fb15k237"), limit=6_000))
    texts = [d.content for corpus in corpora for d in corpus if d.content.strip()]
    questions = [q.text for name in ("wiki2", "cranfield") for q in read_queries(collection(name))]
    encoder = load_encoder(EncoderConfig(), sample=texts).encoder
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddingStore(Path(folder), fingerprint=encoder.fingerprint, dim=encoder.dim) as store,
    ):
        base = embed(documents(texts), encoder, store).vectors
        return base, embed(queries(questions[:QUERIES]), encoder, store).vectors


def _views(base: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return (DOCUMENTS, VIEWS, dim) unit vectors, as the module says."""
    more = DOCUMENTS - len(base)
    source = np.concatenate([np.arange(len(base)), rng.integers(0, len(base), more)])
    docs = base[source].copy()
    jitter = base[rng.integers(0, len(base), more)]
    docs[len(base) :] = unit_rows(docs[len(base) :] + 0.5 * jitter)
    near = np.empty((len(base), 50), np.int64)
    for start in range(0, len(base), 1000):
        scores = base[start : start + 1000] @ base.T
        near[start : start + 1000] = np.argpartition(-scores, 51, axis=1)[:, 1:51]
    views = np.empty((DOCUMENTS, VIEWS, base.shape[1]), np.float32)
    views[:, 0] = docs
    for view in range(1, VIEWS):
        passage = base[near[source, rng.integers(0, 50, DOCUMENTS)]]
        views[:, view] = unit_rows(docs + 0.6 * passage)
    return views


def _build(path: Path, vectors: FloatArray) -> tuple[ViewIndex, float]:
    n = vectors.shape[1]
    index = ViewIndex.create(path, fingerprint="benchmark", dim=vectors.shape[2])

    def batches() -> Any:
        for start in range(0, DOCUMENTS, BATCH):
            part = range(start, start + BATCH)
            views = [
                View(f"{d:06d}.{v}", f"{d:06d}", "expansion" if v else "original", f"text {d}")
                for d in part
                for v in range(n)
            ]
            yield views, vectors[start : start + BATCH].reshape(len(views), -1)

    index.add_batches(batches())
    start = time.perf_counter()
    index.build_ann()
    return index, time.perf_counter() - start
