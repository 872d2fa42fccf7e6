"""Keep the answers of language models in an SQLite file (the ledger): none is paid for twice.

`argus.llm.model` looks a prompt up here before it asks. Each answer is its own transaction: a run
killed at any moment loses only the requests under way. One ledger serves many threads, and
processes that run beside each other. It holds answers and the beginning of each prompt, and never a
key or an address.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from argus.data.writing import SQLITE_DAMAGE, closing_if_it_fails, connect
from argus.errors import ArgusError
from argus.visible import without_half_pairs

BUSY_S = 30.0
PROMPT_CHARS = 200
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


class State(StrEnum):
    """End of a prompt. The three are counted apart. Only OK has a value."""

    OK = "ok"
    FAILED = "failed"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the ledger. `time` is ISO 8601 in UTC, set when it is written.

    unanswered: it failed without any answer, so that the endpoint is to blame and not the prompt.
    """

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


_COLUMNS = [field.name for field in fields(Entry)]
_NAMES = ", ".join(_COLUMNS)
# An answer that is there is only ever replaced by another answer, not by a failure.
_PUT = f"""
INSERT INTO answers ({_NAMES}) VALUES ({", ".join("?" * len(_COLUMNS))})
ON CONFLICT (key) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:])}
WHERE excluded.state = 'ok' OR answers.state != 'ok'
"""


@contextmanager
def ledger_to_read(path: Path) -> Iterator[Ledger]:
    """Open the ledger at `path`, or an empty temporary one, so that an estimate writes nothing."""
    with (
        TemporaryDirectory() as folder,
        Ledger(path if path.is_file() else Path(folder) / path.name) as ledger,
    ):
        yield ledger


class Ledger:
    """Answers by key. Raises ArgusError when the file is no ledger, or cannot be written."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.RLock()
        with self._reported():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._sql = connect(path, timeout=BUSY_S, check_same_thread=False, isolation_level=None)
        with closing_if_it_fails(self._sql), self._reported():
            self._sql.execute(_TABLE)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. The ledger may then be opened again."""
        with self._lock:
            self._sql.close()

    def put(self, entry: Entry) -> None:
        """Write one row, at once and whole. A failure never replaces an answer."""
        values = replace(
            entry, prompt=entry.prompt[:PROMPT_CHARS], seconds=round(entry.seconds, 3),
            time=entry.time or datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        row = [without_half_pairs(v) if isinstance(v, str) else v for v in astuple(values)]
        with self._lock, self._reported():
            self._sql.execute(_PUT, row)

    def get(self, key: str) -> Entry | None:
        """Return the row of `key`, None where there is none."""
        return next(iter(self.find([key])), None)

    def find(self, keys: Sequence[str]) -> Iterator[Entry]:
        """Yield the rows of those of `keys` that are there."""
        statement = f"SELECT {_NAMES} FROM answers WHERE key IN (SELECT value FROM json_each(?))"
        with self._lock, self._reported():
            for row in self._sql.execute(statement, [json.dumps(list(keys))]):
                entry = Entry(*row)
                yield replace(entry, state=State(entry.state), unanswered=bool(entry.unanswered))

    def counts(self) -> dict[State, int]:
        """Return how many rows are in each state that is stored."""
        with self._lock, self._reported():
            rows = self._sql.execute("SELECT state, count(*) FROM answers GROUP BY state")
            return {State.OK: 0, State.FAILED: 0} | {State(s): n for s, n in rows}

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn errors of SQLite and the system into one that a person can act on."""
        try:
            yield
        except (*SQLITE_DAMAGE, OSError, ValueError) as error:
            raise ArgusError(
                f"{self.path}: the ledger cannot be used ({error}); the answers it holds stay as "
                "they are. See that there is space and that file and folder can be written, then "
                "run the same command again."
            ) from error
