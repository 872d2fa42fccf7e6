"""What the end of a log tells of its questions: what marks meant, and signals in own records."""

from __future__ import annotations

import json

from argus.traffic.exchange import FeedbackMarks, ReadingTally
from argus.traffic.log.book import LogBook


def settle_marks(book: LogBook, tally: ReadingTally) -> None:
    """Add to every question what its marks meant, once the log is read."""
    if not any(scale.is_thumbs for scale in tally.scales.values()):
        return
    rows = book.rows("SELECT ask, field, ones, zeros, minuses FROM marks")
    book.do("BEGIN")
    book.do_all(
        "UPDATE asks SET good = good + ?, bad = bad + ? WHERE rowid = ?",
        ((*tally.meant(FeedbackMarks(*marks)), ask) for ask, *marks in rows),
    )
    book.do("COMMIT")


def join_signals(book: LogBook, tally: ReadingTally) -> int:
    """Add every signal to its question, once the log is read; return how many name none in it."""
    (n,) = book.one("SELECT COUNT(*) FROM signals")
    if not n:
        return 0
    book.do("CREATE INDEX by_ref ON asks (ref)")
    book.do("BEGIN")
    unknown = 0
    for ref, good, bad, click, *marks in book.rows("SELECT * FROM signals"):
        ask = next(
            book.rows("SELECT rowid, list FROM asks WHERE ref = ? ORDER BY rowid DESC", ref), None
        )
        if ask is None:
            unknown += 1
            continue
        if marks[0] is not None:
            by_marks = tally.meant(FeedbackMarks(*marks))
            good, bad = good + by_marks[0], bad + by_marks[1]
        is_click = marks[0] is None and not good and not bad
        rank = _rank(book, ask[1], click) if click else None
        book.do(
            "UPDATE asks SET good = good + ?, bad = bad + ?, clicks = clicks + ?, first = "
            "CASE WHEN ? IS NULL THEN first ELSE MIN(COALESCE(first, ?), ?) END WHERE rowid = ?",
            (good, bad, int(is_click), rank, rank, rank, ask[0]),
        )
    book.do("COMMIT")
    return unknown


def _rank(book: LogBook, list_: int | None, click: str) -> int | None:
    row = next(book.rows("SELECT results FROM lists WHERE id = ?", list_), None)
    ids = [id_ for id_, _ in json.loads(row[0])] if row else []
    return ids.index(click) + 1 if click in ids else None
