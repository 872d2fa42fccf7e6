"""The remedy's section, its receipt: what the repair gained, and who paid for it."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import TypedDict

from argus.data.tables import read_records
from argus.remedies import figures as figures_repair
from argus.remedies.repair.receipt_judged import JudgedRow
from argus.remedies.repair.summary import FallenDocument, RemedySummary
from argus.reports.section import MAX_ROWS, Section, Table, table


class ReceiptRow(TypedDict):
    """What is read of a row of receipt.parquet; ranks only where the risk query could be asked."""

    doc_id: str
    entity: str
    rank_before: int
    rank_after: int
    rps_before: float | None
    rps_after: float | None
    rps_views: float | None
    views: int


def section(folder: Path, remedy: RemedySummary) -> Section:
    """Build it from receipt.parquet; a risk query that failed has no ranks and comes last."""
    rows = read_records(ReceiptRow, folder / "receipt.parquet")
    repaired = [row for row in rows if row["views"]]
    with_ranks = [row for row in repaired if row["rank_after"] is not None]
    with_ranks.sort(key=lambda row: (row["rank_after"] - row["rank_before"], row["doc_id"]))
    plots = {}
    if with_ranks:
        plots["receipt_ranks"] = figures_repair.ranks(
            [row["rank_before"] for row in with_ranks],
            [row["rank_after"] for row in with_ranks],
            [f"{row['entity']} → {row['doc_id']}" for row in with_ranks],
        )
    failed = [row for row in repaired if row["rank_after"] is None]
    tables = {"receipt": _receipt(with_ranks + failed)}
    if "judged_documents" in remedy:
        tables["receipt_judged"] = _judged(folder)
    if remedy["neighbours"]:
        tables["receipt_neighbours"] = _neighbours(
            remedy["neighbours"], total=remedy["neighbours_fallen"]
        )
    return Section(plots, tables, _brief(remedy))


def _brief(remedy: RemedySummary) -> str:
    counts, ranks = remedy["counts"], remedy["of_repaired"]
    brief = f"{counts['views']:,} views for {counts['documents_repaired']:,} documents"
    if not ranks["queries"]:
        return brief
    return (
        f"{brief}; asked for by names at risk, {ranks['found_before']:.1%} → "
        f"{ranks['found_after']:.1%} come back in the top {remedy['k']}, and "
        f"{remedy['neighbours_fallen']:,} others lost a place"
    )


def _receipt(repaired: list[ReceiptRow]) -> Table:
    columns = {"asked for": "text", "document": "text"}
    columns |= {"rank before": "count", "rank after": "count"}
    columns |= {"predicted RPS before": "share", "best of original and views": "share"}
    columns |= {"mean of the views": "share", "views": "count"}
    rows = [
        [
            row["entity"],
            row["doc_id"],
            row["rank_before"],
            row["rank_after"],
            row["rps_before"],
            row["rps_after"],
            row.get("rps_views"),
            row["views"],
        ]
        for row in repaired[:MAX_ROWS]
    ]
    return table(columns, rows, total=len(repaired))


def _judged(folder: Path) -> Table:
    """Relevant documents, the greatest loss of reciprocal rank first: 1 → 2 before 90 → 300."""
    judged = read_records(JudgedRow, folder / "receipt_judged.parquet")
    with_ranks = [row for row in judged if row["rank_after"] is not None]
    with_ranks.sort(
        key=lambda r: (1 / r["rank_after"] - 1 / r["rank_before"], r["query_id"], r["doc_id"])
    )
    columns = {"query": "text", "relevant document": "text", "rank before": "count"}
    columns |= {"rank after": "count", "repaired": "text"}
    rows = [
        [
            f"{row['query']} · {row['query_id']}",
            row["doc_id"],
            row["rank_before"],
            row["rank_after"],
            "yes" if row["repaired"] else "no",
        ]
        for row in with_ranks[:MAX_ROWS]
    ]
    return table(columns, rows, total=len(with_ranks))


def _neighbours(fallen: list[FallenDocument], *, total: int) -> Table:
    columns = {"document": "text", "lists it fell out of": "count", "lists it came into": "count"}
    rows = [[row["doc_id"], row["lists"], row["gained"]] for row in fallen]
    return table(columns, rows, total=total)
