"""The remedy's section, its receipt: what the repair gained, and who paid for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.remedies import figures as figures_repair
from argus.reports.section import MAX_ROWS, Section, table


def section(folder: Path, remedy: dict[str, Any]) -> Section:
    """Build it from receipt.parquet; a risk query that failed has no ranks and comes last."""
    rows = pq.read_table(folder / "receipt.parquet").to_pylist()
    repaired = [row for row in rows if row["views"]]
    asked = [row for row in repaired if row["rank_after"] is not None]
    asked.sort(key=lambda row: (row["rank_after"] - row["rank_before"], row["doc_id"]))
    plots = {}
    if asked:
        plots["receipt_ranks"] = figures_repair.ranks(
            [row["rank_before"] for row in asked],
            [row["rank_after"] for row in asked],
            [f"{row['entity']} → {row['doc_id']}" for row in asked],
        )
    failed = [row for row in repaired if row["rank_after"] is None]
    tables = {"receipt": _receipt(asked + failed)}
    if "judged_documents" in remedy:
        tables["receipt_judged"] = _judged(folder)
    if remedy["neighbours"]:
        tables["receipt_neighbours"] = _neighbours(remedy)
    return Section(plots, tables, _brief(remedy))


def _brief(remedy: dict[str, Any]) -> str:
    counts, asked = remedy["counts"], remedy["of_repaired"]
    brief = f"{counts['views']:,} views for {counts['documents_repaired']:,} documents"
    if not asked["queries"]:
        return brief
    return (
        f"{brief}; asked for by names at risk, {asked['found_before']:.1%} → "
        f"{asked['found_after']:.1%} come back in the top {remedy['k']}, and "
        f"{remedy['neighbours_fallen']:,} others lost a place"
    )


def _receipt(repaired: list[dict[str, Any]]) -> Any:
    columns = {"asked for": "text", "document": "text"}
    columns |= {"rank before": "count", "rank after": "count"}
    columns |= {"predicted RPS before": "share", "best of original and views": "share"}
    columns |= {"mean of the views": "share", "views": "count"}
    fields = (
        "entity", "doc_id", "rank_before", "rank_after", "rps_before", "rps_after", "rps_views",
        "views",
    )  # fmt: skip
    shown = [[row.get(name) for name in fields] for row in repaired[:MAX_ROWS]]
    return table(columns, shown, total=len(repaired))


def _judged(folder: Path) -> Any:
    """Relevant documents, the greatest loss of reciprocal rank first: 1 → 2 before 90 → 300."""
    rows = pq.read_table(folder / "receipt_judged.parquet").to_pylist()
    moved = [row for row in rows if row["rank_after"] is not None]
    moved.sort(
        key=lambda r: (1 / r["rank_after"] - 1 / r["rank_before"], r["query_id"], r["doc_id"])
    )
    columns = {"query": "text", "relevant document": "text", "rank before": "count"}
    columns |= {"rank after": "count", "repaired": "text"}
    shown = [
        [
            f"{row['query']} · {row['query_id']}",
            row["doc_id"],
            row["rank_before"],
            row["rank_after"],
            "yes" if row["repaired"] else "no",
        ]
        for row in moved[:MAX_ROWS]
    ]
    return table(columns, shown, total=len(moved))


def _neighbours(remedy: dict[str, Any]) -> Any:
    columns = {"document": "text", "lists it fell out of": "count", "lists it came into": "count"}
    shown = [[row["doc_id"], row["lists"], row["gained"]] for row in remedy["neighbours"]]
    return table(columns, shown, total=remedy["neighbours_fallen"])
