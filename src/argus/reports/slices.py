"""Shares by slice, for a section of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.reports.section import MAX_ROWS, Table, table

FILE = "slices"  # the table that a job writes


def slices_table(folder: Path, name: str = FILE) -> Table:
    """Return the shares of a folder's slices, the worst first. name: of the Parquet file."""
    rows: list[dict[str, Any]] = read_table(folder / f"{name}.parquet").to_pylist()
    return table(
        {
            "field": "text",
            "slice": "text",
            "share of": "text",
            "share": "share",
            "95% interval": "interval",
            "n": "count",
            "all": "share",
            "worse by": "share",
            "": "text",
        },
        [
            [
                row["field"], row["slice"], row["share_of"], row["share"],
                [row["low"], row["high"]], row["n"], row["whole"], row["worse_by"],
                "few" if row["is_few"] else "",
            ]
            for row in rows[:MAX_ROWS]
        ],
        total=len(rows),
    )  # fmt: skip
