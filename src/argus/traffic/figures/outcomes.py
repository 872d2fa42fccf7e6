"""What can go wrong with an ask, as a view of the log's file: null where it is not known."""

from __future__ import annotations

from argus.traffic.figures.stale import DAY_S
from argus.traffic.log.book import LogBook

OUTCOMES = {
    "empty": "nothing came back",
    "bad": "bad feedback",
    "unopened": "no result opened",
    "stale": "a superseded document served",
}
"""Column of the view `outcomes` to what it is called; a high share is the worse one."""


def make_outcomes(book: LogBook, *, has_stale: bool) -> list[str]:
    """Make the view `outcomes`, with a row per ask; return the outcomes that the log tells of."""
    (clicks,) = book.one("SELECT COALESCE(SUM(clicks), 0) FROM asks")
    stale, join = "NULL", ""
    if has_stale:
        stale = "stale.stale"
        day = f"COALESCE(CAST(asks.at / {DAY_S} AS INTEGER), -1)"
        join = f"LEFT JOIN stale ON stale.list = asks.list AND stale.day = {day}"
    unopened = "CASE WHEN lists.n > 0 THEN asks.clicks = 0 END" if clicks else "NULL"
    slices = "".join(f", asks.s{i}" for i in range(len(book.slices)))
    book.do(
        "CREATE VIEW outcomes AS SELECT asks.question, asks.at, lists.n = 0 AS empty, "
        "CASE WHEN (asks.good > 0) <> (asks.bad > 0) THEN asks.bad > 0 END AS bad, "
        f"{unopened} AS unopened, {stale} AS stale {slices} "
        f"FROM asks LEFT JOIN lists ON lists.id = asks.list {join}"
    )
    counts = book.one(f"SELECT {', '.join(f'COUNT({name})' for name in OUTCOMES)} FROM outcomes")
    return [name for name, n in zip(OUTCOMES, counts, strict=True) if n]
