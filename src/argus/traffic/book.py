"""Store a query log in one temporary SQLite file while it is audited, so that memory stays small.

`argus traffic audit` adds the questions that `argus.traffic.reading` yields, and
`argus.traffic.figures` counts them by SQL. Different questions and lists have one row each, by a
hash. Every ask, one occurrence of a question, has a row with its time, person, list and feedback.
The file is removed at the end of the job.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from argus.data.writing import closing_if_it_fails, connect
from argus.errors import ArgusError
from argus.traffic.exchange import Exchange, Feedback, Passage

FILE = "traffic.sqlite"
# Rows that are written at once.
AT_ONCE = 20_000
CACHE_KIB = 65_536
# Characters of the label of a passage without an id.
MAX_LABEL = 80
_TABLES = """
CREATE TABLE questions (id INTEGER PRIMARY KEY, text TEXT, n INTEGER NOT NULL);
CREATE TABLE lists (id INTEGER PRIMARY KEY, results TEXT NOT NULL, n INTEGER NOT NULL);
CREATE TABLE asks (
    question INTEGER NOT NULL, at REAL, list INTEGER, good INTEGER NOT NULL, bad INTEGER NOT NULL,
    clicks INTEGER NOT NULL, ref TEXT, source INTEGER NOT NULL {slices}
);
CREATE TABLE signals (ref TEXT, good INTEGER, bad INTEGER, clicks INTEGER);
CREATE TABLE labels (id TEXT PRIMARY KEY, text TEXT NOT NULL);
"""
LOGGED, ANSWERED = 1, 2
"""Sources of a list: the log, or a retriever. 0 is none."""


@dataclass
class LogBook:
    """A log in one file, open for SQL. Use as a context.

    keeps_text: False stores only hashes of questions, and no labels of passages. depth: results
    that are stored of one list. Raises ArgusError where the file cannot be written.
    """

    path: Path
    slices: Sequence[str] = ()
    keeps_text: bool = True
    depth: int = 10
    asks: int = 0
    _questions: dict[int, list[Any]] = field(default_factory=dict)
    _lists: dict[int, tuple[int, str, int]] = field(default_factory=dict)
    _labels: dict[str, str] = field(default_factory=dict)
    _rows: dict[str, list[tuple[Any, ...]]] = field(
        default_factory=lambda: {"asks": [], "signals": []}
    )

    def __enter__(self) -> LogBook:
        self.path.unlink(missing_ok=True)
        columns = "".join(f", s{i} TEXT" for i in range(len(self.slices)))
        with self._reported():
            self._sql = connect(self.path, isolation_level=None)
            with closing_if_it_fails(self._sql):
                self._sql.execute("PRAGMA journal_mode = OFF")
                self._sql.execute("PRAGMA synchronous = OFF")
                self._sql.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
                self._sql.executescript(_TABLES.format(slices=columns))
        return self

    def __exit__(self, *_: object) -> None:
        self._sql.close()
        self.path.unlink(missing_ok=True)

    def add(self, one: Exchange | Feedback, key: bytes = b"") -> None:
        """Add a question, or feedback on one. key: hash of the question, 8 bytes or more."""
        rows = self._rows
        if isinstance(one, Feedback):
            rows["signals"].append((one.ref, one.good, one.bad, one.clicks))
        else:
            id_ = int.from_bytes(key[:8], "big", signed=True)
            text = one.query if self.keeps_text else None
            self._questions.setdefault(id_, [id_, text, 0])[2] += 1
            list_ = None if one.results is None else self.put_list(one.results)
            self.asks += 1
            source = LOGGED if list_ is not None else 0
            feedback = one.good, one.bad, one.clicks, one.ref, source
            rows["asks"].append((id_, one.at, list_, *feedback, *one.slices))
        if len(rows["asks"]) + len(rows["signals"]) >= AT_ONCE:
            self.flush()

    def put_list(self, results: Iterable[Passage]) -> int:
        """Add a list, best first. Returns its number, which equal lists share."""
        pairs: dict[str, float | None] = {}
        for result in results:
            pairs.setdefault(result.id or self._label(result.text), result.score)
        text = json.dumps(list(pairs.items())[: self.depth], ensure_ascii=False)
        number = int.from_bytes(_hash(text).digest(), "big", signed=True)
        self._lists[number] = (number, text, min(len(pairs), self.depth))
        return number

    def _label(self, text: str) -> str:
        id_ = f"text:{_hash(text.strip()).hexdigest()}"
        if self.keeps_text:
            self._labels[id_] = " ".join(text.split())[:MAX_LABEL]
        return id_

    def flush(self) -> None:
        """Write all waiting rows."""
        self.do("BEGIN")
        insert = "INSERT INTO questions VALUES (?,?,?)"
        counting = f"{insert} ON CONFLICT (id) DO UPDATE SET n = n + excluded.n"
        self.do_all(counting, sorted(self._questions.values()))
        self.do_all("INSERT OR IGNORE INTO lists VALUES (?,?,?)", sorted(self._lists.values()))
        self.do_all("INSERT OR IGNORE INTO labels VALUES (?,?)", self._labels.items())
        for table, rows in self._rows.items():
            if rows:
                self.do_all(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
        self.do("COMMIT")
        for by_key in (self._questions, self._lists, self._labels):
            by_key.clear()
        for rows in self._rows.values():
            rows.clear()

    def join(self) -> int:
        """Add signals to their questions, after all records.

        Returns the number of signals that name no question of the log.
        """
        self.flush()
        self.do("CREATE INDEX by_question ON asks (question)")
        if not self.one("SELECT COUNT(*) FROM signals")[0]:
            return 0
        self.do("CREATE INDEX by_ref ON asks (ref)")
        self.do("BEGIN")
        unknown = 0
        for ref, *feedback in self.rows("SELECT * FROM signals"):
            latest = "SELECT rowid FROM asks WHERE ref = ? ORDER BY rowid DESC LIMIT 1"
            ask = next(self.rows(latest, ref), None)
            if ask is None:
                unknown += 1
                continue
            self.do(
                "UPDATE asks SET good = good + ?, bad = bad + ?, clicks = clicks + ? "
                "WHERE rowid = ?",
                (*feedback, *ask),
            )
        self.do("COMMIT")
        return unknown

    def do(self, statement: str, values: Sequence[object] = ()) -> None:
        """Execute a statement."""
        with self._reported():
            self._sql.execute(statement, values)

    def do_all(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement for each row of values."""
        with self._reported():
            self._sql.executemany(statement, rows)

    def rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query."""
        with self._reported():
            yield from self._sql.execute(query, values)

    def one(self, query: str, *values: object) -> tuple[Any, ...]:
        """Return the only row of a query."""
        return next(self.rows(query, *values))

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise ArgusError(
                f"{self.path}: the log cannot be taken down there ({error}). See that there is "
                "space and that the folder can be written."
            ) from error


def _hash(text: str) -> blake2b:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8)
