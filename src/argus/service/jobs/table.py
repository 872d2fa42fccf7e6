"""The table of jobs: SQLite beside the results, so that nothing is lost with the process."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import TypeVar

from argus.data.provenance import utc_now
from argus.data.records import parse_json, read_record
from argus.data.sqlite import closing_if_it_fails, connect
from argus.errors import ArgusError
from argus.service.jobs.planning import Planned, command_line
from argus.service.jobs.summary import (
    RESUMABLE,
    JobEvent,
    JobProgress,
    JobRecord,
    JobState,
)

T = TypeVar("T")

FILE = "jobs.sqlite"
MOST_EVENTS = 2_000
"""Events kept of one job; the first ones go."""
BUSY_MS = 200
KEPT_DAYS = 30
"""Days that a job is kept after its end: its arguments may hold questions."""
_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, words TEXT NOT NULL, arguments TEXT NOT NULL,
  line TEXT NOT NULL, writes TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL,
  queued_at TEXT NOT NULL, started_at TEXT, finished_at TEXT, exit_code INTEGER, pid INTEGER,
  output TEXT NOT NULL DEFAULT '', errors TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL REFERENCES jobs(id),
  at TEXT NOT NULL, state TEXT NOT NULL, progress TEXT) STRICT;
CREATE INDEX IF NOT EXISTS events_of_job ON events (job, id);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state);
"""


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job as the table has it: words that are planned again before they are run."""

    id: int
    words: tuple[str, ...]
    arguments: tuple[str, ...]
    attempt: int


class JobTable:
    """Jobs and what happened to them. Each change is whole or not there, of whatever thread.

    Raises ArgusError where the file cannot be read or written, a full disk among the reasons.
    """

    def __init__(self, home: Path) -> None:
        self.path, self._lock = home / FILE, RLock()
        with self._written():
            self._sql = connect(self.path, isolation_level=None, check_same_thread=False)
            self._sql.row_factory = sqlite3.Row
            with closing_if_it_fails(self._sql):
                self._sql.execute(f"PRAGMA busy_timeout={BUSY_MS}")
                self._sql.execute("PRAGMA journal_mode=WAL")
                self._sql.execute("PRAGMA synchronous=FULL")
                self._sql.executescript(_TABLES)

    def settle(self) -> bool:
        """Note where the file lies; return whether it lay there when it was last opened.

        One that was copied or unpacked here has another inode: it may be a stranger's. One of an
        earlier version has no note, and may be so, too.
        """
        with self._written():
            here = self.path.stat().st_ino % 2**31  # what fits into the pragma
            (before,) = self._sql.execute("PRAGMA user_version").fetchone()
            if before != here:
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

    def add(self, job: Planned) -> int:
        """Queue a job; return its id."""
        columns = (
            json.dumps(job.words), json.dumps(job.arguments), job.line,
            json.dumps([str(path) for path in job.writes]), JobState.QUEUED, utc_now(),
        )  # fmt: skip
        with self._changing():
            id_ = self._sql.execute(
                "INSERT INTO jobs (words, arguments, line, writes, state, attempt, queued_at) "
                "VALUES (?, ?, ?, ?, ?, 1, ?)",
                columns,
            ).lastrowid
            assert id_ is not None
            self._note(id_, JobState.QUEUED, None)
        return id_

    def again(self, id_: int) -> None:
        """Queue a job that ended once more; one that was cancelled in the queue never began."""
        with self._changing():
            self._sql.execute(
                "UPDATE jobs SET state = ?, attempt = attempt + (started_at IS NOT NULL), "
                "queued_at = ?, "
                "started_at = NULL, finished_at = NULL, exit_code = NULL, pid = NULL WHERE id = ?",
                (JobState.QUEUED, utc_now(), id_),
            )
            self._note(id_, JobState.QUEUED, None)

    def begin(self, id_: int) -> None:
        """Note that a job runs."""
        with self._changing():
            self._sql.execute(
                "UPDATE jobs SET state = ?, started_at = ?, output = '', errors = '' WHERE id = ?",
                (JobState.RUNNING, utc_now(), id_),
            )
            self._note(id_, JobState.RUNNING, None)

    def runs_as(self, id_: int, pid: int) -> None:
        """Note the process of a job."""
        with self._changing():
            self._sql.execute("UPDATE jobs SET pid = ? WHERE id = ?", (pid, id_))

    def step(self, id_: int, progress: JobProgress) -> None:
        """Note where a running job stands."""
        with self._changing():
            self._note(id_, JobState.RUNNING, progress)
            self._sql.execute(
                "DELETE FROM events WHERE job = ? AND id <= (SELECT id FROM events WHERE job = ? "
                "ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (id_, id_, MOST_EVENTS),
            )

    def end(
        self, id_: int, state: JobState, code: int | None, output: str = "", errors: str = ""
    ) -> None:
        """Note how a job ended."""
        with self._changing():
            self._sql.execute(
                "UPDATE jobs SET state = ?, finished_at = ?, exit_code = ?, pid = NULL, "
                "output = ?, errors = ? WHERE id = ?",
                (state, utc_now(), code, output, errors, id_),
            )
            self._note(id_, state, None)

    def queued(self) -> list[JobLine]:
        """Return the jobs that wait, in their order."""
        query = "SELECT * FROM jobs WHERE state = ? ORDER BY queued_at, id"
        return self._read(_job_line, query, JobState.QUEUED)

    def line_of(self, id_: int) -> JobLine | None:
        """Return the words of a job; None where there is none of that id."""
        return next(iter(self._read(_job_line, "SELECT * FROM jobs WHERE id = ?", id_)), None)

    def wrote(self) -> frozenset[str]:
        """Return the paths that jobs wrote which began."""
        query = "SELECT writes FROM jobs WHERE started_at IS NOT NULL OR attempt > 1"
        rows = self._read(lambda row: _texts(row["writes"]), query)
        return frozenset(path for paths in rows for path in paths)

    def running(self) -> dict[int, int | None]:
        """Return the jobs that run, with their processes."""
        query = "SELECT id, pid FROM jobs WHERE state = ?"
        return dict(self._read(tuple, query, JobState.RUNNING))

    def job(self, id_: int) -> JobRecord | None:
        """Return a job; None where there is none of that id."""
        return next(iter(self._read(self._record, "SELECT * FROM jobs WHERE id = ?", id_)), None)

    def latest(self, most: int, before: int | None = None) -> list[JobRecord]:
        """Return jobs, the latest first; before: those of smaller ids alone."""
        query = "SELECT * FROM jobs WHERE ? IS NULL OR id < ? ORDER BY id DESC LIMIT ?"
        return self._read(self._record, query, before, before, most)

    def events(self, id_: int, after: int, most: int) -> list[JobEvent]:
        """Return what happened to a job after an event, in order."""
        query = "SELECT * FROM events WHERE job = ? AND id > ? ORDER BY id LIMIT ?"
        return self._read(_event, query, id_, after, most)

    def _record(self, row: sqlite3.Row) -> JobRecord:
        state = JobState(row["state"])
        last = self._read(
            _progress,
            "SELECT progress FROM events WHERE job = ? AND progress IS NOT NULL "
            "ORDER BY id DESC LIMIT 1",
            row["id"],
        ) if state == JobState.RUNNING else []  # fmt: skip
        return {
            "id": row["id"],
            "command": command_line(_texts(row["words"]), _texts(row["arguments"])),
            "state": state,
            "attempt": row["attempt"],
            "resumable": state in RESUMABLE,
            "writes": list(_texts(row["writes"])),
            "queued_at": row["queued_at"],
            "started_at": row["started_at"],
            "finished_at": row["finished_at"],
            "exit_code": row["exit_code"],
            "progress": next(iter(last), None),
            "output": row["output"],
            "errors": row["errors"],
        }

    def _note(self, id_: int, state: JobState, progress: JobProgress | None) -> None:
        self._sql.execute(
            "INSERT INTO events (job, at, state, progress) VALUES (?, ?, ?, ?)",
            (id_, utc_now(), state, None if progress is None else json.dumps(progress)),
        )

    def _read(self, make: Callable[[sqlite3.Row], T], query: str, *values: object) -> list[T]:
        """Return what is made of the rows of a query."""
        with self._written():
            return [make(row) for row in self._sql.execute(query, values).fetchall()]

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Turn what SQLite and a damaged row raise into an error that says what to do."""
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
        with self._written():
            self._sql.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._sql.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if self._sql.in_transaction:
                        self._sql.execute("ROLLBACK")
                raise


def _job_line(row: sqlite3.Row) -> JobLine:
    return JobLine(row["id"], _texts(row["words"]), _texts(row["arguments"]), row["attempt"])


def _event(row: sqlite3.Row) -> JobEvent:
    return {
        "id": row["id"], "job": row["job"], "at": row["at"], "state": JobState(row["state"]),
        "progress": _progress(row),
    }  # fmt: skip


def _texts(written: str) -> tuple[str, ...]:
    texts = parse_json(written)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{written:.40} where a list of texts was written")
    return tuple(texts)


def _progress(row: sqlite3.Row) -> JobProgress | None:
    if row["progress"] is None:
        return None
    return read_record(JobProgress, parse_json(row["progress"]), where=Path(FILE))
