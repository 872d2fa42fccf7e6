"""A blend as a real `BaseRetriever` of LlamaIndex."""

from __future__ import annotations

from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle


class BlendedLlamaIndexRetriever(BaseRetriever):
    """For whatever asks for the class itself. blended: an `argus.BlendedRetriever`."""

    def __init__(self, blended: Any, **options: Any) -> None:
        super().__init__(**options)
        self.blended = blended

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes: list[NodeWithScore] = self.blended.retrieve(query_bundle)
        return nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes: list[NodeWithScore] = await self.blended.aretrieve(query_bundle)
        return nodes
