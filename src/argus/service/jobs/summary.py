"""What the service says of a job, and what it is told to start."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

Value = bool | int | float | str | None
LONGEST = 4_096
"""Characters of one value at most."""


class JobState(StrEnum):
    """Where a job is. Interrupted: the service ended while it ran."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


AT_AN_END = (JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.INTERRUPTED)
RESUMABLE = (JobState.FAILED, JobState.CANCELLED, JobState.INTERRUPTED)


class JobRequest(BaseModel):
    """A command to start: "repair" with its options apart, or "argus repair --only-try" as typed.

    options: by the option's name, dashes or underscores. "served" for an index, a retriever or a
    store is what the service was started over.
    """

    model_config = ConfigDict(extra="forbid")
    command: str = Field(max_length=2 * LONGEST, examples=["repair"])
    options: dict[str, Value | list[Value]] = Field(
        default_factory=dict, max_length=100, examples=[{"index": "served", "only_try": True}]
    )


class JobProgress(TypedDict):
    """Where its step stands. total, eta_s (seconds to the end of the step): None if not known."""

    step: str
    done: int
    total: int | None
    eta_s: float | None


class JobRecord(TypedDict):
    """A job. Times are ISO 8601 in UTC. command: as it would be typed."""

    id: int
    command: str
    state: JobState
    attempt: int
    resumable: bool
    writes: list[str]
    """Folders that nobody else may write while it runs."""
    queued_at: str
    started_at: str | None
    finished_at: str | None
    exit_code: int | None
    progress: JobProgress | None
    output: str
    """What the command printed; the end of it, where it is long."""
    errors: str
    """What it printed of errors and warnings; the end of it."""


class JobList(TypedDict):
    """Jobs, the latest first. before: the id to go on from, None at the end."""

    jobs: list[JobRecord]
    before: int | None


class JobEvent(TypedDict):
    """What happened to a job. id: rises by one from event to event of all jobs."""

    id: int
    job: int
    at: str
    state: JobState
    progress: JobProgress | None
