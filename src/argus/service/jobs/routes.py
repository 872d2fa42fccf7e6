"""The jobs of the service over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request

from argus.service.jobs.queue import Jobs
from argus.service.jobs.stream import EventStream
from argus.service.jobs.summary import JobList, JobRecord, JobRequest
from argus.service.state import service_of

LAST = 2**63 - 1
"""The greatest id that the table can hold."""

router = APIRouter(prefix="/jobs", tags=["jobs"])
JobId = Annotated[int, Path(ge=1, le=LAST)]


def jobs_of(request: Request) -> Jobs:
    """Return the jobs of a service that has some: these routes are in no other."""
    jobs = service_of(request).jobs
    assert jobs is not None
    return jobs


@router.post("", status_code=202)
async def start_job(request: Request, job: JobRequest) -> JobRecord:
    """Queue a command of Argus."""
    return jobs_of(request).add(job)


@router.get("")
async def list_jobs(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=LAST)] = None,
) -> JobList:
    """Return jobs, the latest first."""
    return jobs_of(request).latest(limit, before)


@router.get("/{id}")
async def one_job(request: Request, id: JobId) -> JobRecord:
    """Return a job."""
    return jobs_of(request).job(id)


@router.get("/{id}/events", response_class=EventStream, status_code=200)
async def job_events(
    request: Request,
    id: JobId,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> EventStream:
    """Stream what happens to a job, from the first event or the one after Last-Event-ID."""
    jobs = jobs_of(request)
    jobs.job(id)
    text = last_event_id or ""
    after = int(text) if text.isascii() and text.isdigit() else 0
    return EventStream(jobs, id, min(after, LAST))


@router.post("/{id}/cancel")
async def cancel_job(request: Request, id: JobId) -> JobRecord:
    """Stop a job as Ctrl-C would; what it finished is kept, and it can be resumed."""
    return jobs_of(request).cancel(id)


@router.post("/{id}/resume")
async def resume_job(request: Request, id: JobId) -> JobRecord:
    """Queue a job that did not end well once more: it goes on from what it left."""
    return jobs_of(request).resume(id)
