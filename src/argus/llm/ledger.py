"""Keep prompts and answers in one SQLite file that a person can read.

Each answer is its own transaction in write-ahead mode: a run killed at any moment loses only the
requests under way (a power cut may take the last few answers, never the file). One ledger serves
many threads, and processes that run beside each other. It holds answers and the beginning of each
prompt; never a key or an address.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argus.data.sqlite import DAMAGED, closing_if_it_fails, connect
from argus.errors import ArgusError, InputError
from argus.http_retry import without_half_pairs
from argus.llm.protocol import State

APPLICATION_ID = 0x41726773  # "Args", in the header of the file
VERSION = 2
BUSY_S = 30.0
PROMPT_CHARS = 200
_KEYS_PER_QUERY = 500
_COLUMNS = (
    "key, model, prompt, state, answer, reason, tokens_in, tokens_out, seconds, time, unanswered"
)
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY,      -- hash of model, parameters, schema and prompt
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,      -- how it begins
    state TEXT NOT NULL CHECK (state IN ('ok', 'failed')),
    answer TEXT NOT NULL,      -- as it came; empty where it failed
    reason TEXT NOT NULL,      -- why it failed
    tokens_in INTEGER,
    tokens_out INTEGER,
    seconds REAL NOT NULL,     -- from the first attempt to the end
    time TEXT NOT NULL,        -- of the end, UTC
    unanswered INTEGER NOT NULL DEFAULT 0  -- 1: failed without any answer
) WITHOUT ROWID
"""
# An answer that is there is only ever replaced by another answer, not by a failure.
_PUT = f"""
INSERT INTO answers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    model = excluded.model, prompt = excluded.prompt, state = excluded.state,
    answer = excluded.answer, reason = excluded.reason, tokens_in = excluded.tokens_in,
    tokens_out = excluded.tokens_out, seconds = excluded.seconds, time = excluded.time,
    unanswered = excluded.unanswered
WHERE excluded.state = 'ok' OR answers.state != 'ok'
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the ledger. `time` is ISO 8601 in UTC, set when it is written."""

    key: str
    model: str
    prompt: str
    state: State
    answer: str = ""
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float = 0.0
    time: str = ""
    unanswered: bool = False
    """Failed without any answer, so that the endpoint is to blame and not the prompt."""


def _entry(row: Sequence[Any]) -> Entry:
    """Return a row of _COLUMNS; DatabaseError for a value of another type: SQLite keeps any."""
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    for name, value in values.items():
        kind: type = int if name in ("tokens_in", "tokens_out", "unanswered") else str
        kind = float if name == "seconds" else kind
        missing = value is None and name in ("tokens_in", "tokens_out")
        if not missing and not isinstance(value, kind):
            raise sqlite3.DatabaseError(
                f"the answer {row[0]!r} has {repr(value)[:60]} as its {name}: where the row is "
                "deleted, it is asked for again"
            )
    values |= {"state": _state(values["state"]), "unanswered": bool(values["unanswered"])}
    return Entry(**values)


def _state(stored: str) -> State:
    try:
        return State(stored)
    except ValueError as error:
        raise sqlite3.DatabaseError(f"an answer has the state {stored!r}") from error


@contextmanager
def ledger_to_read(path: Path) -> Iterator[Ledger]:
    """Open the ledger at `path`, or an empty passing one: an estimate leaves nothing behind."""
    with (
        TemporaryDirectory() as folder,
        Ledger(path if path.is_file() else Path(folder) / path.name) as ledger,
    ):
        yield ledger


