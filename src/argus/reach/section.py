"""The section on what a store brings back of itself."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from argus.reach.summary import ReachSummary, UnreachedRecord
from argus.reports.section import Section, table


def section(folder: Path, summary: ReachSummary) -> Section:
    """Build it from unreached.parquet."""
    rows: list[UnreachedRecord] = pq.read_table(folder / "unreached.parquet").to_pylist()
    columns = {"record": "text", "cause": "text", "detail": "text"}
    listed = table(columns, [[row["id"], row["cause"], row["detail"]] for row in rows])
    reached = summary["reached"]
    brief = f"{reached['share']:.2%} of the records asked for come back for their own vector"
    return Section({}, {"unreached": listed}, brief)
