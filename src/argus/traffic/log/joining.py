"""Signals that came in records of their own, joined to the questions that they speak of."""

from __future__ import annotations

import json

from argus.traffic.log.book import LogBook


def join_signals(book: LogBook) -> int:
    """Add every signal to its question, once the log is read; return how many name none in it."""
    (n,) = book.one("SELECT COUNT(*) FROM signals")
    if not n:
        return 0
    book.do("CREATE INDEX by_ref ON asks (ref)")
    book.do("BEGIN")
    unknown = 0
    for ref, good, bad, click in book.rows("SELECT ref, good, bad, click FROM signals"):
        ask = next(
            book.rows("SELECT rowid, list FROM asks WHERE ref = ? ORDER BY rowid DESC", ref), None
        )
        if ask is None:
            unknown += 1
            continue
        rank = _rank(book, ask[1], click) if click else None
        book.do(
            "UPDATE asks SET good = good + ?, bad = bad + ?, clicks = clicks + ?, first = "
            "CASE WHEN ? IS NULL THEN first ELSE MIN(COALESCE(first, ?), ?) END WHERE rowid = ?",
            (good, bad, int(not good and not bad), rank, rank, rank, ask[0]),
        )
    book.do("COMMIT")
    return unknown


def _rank(book: LogBook, list_: int | None, click: str) -> int | None:
    row = next(book.rows("SELECT results FROM lists WHERE id = ?", list_), None)
    ids = [id_ for id_, _ in json.loads(row[0])] if row else []
    return ids.index(click) + 1 if click in ids else None
