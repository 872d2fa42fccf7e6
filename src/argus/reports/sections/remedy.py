"""The remedy's section, its receipt: what the repair gained, and who paid for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.reports import figures_repair
from argus.reports.sections.base import MAX_ROWS, Section, table


def section(folder: Path, remedy: dict[str, Any]) -> Section:
    """Build it from receipt.parquet."""
    rows = pq.read_table(folder / "receipt.parquet").to_pylist()
    repaired = [row for row in rows if row["views"]]
    repaired.sort(key=lambda row: (row["rank_after"] - row["rank_before"], row["doc_id"]))
    plots = {}
    if repaired:
        plots["receipt_ranks"] = figures_repair.ranks(
            [row["rank_before"] for row in repaired],
            [row["rank_after"] for row in repaired],
            [f"{row['entity']} → {row['doc_id']}" for row in repaired],
        )
    tables = {"receipt": _receipt(repaired)}
    if remedy["neighbours"]:
        tables["receipt_neighbours"] = _neighbours(remedy)
    return Section(plots, tables)


def _receipt(repaired: list[dict[str, Any]]) -> Any:
    columns = {"asked for": "text", "document": "text"}
    columns |= {"rank before": "count", "rank after": "count"}
    columns |= {"predicted RPS before": "share", "best view after": "share", "views": "count"}
    fields = (
        "entity", "doc_id", "rank_before", "rank_after", "rps_before", "rps_after", "views",
    )  # fmt: skip
    shown = [[row[name] for name in fields] for row in repaired[:MAX_ROWS]]
    return table(columns, shown, total=len(repaired))


def _neighbours(remedy: dict[str, Any]) -> Any:
    columns = {"document": "text", "lists it fell out of": "count", "lists it came into": "count"}
    shown = [[row["doc_id"], row["lists"], row["gained"]] for row in remedy["neighbours"]]
    return table(columns, shown, total=remedy["neighbours_fallen"])