class Ledger:
    """Answers by key. Raises InputError when `path` is no ledger, or one of a newer Argus.

    Raises ArgusError when the disk is full or the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self._reported():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = connect(
                path, timeout=BUSY_S, check_same_thread=False, isolation_level=None
            )
        with closing_if_it_fails(self._connection), self._reported():
            self._open()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return sum(self.counts().values())

    def close(self) -> None:
        """Close the file; the ledger may then be opened again."""
        with self._lock:
            self._connection.close()

    def put(self, entry: Entry) -> None:
        """Write one row, at once and whole. A failure never replaces an answer."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        texts = (entry.model, entry.prompt[:PROMPT_CHARS], entry.answer, entry.reason)
        model, prompt, answer, reason = map(without_half_pairs, texts)
        counts = (entry.tokens_in, entry.tokens_out, round(entry.seconds, 3), entry.time or now)
        with self._lock, self._reported():
            row = (entry.key, model, prompt, str(entry.state), answer, reason, *counts)
            self._connection.execute(_PUT, (*row, entry.unanswered))

    def get(self, key: str) -> Entry | None:
        """Return the row of `key`, None where there is none."""
        return next(iter(self.find([key])), None)

    def find(self, keys: Sequence[str]) -> Iterator[Entry]:
        """Yield the rows of those of `keys` that are there, by key.

        Neighbours in the file are read together: three times faster than in the order of prompts.
        """
        ordered = sorted(keys)
        for start in range(0, len(ordered), _KEYS_PER_QUERY):
            part = ordered[start : start + _KEYS_PER_QUERY]
            marks = ", ".join("?" * len(part))
            with self._lock, self._reported():
                statement = f"SELECT {_COLUMNS} FROM answers WHERE key IN ({marks})"
                rows = [_entry(row) for row in self._connection.execute(statement, part)]
            yield from rows

    def counts(self) -> dict[State, int]:
        """Return how many rows are in each state that is stored."""
        with self._lock, self._reported():
            rows = self._connection.execute("SELECT state, count(*) FROM answers GROUP BY state")
            return {State.OK: 0, State.FAILED: 0} | {_state(s): n for s, n in rows}

    def _open(self) -> None:
        """Make the file ready; wait while another run does the same.

        SQLite gives up at once, whatever the timeout, where waiting could deadlock: while several
        turn a file to WAL, or the last one leaves it.
        """
        until = time.monotonic() + BUSY_S
        while True:
            try:
                return self._prepare()
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() > until:
                    raise
                self._connection.rollback()
                time.sleep(0.02)

    def _prepare(self) -> None:
        """Make the table; before anything is changed, refuse a file of something else."""
        run = self._connection.execute
        # One statement, one state: another run may be making the file at this very moment.
        application, version, n_tables = run(
            "SELECT (SELECT application_id FROM pragma_application_id), "
            "(SELECT user_version FROM pragma_user_version), count(*) FROM sqlite_master"
        ).fetchone()
        if application != APPLICATION_ID and (application or n_tables):
            raise InputError(
                "is an SQLite file of something else",
                expected="a ledger that Argus wrote, or no file yet",
                fix="Give another path.",
                where=self.path,
            )
        if application and version != VERSION:
            raise InputError(
                f"is a ledger of format {version}",
                expected=f"format {VERSION}",
                fix="Upgrade Argus (a newer one wrote it), or give another path.",
                where=self.path,
            )
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        run("BEGIN IMMEDIATE")
        run(_TABLE)
        run(f"PRAGMA application_id = {APPLICATION_ID}")
        run(f"PRAGMA user_version = {VERSION}")
        run("COMMIT")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn errors of SQLite and the system into one that a person can act on."""
        try:
            yield
        except (*DAMAGED, OSError) as error:
            if isinstance(error, sqlite3.DatabaseError) and "not a database" in str(error):
                raise InputError(
                    "is no SQLite file",
                    expected="a ledger that Argus wrote, or no file yet",
                    fix="Give another path.",
                    where=self.path,
                ) from error
            raise ArgusError(
                f"{self.path}: the ledger cannot be used ({error}); the answers it holds stay as "
                "they are. See that there is space and that file and folder can be written, then "
                "run the same command again."
            ) from error
