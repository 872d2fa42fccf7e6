"""Four retrievers over one store, as teams build them, each audited in two lines.

One Qdrant collection of wiki2. LangChain: its vectors alone, BM25 alone, both fused (reciprocal
ranks), and the fusion reranked by another model's reading: the sentences of the first twenty,
embedded one by one, the best of each. LlamaIndex: an index of its own over the same vectors.
Exposure of 300 documents, drawn, in the whole of 6,119; judged questions; who loses what.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from langchain_core.documents import Document as Page
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict
from qdrant_client import QdrantClient, models

import argus
from argus.corpora.opening import read_corpus
from argus.data.types import Document, FloatArray
from argus.encoders import Encoder, EncoderConfig, load_encoder
from benchmarks.shared import collection

DEPTH, SAMPLE = 20, 300


class Shelf:
    """What the retrievers share: documents, their vectors in a store, BM25."""

    def __init__(self, documents: Sequence[Document], vectors: FloatArray, encoder: Encoder):
        self.documents, self.encoder = list(documents), encoder
        self.store = QdrantClient(":memory:")
        params = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
        self.store.create_collection("docs", vectors_config=params)
        for start in range(0, len(vectors), 1_000):
            numbers = range(start, min(start + 1_000, len(vectors)))
            payloads = [{"chunk_id": documents[i].id} for i in numbers]
            rows = vectors[numbers.start : numbers.stop].tolist()
            self.store.upsert(
                "docs", models.Batch(ids=list(numbers), vectors=rows, payloads=payloads)
            )
        self.numbers = {d.id: i for i, d in enumerate(documents)}

    @cached_property
    def words(self) -> bm25s.BM25:
        """BM25 over titles and texts."""
        index = bm25s.BM25()
        index.index(bm25s.tokenize([d.content for d in self.documents], show_progress=False),
                    show_progress=False)  # fmt: skip
        return index

    def dense(self, query: str, k: int) -> list[int]:
        """Rank by the store."""
        vector = self.encoder.encode_queries([query])[0].tolist()
        return [int(hit.id) for hit in self.store.query_points("docs", vector, limit=k).points]

    def sparse(self, query: str, k: int) -> list[int]:
        """Rank by BM25."""
        rows, _ = self.words.retrieve(
            bm25s.tokenize(query, show_progress=False), k=k, show_progress=False
        )
        return [int(row) for row in rows[0]]

    def hybrid(self, query: str, k: int) -> list[int]:
        """Rank by both, fused."""
        scores: dict[int, float] = {}
        for ranked in (self.dense(query, DEPTH), self.sparse(query, DEPTH)):
            for place, row in enumerate(ranked, start=1):
                scores[row] = scores.get(row, 0.0) + 1 / (60 + place)
        return sorted(scores, key=lambda row: -scores[row])[:k]

    def reranked(self, query: str, k: int) -> list[int]:
        """Rank the first of the fusion by their best sentence."""
        rows = self.hybrid(query, DEPTH)
        texts = [re.split(r"(?<=[.!?])\s+", self.documents[row].content) for row in rows]
        vectors = self.encoder.encode_documents([text for parts in texts for text in parts])
        scores = vectors @ self.encoder.encode_queries([query])[0]
        ends = np.cumsum([len(parts) for parts in texts])
        best = [part.max() for part in np.split(scores, ends[:-1])]
        return [rows[i] for i in np.argsort(best)[::-1][:k]]


class OfLangChain(BaseRetriever):
    """A search of the shelf, as LangChain has retrievers."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    search: Callable[[str, int], list[int]]
    documents: list[Document]
    k: int = 10

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Page]:
        hits = (self.documents[row] for row in self.search(query, self.k))
        return [Page(page_content=d.text, metadata={"source": d.id}) for d in hits]


def of_llama_index(shelf: Shelf, vectors: FloatArray) -> Any:
    """LlamaIndex' own index over the same vectors, and its retriever."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import TextNode

    class Embedding(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            row: list[float] = shelf.encoder.encode_queries([query])[0].tolist()
            return row

        def _get_text_embedding(self, text: str) -> list[float]:
            row: list[float] = shelf.encoder.encode_documents([text])[0].tolist()
            return row

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    nodes = [
        TextNode(id_=d.id, text=d.content, embedding=row)
        for d, row in zip(shelf.documents, vectors.tolist(), strict=True)
    ]
    index = VectorStoreIndex(nodes, embed_model=Embedding())
    return index.as_retriever(similarity_top_k=10)


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig(precision="float32")).encoder
    documents = read_corpus(collection("wiki2"))
    vectors = encoder.encode_documents([d.content for d in documents])
    whole = Shelf(documents, vectors, encoder)
    with tempfile.TemporaryDirectory() as folder:
        return {
            "exposure": _exposures(whole, vectors, Path(folder)),
            "comparisons": _comparisons(whole, Path(folder)),
        }


def _exposures(shelf: Shelf, vectors: FloatArray, folder: Path) -> dict[str, Any]:
    retrievers: dict[str, Any] = _of_langchain(shelf)
    retrievers["llama_index"] = of_llama_index(shelf, vectors)
    results = {}
    for name, retriever in retrievers.items():
        result = argus.exposure(
            shelf.documents, retriever=retriever, out=folder / name,
            config=argus.ExposureConfig(sentences=1, sample=SAMPLE),
        )  # fmt: skip
        results[name] = list(result.headline())[:4]
        print(name, results[name], flush=True)
    return results


def _comparisons(shelf: Shelf, folder: Path) -> dict[str, Any]:
    retrievers, wiki2 = _of_langchain(shelf), collection("wiki2")
    results = {}
    for before, after in (("dense", "sparse"), ("dense", "hybrid"), ("hybrid", "reranked")):
        result = argus.compare_retrievers(
            [retrievers[before], retrievers[after]], out=folder / f"{before}-{after}",
            queries=wiki2, qrels=wiki2 / "qrels" / "test.tsv", corpus=wiki2,
        )  # fmt: skip
        results[f"{before} to {after}"] = list(result.headline())
        print(before, after, results[f"{before} to {after}"], flush=True)
    return results


def _of_langchain(shelf: Shelf) -> dict[str, OfLangChain]:
    searches = {
        "dense": shelf.dense, "sparse": shelf.sparse,
        "hybrid": shelf.hybrid, "reranked": shelf.reranked,
    }  # fmt: skip
    return {
        name: OfLangChain(search=search, documents=shelf.documents)
        for name, search in searches.items()
    }
