"""Retrieval in the shapes that applications speak: they need no client of ours.

* An OpenAI-compatible vector store: https://platform.openai.com/docs/api-reference/vector-stores/search
* LangChain: `RemoteLangChainRetriever` of langchain-community reads the answer as it is; so does
  `Document(**one)`.
* LlamaIndex: `TextNode.from_dict(one["node"])`, and its score.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import AliasChoices, ConfigDict, Field
from typing_extensions import TypedDict

from argus.service.api.requests import Asking, Body, K, Text, Times
from argus.service.searching.answering import Question
from argus.service.searching.summary import ServedHit
from argus.service.state import ServiceOf
from argus.settings import TOP_K

router = APIRouter(tags=["retrieve"])
MOST_RESULTS = 50
"""As the API has it."""
Metadata = dict[str, str | float]
"""Of a document, by name; what is not known is left out."""


class Content(TypedDict):
    """A piece of text."""

    type: Literal["text"]
    text: str


class FoundFile(TypedDict):
    """A result in OpenAI's shape; what led to it stands among its attributes."""

    file_id: str
    filename: str
    score: float
    attributes: Metadata
    content: list[Content]


class ResultsPage(TypedDict):
    """All results in OpenAI's shape."""

    object: Literal["vector_store.search_results.page"]
    search_query: list[str]
    data: list[FoundFile]
    has_more: bool
    next_page: str | None


class RankingOptions(Body):
    """Of OpenAI's search: results below a score are left out."""

    ranker: Literal["none", "auto"] = "auto"
    score_threshold: float | None = None


class VectorStoreSearch(Times):
    """OpenAI's search of a vector store; as_of and known_by are ours."""

    query: Text | Annotated[list[Text], Field(min_length=1, max_length=1)]
    max_num_results: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = TOP_K
    ranking_options: RankingOptions | None = None
    rewrite_query: bool = False
    filters: Any = None


@router.post("/v1/vector_stores/{store_id}/search", response_model=ResultsPage)
async def search_vector_store(
    store_id: str, body: VectorStoreSearch, service: ServiceOf
) -> ResultsPage | Response:
    """Search as OpenAI's vector stores are; any id names what this service searches.

    Filters and rewritten questions are refused: results that only look filtered would be worse.
    """
    if body.filters is not None or body.rewrite_query:
        name = "filters" if body.filters is not None else "rewrite_query"
        return _refused(f"{name} is not served here; leave it out", name)
    text = body.query if isinstance(body.query, str) else body.query[0]
    question = Question(text, body.max_num_results, body.as_of, body.known_by)
    answer = await service.answer(question)
    least = body.ranking_options.score_threshold if body.ranking_options else None
    hits = [hit for hit in answer["results"] if least is None or hit["score"] >= least]
    return {
        "object": "vector_store.search_results.page",
        "search_query": [text],
        "data": [_file(hit) for hit in hits],
        "has_more": False,
        "next_page": None,
    }


def _refused(message: str, param: str) -> Response:
    """Return an error in OpenAI's shape."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
    return JSONResponse({"error": error}, 400)


def _file(hit: ServedHit) -> FoundFile:
    return {
        "file_id": hit["id"],
        "filename": hit["title"] or hit["id"],
        "score": hit["score"],
        "attributes": _metadata(hit),
        "content": [{"type": "text", "text": hit["text"]}],
    }


class FoundDocument(TypedDict):
    """A document in LangChain's shape."""

    id: str
    page_content: str
    metadata: Metadata


class LangChainDocuments(TypedDict):
    """What `RemoteLangChainRetriever` reads."""

    response: list[FoundDocument]


class LangChainQuestion(Asking):
    """A question, under the name that `RemoteLangChainRetriever` gives it, or ours."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True)
    query: Annotated[Text, Field(validation_alias=AliasChoices("query", "message"))]


@router.post("/retrieve/langchain")
async def retrieve_for_langchain(body: LangChainQuestion, service: ServiceOf) -> LangChainDocuments:
    """Return documents as LangChain has them."""
    answer = await service.answer(body.question(body.query))
    return {
        "response": [
            {"id": hit["id"], "page_content": hit["text"], "metadata": _metadata(hit)}
            for hit in answer["results"]
        ]
    }


class FoundNode(TypedDict):
    """A node in LlamaIndex' shape."""

    class_name: Literal["TextNode"]
    id_: str
    text: str
    metadata: Metadata


class ScoredNode(TypedDict):
    """A node, which `TextNode.from_dict` reads, and its score."""

    class_name: Literal["NodeWithScore"]
    node: FoundNode
    score: float


class LlamaIndexNodes(TypedDict):
    """Nodes, best first."""

    nodes: list[ScoredNode]


class LlamaIndexQuestion(Asking):
    """A question; similarity_top_k is LlamaIndex' name for k."""

    query: Text
    similarity_top_k: K | None = None


@router.post("/retrieve/llamaindex")
async def retrieve_for_llamaindex(body: LlamaIndexQuestion, service: ServiceOf) -> LlamaIndexNodes:
    """Return nodes as LlamaIndex has them."""
    k = body.similarity_top_k or body.k
    answer = await service.answer(body.model_copy(update={"k": k}).question(body.query))
    return {"nodes": [_node(hit) for hit in answer["results"]]}


def _node(hit: ServedHit) -> ScoredNode:
    node: FoundNode = {
        "class_name": "TextNode", "id_": hit["id"], "text": hit["text"], "metadata": _metadata(hit)
    }  # fmt: skip
    return {"class_name": "NodeWithScore", "node": node, "score": hit["score"]}


def _metadata(hit: ServedHit) -> Metadata:
    """Return what an application may want to know of a result; `supersedes`: the chain to it."""
    steps = [
        f"{s['superseded']} superseded by {s['superseder']} ({s['rule']})" for s in hit["chain"]
    ]
    known: dict[str, str | float | None] = {
        "id": hit["id"], "title": hit["title"], "score": hit["score"], "type": hit["type"],
        "time": hit["time"], "in_place_of": hit["anchor"] if steps else None,
    }  # fmt: skip
    metadata = {name: value for name, value in known.items() if value is not None}
    return metadata | ({"supersedes": "; ".join(steps)} if steps else {})
