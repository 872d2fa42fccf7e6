"""The log day by day, or by longer steps where it is long."""

from __future__ import annotations

import pyarrow as pa

from argus.traffic.figures.outcomes import OUTCOMES
from argus.traffic.figures.stale import DAY_S
from argus.traffic.log.book import LogBook

MOST_STEPS = 60
STEPS = (1, 7, 28, 364)
"""Days of a step: the shortest of which there are few enough."""


def over_time(book: LogBook) -> pa.Table:
    """Return a row per step that has asks: when it begins, its days, asks, and each outcome."""
    first, last = book.one("SELECT MIN(at), MAX(at) FROM asks")
    span = ((last or 0) - (first or 0)) / DAY_S
    days = next((step for step in STEPS if span / step <= MOST_STEPS), STEPS[-1])
    columns = ", ".join(f"SUM({name}), COUNT({name})" for name in OUTCOMES)
    schema = [("begins", pa.timestamp("s", "UTC")), ("days", pa.int64()), ("asks", pa.int64())]
    for name in OUTCOMES:
        schema += [(name, pa.int64()), (f"{name}_of", pa.int64())]
    rows = book.rows(
        f"SELECT CAST(at / {DAY_S * days} AS INTEGER), COUNT(*), {columns} FROM outcomes "
        "WHERE at IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    names = [name for name, _ in schema]
    table = [
        dict(zip(names, (step * DAY_S * days, days, n, *rest), strict=True))
        for step, n, *rest in rows
    ]
    return pa.Table.from_pylist(table, schema=pa.schema(schema))
