"""HTTP API for programs: search, explain, resolve, retrieve in the shapes of others, run jobs.

Shapes of others, whose own clients read them:

* An OpenAI-compatible vector store: https://platform.openai.com/docs/api-reference/vector-stores/search
* LangChain: `RemoteLangChainRetriever` of langchain-community, or `Document(**one)`.
* LlamaIndex: `TextNode.from_dict(one["node"])`, and its score.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints
from starlette.types import Receive, Scope, Send
from typing_extensions import TypedDict

from argus.authority.config import ANCHORS
from argus.errors import InputError
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Explanation, RunExplanation
from argus.service.answering import (
    WITH_RECORDS,
    Question,
    Resolved,
    SearchResults,
    ServedHit,
)
from argus.service.jobs.planning import JobRequest
from argus.service.jobs.queue import Jobs
from argus.service.jobs.table import JobList, JobRecord
from argus.service.searcher import IndexSource, State
from argus.service.state import Service, ServiceOf, service_of
from argus.service.workplace import run_config
from argus.settings import TOP_K

MAX_K, MAX_QUESTIONS, MAX_IDS = 200, 256, 1000
MAX_RESULTS = 50  # as OpenAI's API has it
MAX_ID = 2**63 - 1  # of the table
EVENTS_AT_ONCE = 100  # read from the table, so that a slow client holds little memory
QUIET_S = 15.0  # without an event, after which a comment shows that the stream lives
SEND_S = 20.0  # that a client may take to accept a block
STREAM_S = 600.0  # of one stream; then a client connects again, after its last event
RETRY_MS = 2_000

Text = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Date = Annotated[str, StringConstraints(min_length=1, max_length=64)]
K = Annotated[int, Field(ge=1, le=MAX_K)]
Explained = Explanation | RunExplanation
Metadata = dict[str, str | float]
"""Metadata of a document, by name. Unknown values are left out."""


class Body(BaseModel):
    """A request body. Unknown keys are refused, so that none names a path, model or address."""

    model_config = ConfigDict(extra="forbid")


class Times(Body):
    """The time as of which a question is answered. See `argus authority search`."""

    as_of: Annotated[Date | None, Field(description="What had taken effect by this date.")] = None
    known_by: Annotated[Date | None, Field(description="What had been published by this date.")] = (
        None
    )


class Asking(Times):
    """How questions are answered."""

    k: Annotated[K, Field(description="Documents to return.")] = TOP_K
    anchors: Annotated[K, Field(description="Retrieved documents that are looked at.")] = ANCHORS

    def question(self, text: str) -> Question:
        """Return a question that is answered so."""
        return Question(text, self.k, self.as_of, self.known_by, self.anchors)


class Search(Asking):
    """One question."""

    query: Text


class Batch(Asking):
    """Several questions."""

    queries: Annotated[list[Text], Field(min_length=1, max_length=MAX_QUESTIONS)]


class BatchResults(TypedDict):
    """Answers in the order of the questions.

    answers: answers in the order of the questions.
    """

    answers: list[SearchResults]


class Explain(Body):
    """A question, and the document that should come back for it."""

    query: Text
    id: Id
    k: K = TOP_K


class Resolve(Times):
    """Documents whose controlling documents are asked for."""

    ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_IDS)]


class Resolutions(TypedDict):
    """Documents under the authority relation, as of a time. Each once, in the order asked for."""

    as_of: str | None
    known_by: str | None
    documents: list[Resolved]


searching = APIRouter(tags=["search"])


@searching.get("/search")
async def search(body: Annotated[Search, Query()], service: ServiceOf) -> SearchResults:
    """Return the best documents for a question. With records, of those in force."""
    return await service.answer(body.question(body.query))


@searching.post("/search", operation_id="search_by_body")
async def search_by_body(body: Search, service: ServiceOf) -> SearchResults:
    """Return the best documents for a question, as GET does."""
    return await service.answer(body.question(body.query))


@searching.post("/search/batch")
async def search_batch(body: Batch, service: ServiceOf) -> BatchResults:
    """Answer several questions at once."""
    questions = [body.question(text) for text in body.queries]
    return {"answers": await asyncio.gather(*map(service.answer, questions))}


@searching.get("/explain")
async def explain(body: Annotated[Explain, Query()], service: ServiceOf) -> Explained:
    """Say why a document does not come back for a question. Every cause is checked."""
    return await explained(service, body)


@searching.post("/explain", operation_id="explain_by_body")
async def explain_by_body(body: Explain, service: ServiceOf) -> Explained:
    """Say why a document does not come back, as GET does."""
    return await explained(service, body)


@searching.post("/resolve")
def resolve(body: Resolve, service: ServiceOf) -> Resolutions:
    """Return the documents that control each one, and the chains that lead to them."""
    if (authority := service.authority) is None:
        fix = "Start it so, or over a folder of `argus authority audit`."
        raise InputError("no records are served", expected=WITH_RECORDS, fix=fix)
    as_of, known_by = authority.times(body.as_of, body.known_by)
    documents = authority.resolve(body.ids, as_of, known_by)
    return {"as_of": as_of, "known_by": known_by, "documents": documents}


async def explained(service: Service, body: Explain) -> Explained:
    """Explain in a thread of its own, a few at a time. Searches are answered meanwhile."""
    return await to_thread.run_sync(_explained, service, body, limiter=service.explaining)


def _explained(service: Service, body: Explain) -> Explained:
    from argus.explanation.job import explain as explain_index
    from argus.explanation.run import explain_served

    authority = None if service.authority is None else service.authority.around(body.id)
    source = service.searcher.source()
    if isinstance(source, IndexSource):
        config = ExplainConfig(k=body.k)
        return explain_index(
            body.query, body.id, source.retriever, config, authority=authority, fold=service.fold
        )
    return explain_served(
        body.query, body.id, service.searcher, source.documents,
        run_config(service.workplace, body.k), authority,
    )  # fmt: skip


class Content(TypedDict):
    """A piece of text."""

    type: Literal["text"]
    text: str


class FoundFile(TypedDict):
    """A result in OpenAI's shape. The chain to it stands among its attributes."""

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
    """OpenAI's search of a vector store, and a time (as_of, known_by)."""

    query: Text | Annotated[list[Text], Field(min_length=1, max_length=1)]
    max_num_results: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = TOP_K
    ranking_options: RankingOptions | None = None
    rewrite_query: bool = False
    filters: Any = None


