"""The section on what a store brings back of itself."""

from __future__ import annotations

from pathlib import Path

from argus.data.parquet import read_records
from argus.reach.summary import ReachSummary, UnreachedRecord
from argus.reach.tally import FILE as SLICES
from argus.reports.section import Section, table
from argus.reports.slices import slices_table


def section(folder: Path, summary: ReachSummary) -> Section:
    """Build it from unreached.parquet."""
    rows = read_records(UnreachedRecord, folder / "unreached.parquet")
    columns = {"record": "text", "cause": "text", "detail": "text"}
    listed = table(columns, [[row["id"], row["cause"], row["detail"]] for row in rows])
    reached = summary["reached"]
    brief = f"{reached['share']:.2%} of the records asked for come back for their own vector"
    tables = {"unreached": listed}
    if "slices" in summary:
        tables["reach_slices"] = slices_table(folder, SLICES)
    return Section({}, tables, brief)
