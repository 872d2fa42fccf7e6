"""The section of a retriever's need audit: documents that their needs do not bring back."""

from __future__ import annotations

from pathlib import Path

from argus.data.tables import read_table
from argus.data.types import State
from argus.reports.section import MAX_ROWS, Section, naming, slices_table, table
from argus.scenarios.needs.risk_section import risk_table
from argus.scenarios.needs.served_summary import ServedNeedsSummary, brief


def section(folder: Path, needs: ServedNeedsSummary) -> Section:
    """Build it from needs_served.parquet, documents out of reach first."""
    rows = read_table(folder / "needs_served.parquet").to_pylist()
    rows = [row for row in rows if row["state"] == State.MEASURED]
    rows.sort(key=lambda row: (row["high"], row["found"], row["id"]))
    columns = {
        "document": "text",
        "needs": "count",
        "bring it back": "share",
        "95% interval": "interval",
        "band": "band",
        "the need that fails it most": "text",
        "rank": "count",
        "returned instead": "text",
    }
    shown = [
        [
            naming(row["label"], row["id"]), row["needs"], row["found"], [row["low"], row["high"]],
            row["band"], row["worst_need"], row["worst_rank"], row["displaced_by"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    tables = {"needs_served": table(columns, shown, total=len(rows))}
    tables |= risk_table(folder, "needs_served", needs)
    if "slices" in needs:
        tables["needs_served_slices"] = slices_table(folder, "needs_served_slices")
    return Section({}, tables, brief(needs))
