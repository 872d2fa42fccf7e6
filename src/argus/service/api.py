"""HTTP API of `argus serve`: search, explain, resolve supersession, and run jobs.

Requests in JSON -> answers of `argus.service.state`. The pages for people are in
`argus.service.page`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import Response, StreamingResponse
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from argus.authority.config import ANCHORS
from argus.errors import InputError
from argus.service.answering import WITH_RECORDS, Question, Resolved, SearchResults
from argus.service.jobs.planning import JobRequest
from argus.service.jobs.queue import Jobs
from argus.service.jobs.table import JobRecord
from argus.service.searcher import State
from argus.service.state import Explained, Service, ServiceOf
from argus.settings import TOP_K

MAX_K, MAX_QUESTIONS, MAX_IDS = 200, 256, 1000
MAX_ID = 2**63 - 1  # of the table
QUIET_S = 15.0  # without an event, after which a comment shows that the stream lives

Text = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Date = Annotated[str, StringConstraints(min_length=1, max_length=64)]
K = Annotated[int, Field(ge=1, le=MAX_K)]


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


class Explain(Body):
    """A question, and the document that should come back for it."""

    query: Text
    id: Id
    k: K = TOP_K


class Resolve(Times):
    """Documents whose controlling documents are asked for."""

    ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_IDS)]


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
async def search_batch(body: Batch, service: ServiceOf) -> dict[str, list[SearchResults]]:
    """Answer several questions at once: "answers", in their order."""
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
def resolve(body: Resolve, service: ServiceOf) -> dict[str, str | list[Resolved] | None]:
    """Return the documents that control each one, and the chains that lead to them.

    as_of, known_by: time that counts. documents: each once, in the order asked for.
    """
    if (authority := service.authority) is None:
        fix = "Start it so, or over a folder of `argus check`."
        raise InputError("no records are served", expected=WITH_RECORDS, fix=fix)
    as_of, known_by = authority.times(body.as_of, body.known_by)
    documents = authority.resolve(body.ids, as_of, known_by)
    return {"as_of": as_of, "known_by": known_by, "documents": documents}


async def explained(service: Service, body: Explain) -> Explained:
    """Explain in a thread of its own, a few at a time. Searches are answered meanwhile."""
    words = body.query, body.id, body.k
    return await to_thread.run_sync(service.explain, *words, limiter=service.explaining)


telling = APIRouter(tags=["service"])


@telling.get("/healthz")
async def healthz() -> dict[str, str]:
    """Say that the service lives."""
    return {"status": "ok"}


@telling.get("/readyz", responses={503: {}})
async def readyz(service: ServiceOf, response: Response) -> dict[str, bool | State]:
    """Say whether the service answers at once. This also opens the searched source.

    state: ready, opening or failed. The log says why an index could not be opened.
    """
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


async def _jobs_of(service: ServiceOf) -> Jobs:
    assert service.jobs is not None  # else these routes are not mounted
    return service.jobs


JobsOf = Annotated[Jobs, Depends(_jobs_of)]


class EventStream(StreamingResponse):
    """A job each time that it changes, as `job`. At its end, as `end`."""

    media_type = "text/event-stream"

    def __init__(self, jobs: Jobs, id_: int) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(_stream_events(jobs, id_), headers=headers)


async def _stream_events(jobs: Jobs, id_: int) -> AsyncIterator[str]:
    sent = None
    while not jobs.has_ended(id_):
        if (job := jobs.job(id_)) != sent:
            sent = job
            yield f"event: job\ndata: {json.dumps(job)}\n\n"
        elif not await jobs.changed(QUIET_S):
            yield ": still here\n\n"
    yield f"event: end\ndata: {json.dumps(jobs.job(id_))}\n\n"


@working.post("", status_code=202)
async def start_job(jobs: JobsOf, job: JobRequest) -> JobRecord:
    """Queue a command of Argus."""
    return jobs.add(job)


@working.get("")
async def list_jobs(
    jobs: JobsOf,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
) -> dict[str, list[JobRecord] | int | None]:
    """Return jobs, the latest first. before: id to go on from, None at the end."""
    listed = jobs.latest(limit, before)
    return {"jobs": listed, "before": listed[-1]["id"] if len(listed) == limit else None}


@working.get("/{id}")
async def one_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Return a job."""
    return jobs.job(id)


@working.get("/{id}/events", response_class=EventStream, status_code=200)
async def job_events(jobs: JobsOf, id: JobId) -> EventStream:
    """Stream a job as it changes, by server-sent events."""
    jobs.job(id)
    return EventStream(jobs, id)


@working.post("/{id}/cancel")
async def cancel_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Stop a job as Ctrl-C would. It keeps its finished parts, and can be resumed."""
    return jobs.cancel(id)


@working.post("/{id}/resume")
async def resume_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Queue a job that did not end well once more: it goes on from its finished parts."""
    return jobs.resume(id)
