"""Keep the jobs of `argus serve` in SQLite beside the results, so that they outlive the process.

A row has the request, the state, the progress and the end of the output. `argus.service.jobs.queue`
writes it, and the API and the pages show it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from threading import RLock
from typing import Any

from typing_extensions import TypedDict

from argus.data.provenance import utc_now
from argus.data.reading import parse_json
from argus.data.writing import closing_if_it_fails, connect
from argus.errors import ArgusError
from argus.service.jobs.planning import JobRequest, Planned

FILE = "jobs.sqlite"
KEPT_DAYS = 30  # after the end of a job: its request may hold questions
_TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL, line TEXT NOT NULL,
  writes TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL,
  queued_at TEXT NOT NULL, started_at TEXT, finished_at TEXT, exit_code INTEGER,
  output TEXT NOT NULL DEFAULT '', errors TEXT NOT NULL DEFAULT '') STRICT;
"""


class JobState(StrEnum):
    """State of a job. Interrupted: the service ended while it ran."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


RESUMABLE = (JobState.FAILED, JobState.CANCELLED, JobState.INTERRUPTED)
AT_AN_END = (JobState.DONE, *RESUMABLE)
Progress = dict[str, Any]
"""Progress of a job's step: step (in words), done (how much of it), total (in all), eta_s (seconds
to its end). total and eta_s are None where they are not known."""


class JobRecord(TypedDict):
    """A job. Times are ISO 8601 in UTC.

    id: number of the job, from 1.
    command: command as it would be typed.
    state: queued, running, done, failed, cancelled, or interrupted (the service ended).
    attempt: how often it was started.
    resumable: whether it can be started again where it ended.
    writes: folders that nobody else may write while it runs.
    queued_at: when it was taken, ISO 8601, UTC.
    started_at, finished_at: when it began and ended, None before.
    exit_code: exit code, None before its end.
    progress: its step, done, total and eta_s. None where it runs none.
    output: end of the command's output.
    errors: end of its errors and warnings.
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
    progress: Progress | None
    output: str
    errors: str


class JobTable:
    """Jobs in a file. Each change, from any thread, is whole or not there.

    Jobs that waited or ran when the last service ended are interrupted, and those that ended
    KEPT_DAYS ago are removed. Raises ArgusError where the file cannot be read or written.
    """

    def __init__(self, home: Path) -> None:
        self.path, self._lock = home / FILE, RLock()
        oldest = (datetime.now(UTC) - timedelta(days=KEPT_DAYS)).isoformat("T", "seconds")
        with self._guarded():
            self._sql = connect(self.path, isolation_level=None, check_same_thread=False)
            self._sql.row_factory = sqlite3.Row
            with closing_if_it_fails(self._sql):
                self._sql.executescript(_TABLE)
                self._sql.execute("DELETE FROM jobs WHERE finished_at < ?", (oldest,))
                self._sql.execute(
                    "UPDATE jobs SET state = ?, finished_at = ? WHERE state IN (?, ?)",
                    (JobState.INTERRUPTED, utc_now(), JobState.QUEUED, JobState.RUNNING),
                )

    def close(self) -> None:
        """Close the file."""
        self._sql.close()

    def add(self, request: JobRequest, planned: Planned) -> int:
        """Queue a job and return its id."""
        insert = (
            "INSERT INTO jobs (request, line, writes, state, attempt, queued_at) "
            "VALUES (?, ?, ?, ?, 1, ?)"
        )
        columns = (json.dumps(request.model_dump()), *_plan(planned), JobState.QUEUED, utc_now())
        with self._guarded():
            id_ = self._sql.execute(insert, columns).lastrowid
        assert id_ is not None
        return id_

    def again(self, id_: int, planned: Planned) -> None:
        """Queue a job that ended once more. One that was cancelled in the queue never began."""
        change = (
            "line = ?, writes = ?, attempt = attempt + (started_at IS NOT NULL), queued_at = ?, "
            "started_at = NULL, finished_at = NULL, exit_code = NULL, output = '', errors = ''"
        )
        self._change(id_, JobState.QUEUED, change, *_plan(planned), utc_now())

    def begin(self, id_: int) -> None:
        """Note that a job runs."""
        self._change(id_, JobState.RUNNING, "started_at = ?", utc_now())

    def end(
        self, id_: int, state: JobState, code: int | None, output: str = "", errors: str = ""
    ) -> None:
        """Note how a job ended."""
        change = "finished_at = ?, exit_code = ?, output = ?, errors = ?"
        self._change(id_, state, change, utc_now(), code, output, errors)

    def request_of(self, id_: int) -> JobRequest:
        """Return the request of a job that is there."""
        (request,) = self._read("SELECT request FROM jobs WHERE id = ?", id_)
        with self._guarded():
            return JobRequest.model_validate(parse_json(request["request"]))

    def wrote(self) -> frozenset[str]:
        """Return the paths that jobs wrote which began."""
        rows = self._read("SELECT * FROM jobs WHERE started_at IS NOT NULL OR attempt > 1")
        return frozenset(path for job in self._records(rows) for path in job["writes"])

    def job(self, id_: int) -> JobRecord | None:
        """Return a job, None where there is none of that id."""
        rows = self._read("SELECT * FROM jobs WHERE id = ?", id_)
        return next(iter(self._records(rows)), None)

    def latest(self, limit: int, before: int | None = None) -> list[JobRecord]:
        """Return jobs, the latest first. before: only those of smaller ids."""
        query = "SELECT * FROM jobs WHERE ? IS NULL OR id < ? ORDER BY id DESC LIMIT ?"
        return self._records(self._read(query, before, before, limit))

    def _records(self, rows: Sequence[sqlite3.Row]) -> list[JobRecord]:
        with self._guarded():
            return [
                {
                    "id": row["id"], "command": row["line"], "state": JobState(row["state"]),
                    "attempt": row["attempt"], "resumable": row["state"] in RESUMABLE,
                    "writes": [str(path) for path in parse_json(row["writes"])],
                    "queued_at": row["queued_at"], "started_at": row["started_at"],
                    "finished_at": row["finished_at"], "exit_code": row["exit_code"],
                    "progress": None, "output": row["output"], "errors": row["errors"],
                }
                for row in rows
            ]  # fmt: skip

    def _change(self, id_: int, state: JobState, change: str, *values: object) -> None:
        """Set columns of a job that comes to a state."""
        with self._guarded():
            query = f"UPDATE jobs SET state = ?, {change} WHERE id = ?"
            self._sql.execute(query, (state, *values, id_))

    def _read(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._guarded():
            return self._sql.execute(query, values).fetchall()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn an error of SQLite or of a damaged row into one with a mend."""
        try:
            with self._lock:
                yield
        except (OSError, sqlite3.Error, ValueError, TypeError, LookupError) as error:
            raise ArgusError(
                f"{self.path}: the table of jobs cannot be read or written ({error}). Mend that "
                "(space on the disk, rights, a damaged file) and try again; no job was lost."
            ) from error


def _plan(planned: Planned) -> tuple[str, str]:
    return planned.line, json.dumps([str(path) for path in planned.writes])
