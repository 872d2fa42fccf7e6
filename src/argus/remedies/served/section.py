"""The section on what a repair changed in what is served."""

from __future__ import annotations

from pathlib import Path

from argus.data.parquet import read_records
from argus.remedies.served.summary import ServedReceiptSummary, ServedRow
from argus.reports.section import MAX_ROWS, Section, table

TABLE = "receipt_served.parquet"


def section(folder: Path, summary: ServedReceiptSummary) -> Section:
    """Build it from receipt_served.parquet: pairs that came or went, the deepest change first."""
    if "moves" not in summary:
        return Section(brief=f"{summary['before']['name']} was asked before a repair")
    moved = [
        row
        for row in read_records(ServedRow, folder / TABLE)
        if row["rank_before"] != row["rank_after"]
    ]
    moved.sort(key=lambda row: -abs(_depth(row["rank_before"]) - _depth(row["rank_after"])))
    columns = {"query": "text", "document": "text", "before": "count", "after": "count"}
    rows: list[list[object]] = [
        [row["query"], row["doc_id"], row["rank_before"], row["rank_after"]]
        for row in moved[:MAX_ROWS]
    ]
    gave_way = [[one["doc_id"], one["lists"], one["gained"]] for one in summary["neighbours"]]
    tables = {
        "served_moves": table(columns, rows, total=len(moved)),
        "served_neighbours": table(
            {"document": "text", "lists it left": "count", "lists it came into": "count"}, gave_way
        ),
    }
    moves = summary["moves"]
    brief = (
        f"{moves['recovered']:,} relevant documents came into the top {summary['k']} of what is "
        f"served, {moves['lost']:,} left it"
    )
    return Section({}, tables, brief)


def _depth(rank: int | None) -> float:
    """Return a rank; what is not in the list counts as deeper than any."""
    return 1e9 if rank is None else rank
