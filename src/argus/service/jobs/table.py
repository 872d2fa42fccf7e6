"""Keep jobs and their events in SQLite beside the results, so that they outlive the process."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from typing_extensions import TypedDict

from argus.data.provenance import utc_now
from argus.data.reading import parse_json
from argus.data.sqlite import closing_if_it_fails, connect
from argus.errors import ArgusError
from argus.service.jobs.planning import JobRequest, Planned

T = TypeVar("T")

FILE = "jobs.sqlite"
MAX_EVENTS = 2_000  # kept of one job: the first ones go
BUSY_MS = 200
KEPT_DAYS = 30  # after the end of a job: its request may hold questions
_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL, line TEXT NOT NULL,
  writes TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL,
  queued_at TEXT NOT NULL, started_at TEXT, finished_at TEXT, exit_code INTEGER,
  output TEXT NOT NULL DEFAULT '', errors TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL REFERENCES jobs(id),
  at TEXT NOT NULL, state TEXT NOT NULL, progress TEXT) STRICT;
CREATE INDEX IF NOT EXISTS events_of_job ON events (job, id);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state);
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
    started_at: when it began, None before.
    finished_at: when it ended, None before.
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
    """Jobs and their events. Each change, from any thread, is whole or not there.

    Raises ArgusError where the file cannot be read or written, a full disk among the reasons.
    """

    def __init__(self, home: Path) -> None:
        self.path, self._lock = home / FILE, RLock()
        with self._guarded():
            self._sql = connect(self.path, isolation_level=None, check_same_thread=False)
            self._sql.row_factory = sqlite3.Row
            with closing_if_it_fails(self._sql):
                self._sql.execute(f"PRAGMA busy_timeout={BUSY_MS}")
                self._sql.execute("PRAGMA journal_mode=WAL")
                self._sql.execute("PRAGMA synchronous=FULL")
                self._sql.executescript(_TABLES)

    def settle(self) -> bool:
        """Note where the file lies, and return whether it lay there when it was last opened.

        A file that was copied or unpacked here has another inode: it may be a stranger's.
        """
        with self._guarded():
            here = self.path.stat().st_ino % 2**31  # fits into the pragma
            (before,) = self._sql.execute("PRAGMA user_version").fetchone()
            self._sql.execute(f"PRAGMA user_version={here}")
            return bool(before == here)

    def forget(self) -> None:
        """Remove the jobs that ended KEPT_DAYS ago, with their events."""
        oldest = (datetime.now(UTC) - timedelta(days=KEPT_DAYS)).isoformat("T", "seconds")
        with self._changing():
            old = "SELECT id FROM jobs WHERE finished_at < ?"
            self._sql.execute(f"DELETE FROM events WHERE job IN ({old})", (oldest,))
            self._sql.execute("DELETE FROM jobs WHERE finished_at < ?", (oldest,))

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
        with self._changing():
            id_ = self._sql.execute(insert, columns).lastrowid
            assert id_ is not None
            self._note(id_, JobState.QUEUED)
        return id_

    def again(self, id_: int, planned: Planned) -> None:
        """Queue a job that ended once more. One that was cancelled in the queue never began."""
        change = (
            "line = ?, writes = ?, attempt = attempt + (started_at IS NOT NULL), queued_at = ?, "
            "started_at = NULL, finished_at = NULL, exit_code = NULL"
        )
        self._change(id_, JobState.QUEUED, change, *_plan(planned), utc_now())

    def begin(self, id_: int) -> None:
        """Note that a job runs."""
        change = "started_at = ?, output = '', errors = ''"
        self._change(id_, JobState.RUNNING, change, utc_now())

    def step(self, id_: int, progress: Progress) -> None:
        """Note where a running job stands."""
        with self._changing():
            self._note(id_, JobState.RUNNING, progress)
            self._sql.execute(
                "DELETE FROM events WHERE job = ? AND id <= (SELECT id FROM events WHERE job = ? "
                "ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (id_, id_, MAX_EVENTS),
            )

    def end(
        self, id_: int, state: JobState, code: int | None, output: str = "", errors: str = ""
    ) -> None:
        """Note how a job ended."""
        change = "finished_at = ?, exit_code = ?, output = ?, errors = ?"
        self._change(id_, state, change, utc_now(), code, output, errors)

    def ids(self, state: JobState) -> list[int]:
        """Return the ids of the jobs in a state, in the order of the queue."""
        query = "SELECT id FROM jobs WHERE state = ? ORDER BY queued_at, id"
        return self._read(lambda row: int(row["id"]), query, state)

    def request_of(self, id_: int) -> JobRequest:
        """Return the request of a job that is there."""

        def request(row: sqlite3.Row) -> JobRequest:
            return JobRequest.model_validate(parse_json(row["request"]))

        return self._read(request, "SELECT request FROM jobs WHERE id = ?", id_)[0]

    def wrote(self) -> frozenset[str]:
        """Return the paths that jobs wrote which began."""
        query = "SELECT writes FROM jobs WHERE started_at IS NOT NULL OR attempt > 1"
        return frozenset(path for paths in self._read(_writes, query) for path in paths)

    def job(self, id_: int) -> JobRecord | None:
        """Return a job, None where there is none of that id."""
        return next(iter(self._read(self._record, "SELECT * FROM jobs WHERE id = ?", id_)), None)

    def latest(self, limit: int, before: int | None = None) -> list[JobRecord]:
        """Return jobs, the latest first. before: only those of smaller ids."""
        query = "SELECT * FROM jobs WHERE ? IS NULL OR id < ? ORDER BY id DESC LIMIT ?"
        return self._read(self._record, query, before, before, limit)

    def events(self, id_: int, after: int, limit: int) -> list[dict[str, Any]]:
        """Return the events of a job after one of them, in order.

        id: number of the event, rising over all jobs.
        job: id of the job.
        at: when, ISO 8601, UTC.
        state: state that the job came to.
        progress: as in `JobRecord`.
        """

        def event_of(row: sqlite3.Row) -> dict[str, Any]:
            return {**dict(row), "state": JobState(row["state"]), "progress": _progress(row)}

        query = "SELECT * FROM events WHERE job = ? AND id > ? ORDER BY id LIMIT ?"
        return self._read(event_of, query, id_, after, limit)

    def _record(self, row: sqlite3.Row) -> JobRecord:
        state, last = JobState(row["state"]), list[Progress | None]()
        if state == JobState.RUNNING:
            query = (
                "SELECT progress FROM events WHERE job = ? AND progress IS NOT NULL "
                "ORDER BY id DESC LIMIT 1"
            )
            last = self._read(_progress, query, row["id"])
        return {
            "id": row["id"], "command": row["line"], "state": state, "attempt": row["attempt"],
            "resumable": state in RESUMABLE, "writes": _writes(row),
            "queued_at": row["queued_at"], "started_at": row["started_at"],
            "finished_at": row["finished_at"], "exit_code": row["exit_code"],
            "progress": next(iter(last), None), "output": row["output"], "errors": row["errors"],
        }  # fmt: skip

    def _change(self, id_: int, state: JobState, change: str, *values: object) -> None:
        """Set columns of a job that comes to a state, and note the event."""
        with self._changing():
            query = f"UPDATE jobs SET state = ?, {change} WHERE id = ?"
            self._sql.execute(query, (state, *values, id_))
            self._note(id_, state)

    def _note(self, id_: int, state: JobState, progress: Progress | None = None) -> None:
        self._sql.execute(
            "INSERT INTO events (job, at, state, progress) VALUES (?, ?, ?, ?)",
            (id_, utc_now(), state, None if progress is None else json.dumps(progress)),
        )

    def _read(self, make: Callable[[sqlite3.Row], T], query: str, *values: object) -> list[T]:
        with self._guarded():
            return [make(row) for row in self._sql.execute(query, values).fetchall()]

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

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Make the changes of a block whole, or not at all."""
        with self._guarded(), self._sql:
            self._sql.execute("BEGIN IMMEDIATE")
            yield


def _plan(planned: Planned) -> tuple[str, str]:
    return planned.line, json.dumps([str(path) for path in planned.writes])


def _writes(row: sqlite3.Row) -> list[str]:
    return [str(path) for path in parse_json(row["writes"])]


def _progress(row: sqlite3.Row) -> Progress | None:
    return None if row["progress"] is None else dict(parse_json(row["progress"]))
