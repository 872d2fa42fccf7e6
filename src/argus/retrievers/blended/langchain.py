"""A blend as a real `BaseRetriever` of LangChain."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever


class BlendedLangChainRetriever(BaseRetriever):
    """For whatever asks for the class itself. blended: an `argus.BlendedRetriever`."""

    blended: Any

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        pages: list[Document] = self.blended.invoke(query)
        return pages

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        pages: list[Document] = await self.blended.ainvoke(query)
        return pages
