"""The different questions that are looked at one by one: drawn by their hashes, so anew alike."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b

from argus.traffic.log.book import ANSWERED, LOGGED, LogBook

Results = list[tuple[str, float | None]]


@dataclass(slots=True)
class LookedAt:
    """A question, and what is known of it."""

    id: int
    text: str | None
    """Redacted; None where hashes alone are kept."""
    asks: int
    alike: int | None = None
    """The question that stands for it, where another nearly equal one is asked more often."""
    results: Results | None = None
    """What came for it last, best first."""
    source: int = 0
    failure: str = ""
    """Why a retriever did not answer it."""
    good: int = 0
    bad: int = 0
    support: float | None = None
    """Share of its words' weight that the best document of the corpus holds (BM25)."""
    nearest: str | None = None
    risk_rank: int | None = None
    """Its place among all by risk, 1 for the likeliest to fail; None where it is not ranked."""
    flag: str = ""
    """Why it is to be looked at, whatever its rank."""
    why: list[str] = field(default_factory=list)
    """Why nobody met it, if so."""

    @property
    def name(self) -> str:
        """Its id in the tables."""
        return f"q{self.id & (1 << 64) - 1:016x}"

    @property
    def gap(self) -> float | None:
        """How far the best result is ahead of the second, as a share of all that scores span."""
        scores = [score for _, score in self.results or () if score is not None]
        if len(scores) < 3 or scores[0] <= scores[-1]:
            return None
        return (scores[0] - scores[1]) / (scores[0] - scores[-1])


def draw(book: LogBook, n: int, seed: int) -> list[LookedAt]:
    """Return n different questions, by the order of their hashes from a place that seed names."""
    digest = blake2b(str(seed).encode(), digest_size=8).digest()
    start = int.from_bytes(digest, "big", signed=True)
    columns = "SELECT id, text, n FROM questions WHERE id"
    rows = [*book.rows(f"{columns} >= ? ORDER BY id LIMIT ?", start, n)]
    rows += book.rows(f"{columns} < ? ORDER BY id LIMIT ?", start, n - len(rows))
    return [LookedAt(*row) for row in rows]


def read_lists(book: LogBook, questions: list[LookedAt], k: int) -> None:
    """Fill in what the log says: the latest list of each question, and what people made of it."""
    for one in questions:
        one.good, one.bad = book.one(
            "SELECT COALESCE(SUM(good), 0), COALESCE(SUM(bad), 0) FROM asks WHERE question = ?",
            one.id,
        )
        row = next(
            book.rows(
                "SELECT results FROM asks JOIN lists ON list = lists.id WHERE question = ? "
                "ORDER BY asks.rowid DESC LIMIT 1",
                one.id,
            ),
            None,
        )
        if row is not None:
            one.source = LOGGED
            one.results = [(id_, score) for id_, score in json.loads(row[0])[:k]]


def put_answer(book: LogBook, one: LookedAt, list_: int) -> None:
    """Put a retriever's answer where the log says nothing of what came for a question."""
    one.source = ANSWERED
    book.do(
        "UPDATE asks SET list = ?, source = ? WHERE question = ? AND list IS NULL",
        (list_, ANSWERED, one.id),
    )
