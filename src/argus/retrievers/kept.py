"""Answers on disk, as they come: a killed job asks only the rest. One SQLite file."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from pathlib import Path
from types import TracebackType

from argus.data.provenance import content_hash
from argus.errors import ArgusError

FILE = "answers.sqlite"
WRITE_S = 0.1
"""What a kill may lose of answers that come faster: one at a time costs more than reading it."""
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY,  -- hash of retriever, query and k
    query TEXT NOT NULL,
    answer TEXT NOT NULL   -- {document: score}, best first
) WITHOUT ROWID
"""


class KeptAnswers:
    """The answers of one retriever, by query text and k. A failure is not kept: it is asked again.

    identity: tells retrievers apart whose answers differ. Raises ArgusError where the file cannot
    be used.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path, self._identity, self._lock = path, identity, threading.Lock()
        self._rows: list[tuple[str, int, dict[str, float]]] = []
        self._written = 0.0
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(_TABLE)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def __enter__(self) -> KeptAnswers:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        try:
            with self._lock:
                self._write()
        finally:
            self._connection.close()

    def get(self, text: str, k: int) -> dict[str, float] | None:
        """Return what was answered, None where nothing was."""
        select = "SELECT answer FROM answers WHERE key = ?"
        with self._lock:
            self._write()
            try:
                row = self._connection.execute(select, (self._key(text, k),)).fetchone()
            except sqlite3.Error as error:
                raise self._unusable(error) from error
        return None if row is None else dict(json.loads(row[0]))

    def put(self, text: str, k: int, answer: dict[str, float]) -> None:
        """Keep one answer; it is on disk at once, or with those of the next WRITE_S."""
        with self._lock:
            self._rows.append((text, k, answer))
            if time.monotonic() - self._written >= WRITE_S:
                self._write()

    def _write(self) -> None:
        """Write what waits, in one transaction."""
        if not self._rows:
            return
        rows = [
            # half a surrogate pair cannot be written
            (self._key(text, k), text.encode("utf-8", "replace").decode(), json.dumps(answer))
            for text, k, answer in self._rows
        ]
        try:
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        self._rows, self._written = [], time.monotonic()

    def _key(self, text: str, k: int) -> str:
        return content_hash(self._identity, text, str(k), size=16).hex()

    def _unusable(self, error: sqlite3.Error) -> ArgusError:
        return ArgusError(
            f"{self.path}: the answers that were kept cannot be used ({error}). See that there is "
            "space and that the file can be written; or remove it, and everything is asked again."
        )
