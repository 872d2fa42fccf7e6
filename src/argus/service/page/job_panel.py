"""Jobs as pages show them: those that wait or run, and the last that ended."""

from __future__ import annotations

from pathlib import Path

from fastapi import Request
from typing_extensions import TypedDict

from argus.errors import ArgusError
from argus.service.jobs.summary import AT_AN_END, JobRecord
from argus.service.state import service_of

LOOKED_AT, SHOWN = 50, 3


class JobPanel(TypedDict):
    """What templates are given of jobs."""

    can_start: bool
    jobs: list[JobRecord]


def panel(request: Request, written: Path) -> JobPanel:
    """Return the latest jobs that write a folder: all that go on, and the last that ended."""
    jobs = service_of(request).jobs
    if jobs is None:
        return {"can_start": False, "jobs": []}
    try:
        latest = jobs.latest(LOOKED_AT)["jobs"]
    except ArgusError:
        return {"can_start": False, "jobs": []}
    home = str(written.resolve())
    own = [job for job in latest if home in job["writes"]]
    live = [job for job in own if job["state"] not in AT_AN_END]
    ended = [job for job in own if job["state"] in AT_AN_END]
    return {"can_start": True, "jobs": [*live, *ended[:SHOWN]]}
