"""What a blend costs: a search, and its build.

One question over 50,000 documents with five sentence views each, beside a search of the documents
alone; the build beside encoding the sentences once. Documents are vectors of the standard library's
entities, and unit(a + 0.5 b) of random pairs of them; sentence views lie around their document as
those of hotpot100 do (`geometry` gives both). Both searches are exact and in memory; texts are the
library's.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.types import Document, FloatArray, Query, View
from argus.encoders import EmbeddingStore, EncoderConfig, embed, load_encoder
from argus.encoders import documents as as_documents
from argus.encoders.protocol import unit_rows
from argus.indexes.blend import SENTENCE, Blend
from argus.indexes.job import build_index
from argus.indexes.lexical import STEMMED, LexicalIndex
from argus.indexes.snapshot import Snapshot
from argus.knowledge.stdlib import standard_library, standard_questions
from argus.remedies.blend import blend_index
from argus.remedies.blend_parts import sentence_views
from argus.tuning.arms import Searched
from benchmarks.shared import collection

DOCUMENTS, VIEWS, K, QUERIES = 50_000, 5, 10, 150
# Random vector added to a document for a view of it; brings the cosines to those of hotpot100.
SPREAD = 0.75
BARS = {"search_ms": 50, "build_times_encoding": 1.3}


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig(precision="float32"))
    library = standard_library()
    texts = [f"{e.id} {e.paragraph}" for e in library.entities]
    questions = standard_questions()[0][:QUERIES]
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddingStore(Path(folder), fingerprint=encoder.fingerprint, dim=encoder.dim) as store,
    ):
        base = embed(as_documents(texts), encoder, store).vectors
    rng = np.random.default_rng(0)
    documents = _documents(base, rng)
    return {
        "documents": DOCUMENTS,
        "views": DOCUMENTS * VIEWS,
        "search": _search(
            documents, texts, questions, encoder.encode_queries([q.text for q in questions]), rng
        ),
        "geometry": _geometry(documents, rng, encoder),
        "build": _build(encoder),
        "bars": BARS,
    }


def _documents(base: FloatArray, rng: np.random.Generator) -> FloatArray:
    first, second = rng.integers(len(base), size=(2, DOCUMENTS - len(base)))
    return np.concatenate([base, unit_rows(base[first] + 0.5 * base[second])])


def _views(documents: FloatArray, rng: np.random.Generator) -> FloatArray:
    noise = unit_rows(
        rng.normal(size=(len(documents) * VIEWS, documents.shape[1])).astype(np.float32)
    )
    return unit_rows(np.repeat(documents, VIEWS, axis=0) + np.float32(SPREAD) * noise)


def _search(
    documents: FloatArray,
    texts: list[str],
    questions: list[Query],
    vectors: FloatArray,
    rng: np.random.Generator,
) -> dict[str, Any]:
    ids = [f"d{i:05}" for i in range(DOCUMENTS)]
    own = [View(doc, doc, "original", "") for doc in ids]
    sentences = [View(f"{doc}#{i}", doc, SENTENCE, "") for doc in ids for i in range(VIEWS)]
    whole = Snapshot.of([*own, *sentences], np.concatenate([documents, _views(documents, rng)]))
    alone = Snapshot.of(own, documents)
    words = LexicalIndex.build(ids, [texts[i % len(texts)] for i in range(DOCUMENTS)], STEMMED)
    took: dict[str, list[float]] = {"dense": []}
    arms = {"+ sentences": Blend(bm25=0), "+ BM25": Blend()}
    searched = Searched(whole, words)
    for arm in arms.values():
        searched.run(questions[:1], vectors[:1], K, arm)
    for i, question in enumerate(questions):
        block = vectors[i : i + 1]
        took["dense"].append(_milliseconds(lambda: alone.search(block, K)))  # noqa: B023
        for name, arm in arms.items():
            took.setdefault(name, []).append(
                _milliseconds(lambda: searched.run([question], block, K, arm))  # noqa: B023
            )
    median = {name: statistics.median(values) for name, values in took.items()}
    return {
        "median_ms": {name: round(ms, 3) for name, ms in median.items()},
        "times_dense": {name: round(ms / median["dense"], 2) for name, ms in median.items()},
    }


def _milliseconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def _geometry(documents: FloatArray, rng: np.random.Generator, encoder: Any) -> dict[str, Any]:
    """Return quantiles of the cosine of a view and its document: of hotpot100, and made here."""
    sample = open_corpus(collection("hotpot100")).documents(FieldNames())[:200]
    views, _ = sentence_views(sample, "r", 100)
    own = dict(
        zip(
            (d.id for d in sample),
            encoder.encode_documents([d.content for d in sample]),
            strict=True,
        )
    )
    rows = encoder.encode_documents([v.text for v in views])
    real = np.einsum("ij,ij->i", rows, np.array([own[v.doc_id] for v in views]))
    some = documents[:2_000]
    made = np.einsum("ij,ij->i", _views(some, rng), np.repeat(some, VIEWS, axis=0))
    return {
        name: np.quantile(of, [0.1, 0.5, 0.9]).round(2).tolist()
        for name, of in (("hotpot100", real), ("here", made))
    }


def _build(encoder: Any) -> dict[str, Any]:
    """Return what blending takes beside encoding its sentences once, over wiki2."""
    documents: list[Document] = open_corpus(collection("wiki2")).documents(FieldNames())
    texts = [view.text for view in sentence_views(documents, "r", 100)[0]]
    with tempfile.TemporaryDirectory() as folder:
        build_index(documents, out=Path(folder) / "index", encoder=encoder)
        start = time.perf_counter()
        encoder.encode_documents(texts)
        encoding = time.perf_counter() - start
        start = time.perf_counter()
        blend_index(Path(folder) / "index", encoder=encoder)
        blending = time.perf_counter() - start
    return {"sentences": len(texts), "times_encoding": round(blending / encoding, 2)}
