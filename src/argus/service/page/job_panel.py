"""Jobs as pages show them: those that wait or run, the last that ended, and what can go on."""

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
    """Return the latest jobs that write a folder: all that go on, and the last that ended.

    Of those that ended before it, the ones that can be resumed: others would push down the page.
    """
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
    last, before = ended[:1], ended[1:SHOWN]
    resumable = [job for job in before if job["resumable"]]
    return {"can_start": True, "jobs": [*live, *last, *resumable]}
