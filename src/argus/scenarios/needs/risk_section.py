"""Parts of the sections of both need audits on the risk of documents."""

from __future__ import annotations

from pathlib import Path

from argus.data.tables import read_table
from argus.reports.section import MAX_ROWS, Table, naming, table
from argus.scenarios.needs.risk import table_name
from argus.scenarios.needs.risk_summary import WithRisk


def risk_table(folder: Path, job: str, summary: WithRisk) -> dict[str, Table]:
    """Return the documents by their risk. No table of a folder that an earlier version wrote."""
    if "risk" not in summary:
        return {}
    name = table_name(job)
    rows = read_table(folder / f"{name}.parquet").to_pylist()
    columns = {
        "document": "text", "typical rank": "count", "needs": "count", "find it": "share",
        "95% interval": "interval", "the need that fails it most": "text", "rank": "count",
    }  # fmt: skip
    shown: list[list[object]] = [
        [
            naming(row["label"], row["id"]), round(row["typical_rank"]), row["needs"],
            row["found"], [row["low"], row["high"]], row["worst_need"], row["worst_rank"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return {name: table(columns, shown, total=len(rows))}
