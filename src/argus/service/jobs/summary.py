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

    command: command, with its options apart or as typed.
    options: values by the option's name, dashes or underscores.
    """

    model_config = ConfigDict(extra="forbid")
    command: str = Field(max_length=2 * LONGEST, examples=["repair"])
    options: dict[str, Value | list[Value]] = Field(
        default_factory=dict, max_length=100, examples=[{"index": "served", "only_try": True}]
    )


class JobProgress(TypedDict):
    """Where its step stands. total, eta_s (seconds to the end of the step): None if not known.

    step: what it does.
    done: how much of it is done.
    total: how much there is in all; None where that is not known.
    eta_s: seconds to the end of the step; None where that is not known.
    """

    step: str
    done: int
    total: int | None
    eta_s: float | None


class JobRecord(TypedDict):
    """A job. Times are ISO 8601 in UTC.

    id: number of the job, from 1.
    command: command as it would be typed.
    state: queued, running, done, failed, cancelled, or interrupted (the service ended).
    attempt: how often it was started.
    resumable: whether it can be started again where it ended.
    writes: folders that nobody else may write while it runs.
    queued_at: when it was taken, ISO 8601, UTC.
    started_at: when it began; None before.
    finished_at: when it ended; None before.
    exit_code: exit code; None before its end.
    progress: where its step stands; None where it runs none.
    output: what the command printed; the end of it, where it is long.
    errors: what it printed of errors and warnings; the end of it.
    """

    id: int
    command: str
    state: JobState
    attempt: int
    resumable: bool
    writes: list[str]
    queued_at: str
    started_at: str | None
    finished_at: str | None
    exit_code: int | None
    progress: JobProgress | None
    output: str
    errors: str


class JobList(TypedDict):
    """Jobs, the latest first.

    jobs: jobs, the latest first.
    before: id to go on from; None at the end.
    """

    jobs: list[JobRecord]
    before: int | None


class JobEvent(TypedDict):
    """What happened to a job.

    id: number of the event, rising over all jobs.
    job: id of the job.
    at: when, ISO 8601, UTC.
    state: state that the job came to.
    progress: where its step stands; None where it runs none.
    """

    id: int
    job: int
    at: str
    state: JobState
    progress: JobProgress | None
