"""Serve jobs over HTTP: start, list, watch, cancel and resume them."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from argus.service.jobs.planning import JobRequest
from argus.service.jobs.queue import Jobs
from argus.service.jobs.table import JobList, JobRecord
from argus.service.state import service_of

MAX_ID = 2**63 - 1  # of the table
AT_ONCE = 100  # events read from the table at once: bounds what a slow client makes us hold
QUIET_S = 15.0  # without an event, after which a comment shows that the stream lives
SEND_S = 20.0  # that a client may take to accept a block
STREAM_S = 600.0  # of one stream; a client comes back with the id of its last event
RETRY_MS = 2_000

router = APIRouter(prefix="/jobs", tags=["jobs"])
JobId = Annotated[int, Path(ge=1, le=MAX_ID)]


async def _jobs_of(request: Request) -> Jobs:
    jobs = service_of(request).jobs
    assert jobs is not None  # else these routes are not mounted
    return jobs


JobsOf = Annotated[Jobs, Depends(_jobs_of)]


class EventStream(Response):
    """The events of a job after `after`, each as `job`; once it has ended, the job as `end`."""

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
            if events := self.jobs.events(self.job, self.after, AT_ONCE):
                self.after = events[-1]["id"]
                texts = (f"id: {e['id']}\nevent: job\ndata: {json.dumps(e)}\n\n" for e in events)
                await block("".join(texts))
            elif self.jobs.has_ended(self.job):
                await block(f"event: end\ndata: {json.dumps(self.jobs.job(self.job))}\n\n")
                break
            elif not await self.jobs.changed(min(QUIET_S, until - time.monotonic())):
                await block(": still here\n\n")
        await block("", more=False)


@router.post("", status_code=202)
async def start_job(jobs: JobsOf, job: JobRequest) -> JobRecord:
    """Queue a command of Argus."""
    return jobs.add(job)


@router.get("")
async def list_jobs(
    jobs: JobsOf,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
) -> JobList:
    """Return jobs, the latest first."""
    return jobs.latest(limit, before)


@router.get("/{id}")
async def one_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Return a job."""
    return jobs.job(id)


@router.get("/{id}/events", response_class=EventStream, status_code=200)
async def job_events(
    jobs: JobsOf, id: JobId, last_event_id: Annotated[str | None, Header(max_length=20)] = None
) -> EventStream:
    """Stream what happens to a job, from the first event or the one after Last-Event-ID."""
    jobs.job(id)
    text = last_event_id or ""
    after = int(text) if text.isascii() and text.isdigit() else 0
    return EventStream(jobs, id, min(after, MAX_ID))


@router.post("/{id}/cancel")
async def cancel_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Stop a job as Ctrl-C would; what it finished is kept, and it can be resumed."""
    return jobs.cancel(id)


@router.post("/{id}/resume")
async def resume_job(jobs: JobsOf, id: JobId) -> JobRecord:
    """Queue a job that did not end well once more: it goes on from what it left."""
    return jobs.resume(id)
