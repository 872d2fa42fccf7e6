"""Latency of fused search over 50,000 documents x 5 scenarios against document-only search.

Both exact, in memory, one query at a time, by turns. Documents: vectors of the 5,463 entities of
the standard library, and unit(a + 0.5 b) of random pairs of them. A document's scenarios lie around
a topic near it, unit(d + A p), each unit(topic + B r), p and r random entities; A and B bring the
cosines to what the teacher profiles have (`geometry` gives both: least cosine of a scenario with
its document, and with the mean of the document's scenarios). Queries: the judged demo questions.
`same` says whether every result equals that of a search that looks at every scenario.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.provenance import peak_memory_bytes
from argus.data.types import Document, FloatArray, View
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed, load_encoder
from argus.encoders import documents as as_documents
from argus.encoders.protocol import unit_rows
from argus.indexes.fold import top_documents
from argus.indexes.snapshot import Snapshot
from argus.knowledge.stdlib import standard_library, standard_questions, standard_scenarios
from argus.scenarios.files import read_fields, read_profiles
from argus.scenarios.profile import Component, Profiled
from benchmarks.shared import collection

DOCUMENTS, SCENARIOS, K, QUERIES = 50_000, 5, 10, 150
A, B = 0.95, 0.45
WEIGHTS = (0.5, 0.7, 0.9)


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig()).encoder
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddingStore(Path(folder), fingerprint=encoder.fingerprint, dim=encoder.dim) as store,
    ):
        base = standard_library()
        texts = [f"{e.id} {e.paragraph}" for e in base.entities]
        vectors = embed(as_documents(texts), encoder, store).vectors
        real = _real_geometry(encoder, store)
    asked = encoder.encode_queries([q.text for q in standard_questions()[0]][:QUERIES])
    documents, scenarios = _synthetic(vectors, np.random.default_rng(0))
    alone, whole = _snapshot(documents, None), _snapshot(documents, scenarios)
    whole.search(asked[:1], K)  # compiles, and lays the scenarios out
    return {
        "documents": DOCUMENTS,
        "scenarios": DOCUMENTS * SCENARIOS,
        "queries": len(asked),
        "geometry": {"real": real, "synthetic": _geometry(documents, scenarios)},
        "rows": [_row(weight, alone, whole, asked) for weight in WEIGHTS],
        "batch": _batch(alone, whole, asked),
        "peak_mib": round(peak_memory_bytes() / 2**20),
    }


def _row(weight: float, alone: Snapshot, whole: Snapshot, asked: FloatArray) -> dict[str, Any]:
    times: dict[str, list[float]] = {"documents": [], "fused": [], "every scenario": []}
    same = True
    layout = whole.layout(weight)
    for query in asked:
        block = query[None]
        _, took = _timed(lambda: alone.search(block, K))  # noqa: B023 - called at once
        times["documents"].append(took)
        found, took = _timed(lambda: whole.search(block, K, weight))  # noqa: B023
        times["fused"].append(took)
        plain, took = _timed(
            lambda: top_documents(block, whole.vectors, block @ whole.vectors.T, layout, K)  # noqa: B023
        )
        times["every scenario"].append(took)
        same &= found.doc_ids[0] == [whole.doc_ids[d] for d in plain.document]
    median = {name: statistics.median(took) for name, took in times.items()}
    return {
        "lambda": weight,
        "documents_ms": round(median["documents"] * 1e3, 2),
        "fused_ms": round(median["fused"] * 1e3, 2),
        "fused_p95_ms": round(float(np.quantile(times["fused"], 0.95)) * 1e3, 2),
        "every_scenario_ms": round(median["every scenario"] * 1e3, 2),
        "ratio": round(median["fused"] / median["documents"], 2),
        "ratio_of_every_scenario": round(median["every scenario"] / median["documents"], 2),
        "same": same,
    }


def _batch(alone: Snapshot, whole: Snapshot, asked: FloatArray) -> dict[str, Any]:
    """All queries at once, where one product serves many."""
    took = {}
    for name, search in (("documents", alone), ("fused", whole)):
        took[name] = min(_timed(partial(search.search, asked, K))[1] for _ in range(5))
    return {"ratio": round(took["fused"] / took["documents"], 2)}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def _synthetic(vectors: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return (DOCUMENTS, dim) documents and (DOCUMENTS, SCENARIOS, dim) scenarios."""

    def drawn() -> FloatArray:
        return vectors[rng.integers(0, len(vectors), DOCUMENTS)]

    documents = drawn()
    documents[len(vectors) :] = unit_rows(documents + 0.5 * drawn())[len(vectors) :]
    documents[: len(vectors)] = vectors
    topic = unit_rows(documents + A * drawn())
    scenarios = np.stack([unit_rows(topic + B * drawn()) for _ in range(SCENARIOS)], axis=1)
    return documents, scenarios


def _snapshot(documents: FloatArray, scenarios: FloatArray | None) -> Snapshot:
    views, rows = [], []
    for d, vector in enumerate(documents):
        views.append(View(f"{d:06d}", f"{d:06d}", "original", "text"))
        rows.append(vector)
        for s in range(0 if scenarios is None else SCENARIOS):
            views.append(View(f"{d:06d}#{s}", f"{d:06d}", "scenario", "text"))
            rows.append(scenarios[d, s])  # type: ignore[index]
    return Snapshot.of(views, np.stack(rows))


def _geometry(documents: FloatArray, scenarios: FloatArray) -> dict[str, float]:
    middle = unit_rows(scenarios.sum(axis=1))
    return _cosines(
        np.einsum("dsi,di->ds", scenarios, documents).min(axis=1),
        np.einsum("dsi,di->ds", scenarios, middle).min(axis=1),
    )


def _cosines(own: FloatArray, middle: FloatArray) -> dict[str, float]:
    return {
        "least_with_document_median": round(float(np.median(own)), 3),
        "least_with_middle_median": round(float(np.median(middle)), 3),
    }


def _real_geometry(encoder: Encoder, store: EmbeddingStore) -> dict[str, dict[str, float]]:
    """Return what teacher profiles have: the released ones, and those of the demo."""
    import json

    base = standard_library()
    released = collection("spike_scenarios") / "scenarios.jsonl"
    rows = [json.loads(line) for line in released.read_text(encoding="utf-8").splitlines()]
    sets = {
        "spike_scenarios": (
            [Document(r["_id"], r["text"]) for r in rows],
            read_profiles(released),
        ),
        "standard library": (
            [Document(e.id, e.paragraph, e.id) for e in base.entities],
            {r["_id"]: read_fields(r["_id"], r) for r in standard_scenarios(base)},
        ),
    }
    return {name: _of_profiles(*given, encoder, store) for name, given in sets.items()}


def _of_profiles(
    documents: list[Document],
    profiles: dict[str, Profiled],
    encoder: Encoder,
    store: EmbeddingStore,
) -> dict[str, float]:
    own, middle = [], []
    for document in documents:
        profile = profiles[document.id].profile if document.id in profiles else None
        if profile is None:
            continue
        texts = [document.content, *profile.texts(Component.ME).values()]
        vectors = embed(as_documents(texts), encoder, store).vectors
        scenarios = vectors[1:]
        own.append((scenarios @ vectors[0]).min())
        middle.append((scenarios @ unit_rows(scenarios.sum(axis=0, keepdims=True))[0]).min())
    return _cosines(np.array(own), np.array(middle))
