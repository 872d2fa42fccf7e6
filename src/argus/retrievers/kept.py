"""Answers on disk, as they come: a killed job asks only the rest. One SQLite file."""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from types import TracebackType

from argus.data.provenance import absorb
from argus.data.reading import parse_json
from argus.data.sqlite import DAMAGED, closing_if_it_fails, connect
from argus.errors import ArgusError

FILE = "answers.sqlite"
WRITE_S = 0.25
"""What a kill may lose of answers that come faster: one at a time costs more than reading it."""
READ_AT_ONCE = 500
"""Queries of one statement; SQLite takes 999 parameters where it is old."""
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
        self.path, self._lock = path, threading.Lock()
        self._identity = absorb(hashlib.blake2b(digest_size=16), identity)
        self._rows: list[tuple[str, int, dict[str, float]]] = []
        self._keys: dict[tuple[str, int], str] = {}  # of what was looked for, and is not there
        self._written = 0.0
        try:
            self._connection = connect(path, check_same_thread=False, isolation_level=None)
            with closing_if_it_fails(self._connection):
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
                self._connection.execute(_TABLE)
        except DAMAGED as error:
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

    def read(self, texts: Iterable[str], k: int) -> dict[str, dict[str, float]]:
        """Return what was answered, by text; a text that was not asked is not in it."""
        texts = list(dict.fromkeys(texts))
        answers: dict[str, dict[str, float]] = {}
        with self._lock:
            self._write()
            for start in range(0, len(texts), READ_AT_ONCE):
                keys = {self._key(text, k): text for text in texts[start : start + READ_AT_ONCE]}
                for key, row in self._rows_of(keys):
                    if (answer := _answer(row)) is not None:
                        answers[keys.pop(key)] = answer
                self._keys |= {(text, k): key for key, text in keys.items()}
        return answers

    def _rows_of(self, keys: Collection[str]) -> list[tuple[str, object]]:
        select = f"SELECT key, answer FROM answers WHERE key IN ({','.join('?' * len(keys))})"
        try:
            return self._connection.execute(select, tuple(keys)).fetchall()
        except DAMAGED as error:
            raise self._unusable(error) from error

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
        except DAMAGED as error:
            raise self._unusable(error) from error
        self._rows, self._written = [], time.monotonic()

    def _key(self, text: str, k: int) -> str:
        if (key := self._keys.pop((text, k), None)) is not None:
            return key
        return absorb(self._identity.copy(), text, str(k)).hexdigest()

    def _unusable(self, error: Exception) -> ArgusError:
        return ArgusError(
            f"{self.path}: the answers that were kept cannot be used ({error}). See that there is "
            "space and that the file can be written; or remove it, and everything is asked again."
        )


def _answer(row: object) -> dict[str, float] | None:
    """Return the answer of a row; None of a damaged one, which is asked again."""
    if not isinstance(row, str):
        return None
    try:
        answer = {document: float(score) for document, score in parse_json(row).items()}
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None
    return answer if all(map(math.isfinite, answer.values())) else None