class FoundDocument(TypedDict):
    """A document in LangChain's shape."""

    id: str
    page_content: str
    metadata: Metadata


class LangChainDocuments(TypedDict):
    """Documents as `RemoteLangChainRetriever` reads them."""

    response: list[FoundDocument]


class LangChainQuestion(Asking):
    """A question, under the name that `RemoteLangChainRetriever` gives it, or ours."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True)
    query: Annotated[Text, Field(validation_alias=AliasChoices("query", "message"))]


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
    """A question, with k also under the name that LlamaIndex has for it."""

    query: Text
    similarity_top_k: K | None = None


retrieving = APIRouter(tags=["retrieve"])


@retrieving.post("/v1/vector_stores/{store_id}/search", response_model=ResultsPage)
async def search_vector_store(
    store_id: str, body: VectorStoreSearch, service: ServiceOf
) -> ResultsPage | Response:
    """Search as OpenAI's vector stores are searched. Any id names the source of this service.

    Filters and rewritten questions are refused: results that only look filtered would be worse.
    """
    if body.filters is not None or body.rewrite_query:
        name = "filters" if body.filters is not None else "rewrite_query"
        error = {"message": f"{name} is not served here; leave it out",
                 "type": "invalid_request_error", "param": name, "code": None}  # fmt: skip
        return JSONResponse({"error": error}, 400)
    text = body.query if isinstance(body.query, str) else body.query[0]
    answer = await service.answer(Question(text, body.max_num_results, body.as_of, body.known_by))
    least = body.ranking_options.score_threshold if body.ranking_options else None
    files: list[FoundFile] = [
        {
            "file_id": hit["id"], "filename": hit["title"] or hit["id"], "score": hit["score"],
            "attributes": _metadata(hit), "content": [{"type": "text", "text": hit["text"]}],
        }
        for hit in answer["results"]
        if least is None or hit["score"] >= least
    ]  # fmt: skip
    return {
        "object": "vector_store.search_results.page", "search_query": [text], "data": files,
        "has_more": False, "next_page": None,
    }  # fmt: skip


@retrieving.post("/retrieve/langchain")
async def retrieve_for_langchain(body: LangChainQuestion, service: ServiceOf) -> LangChainDocuments:
    """Return documents as LangChain has them."""
    hits = (await service.answer(body.question(body.query)))["results"]
    documents: list[FoundDocument] = [
        {"id": hit["id"], "page_content": hit["text"], "metadata": _metadata(hit)} for hit in hits
    ]
    return {"response": documents}


@retrieving.post("/retrieve/llamaindex")
async def retrieve_for_llamaindex(body: LlamaIndexQuestion, service: ServiceOf) -> LlamaIndexNodes:
    """Return nodes as LlamaIndex has them."""
    asking = body.model_copy(update={"k": body.similarity_top_k or body.k})
    nodes: list[ScoredNode] = [
        {
            "class_name": "NodeWithScore", "score": hit["score"],
            "node": {"class_name": "TextNode", "id_": hit["id"], "text": hit["text"],
                     "metadata": _metadata(hit)},
        }
        for hit in (await service.answer(asking.question(body.query)))["results"]
    ]  # fmt: skip
    return {"nodes": nodes}


def _metadata(hit: ServedHit) -> Metadata:
    """Return the metadata of a result. `supersedes`: the chain to it."""
    steps = [
        f"{s['superseded']} superseded by {s['superseder']} ({s['rule']})" for s in hit["chain"]
    ]
    known: dict[str, str | float | None] = {
        "id": hit["id"], "title": hit["title"], "score": hit["score"], "type": hit["type"],
        "time": hit["time"], "in_place_of": hit["anchor"] if steps else None,
        "supersedes": "; ".join(steps) or None,
    }  # fmt: skip
    return {name: value for name, value in known.items() if value is not None}


class Health(TypedDict):
    """Liveness of the service."""

    status: Literal["ok"]


class Readiness(TypedDict):
    """Whether the service answers at once. The log says why an index could not be opened."""

    ready: bool
    state: State


telling = APIRouter(tags=["service"])


@telling.get("/healthz")
async def healthz() -> Health:
    """Say that the service lives."""
    return {"status": "ok"}


@telling.get("/readyz", responses={503: {"model": Readiness}})
async def readyz(service: ServiceOf, response: Response) -> Readiness:
    """Say whether the searched source is open. This also opens it."""
    state = service.searcher.state()
    response.status_code = 200 if state == "ready" else 503
    return {"ready": state == "ready", "state": state}


@telling.get("/metrics", response_class=Response)
async def metrics(service: ServiceOf) -> Response:
    """Return all figures, for Prometheus."""
    service.metrics.waiting.set(service.searcher.waiting)
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


working = APIRouter(prefix="/jobs", tags=["jobs"])
JobId = Annotated[int, Path(ge=1, le=MAX_ID)]


async def _jobs_of(request: Request) -> Jobs:
    jobs = service_of(request).jobs
    assert jobs is not None  # else these routes are not mounted
    return jobs


JobsOf = Annotated[Jobs, Depends(_jobs_of)]


class EventStream(Response):
    """Events of a job after one of them, each as `job`. At its end the job itself, as `end`."""

    media_type = "text/event-stream"

    def __init__(self, jobs: Jobs, job: int, after: int) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self.jobs, self.job, self.after = jobs, job, after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events as they come, until the job, the client or the time is at an end."""

        async def leave() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sending, leaving = asyncio.create_task(self._send_all(send)), asyncio.create_task(leave())
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send_all(self, send: Send) -> None:
        async def block(text: str, *, more: bool = True) -> None:
            async with asyncio.timeout(SEND_S):
                body = text.encode()
                await send({"type": "http.response.body", "body": body, "more_body": more})

        until = time.monotonic() + STREAM_S
        await block(f"retry: {RETRY_MS}\n\n")
        while time.monotonic() < until:
            if events := self.jobs.events(self.job, self.after, EVENTS_AT_ONCE):
                self.after = events[-1]["id"]
                texts = (f"id: {e['id']}\nevent: job\ndata: {json.dumps(e)}\n\n" for e in events)
                await block("".join(texts))
            elif self.jobs.has_ended(self.job):
                await block(f"event: end\ndata: {json.dumps(self.jobs.job(self.job))}\n\n")
                break
            elif not await self.jobs.changed(min(QUIET_S, until - time.monotonic())):
                await block(": still here\n\n")
        await block("", more=False)


@working.post("", status_code=202)
async def start_job(jobs: JobsOf, job: JobRequest) -> JobRecord:
    """Queue a command of Argus."""
    return jobs.add(job)


@working.get("")
async def list_jobs(
    jobs: JobsOf,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
) -> JobList:
    """Return jobs, the latest first."""
    return jobs.latest(limit, before)


@working.get("/{id}")
async def one_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Return a job."""
    return jobs.job(id)


@working.get("/{id}/events", response_class=EventStream, status_code=200)
async def job_events(
    jobs: JobsOf, id: JobId, last_event_id: Annotated[str | None, Header(max_length=20)] = None
) -> EventStream:
    """Stream the events of a job, from the first one or the one after Last-Event-ID."""
    jobs.job(id)
    text = last_event_id or ""
    after = int(text) if text.isascii() and text.isdigit() else 0
    return EventStream(jobs, id, min(after, MAX_ID))


@working.post("/{id}/cancel")
async def cancel_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Stop a job as Ctrl-C would. It keeps its finished parts, and can be resumed."""
    return jobs.cancel(id)


@working.post("/{id}/resume")
async def resume_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Queue a job that did not end well once more: it goes on from its finished parts."""
    return jobs.resume(id)
