"""The log day by day, or by longer steps where it is long."""

from __future__ import annotations

import pyarrow as pa

from argus.traffic.figures.outcomes import OUTCOMES
from argus.traffic.figures.stale import DAY_S
from argus.traffic.log.book import LogBook

MOST_STEPS = 60
STEPS = (1, 7, 28, 364)
"""Days of a step: the shortest of which there are few enough."""
SCHEMA = pa.schema(
    [("begins", pa.timestamp("s", "UTC")), ("days", pa.int64()), ("asks", pa.int64())]
    + [(column, pa.int64()) for name in OUTCOMES for column in (name, f"{name}_of")]
)
"""One row per step of time that has asks.

begins: beginning of the step, UTC.
days: length of the step.
asks: asks in it.
empty: asks for which nothing came back.
bad: asks with bad feedback.
unopened: asks of which no result was opened.
stale: asks that were served a superseded document.
empty_of, bad_of, unopened_of, stale_of: asks of which that is known.
"""


def step_days(book: LogBook) -> int:
    """Return the days of a step."""
    first, last = book.one("SELECT MIN(at), MAX(at) FROM asks")
    span = ((last or 0) - (first or 0)) / DAY_S
    return next((step for step in STEPS if span / step <= MOST_STEPS), STEPS[-1])


def over_time(book: LogBook) -> pa.Table:
    """Return one row per step of time that has asks; an outcome is null where it is not known."""
    days = step_days(book)
    columns = ", ".join(f"SUM({name}), COUNT({name})" for name in OUTCOMES)
    rows = book.rows(
        f"SELECT CAST(at / {DAY_S * days} AS INTEGER), COUNT(*), {columns} FROM outcomes "
        "WHERE at IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    table = [
        dict(zip(SCHEMA.names, (step * DAY_S * days, days, n, *rest), strict=True))
        for step, n, *rest in rows
    ]
    return pa.Table.from_pylist(table, schema=SCHEMA)
