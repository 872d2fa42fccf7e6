"""The audit's section: distribution, curves, projection, table of entities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typing_extensions import TypedDict

from argus.data.tables import read_records
from argus.data.types import State
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, slices_table, table
from argus.retrievability.audit.slices import FILE as SLICES
from argus.retrievability.audit.summary import AuditSummary


class Row(TypedDict):
    """Columns of an entity in the report, from retrievability.parquet."""

    id: str
    label: str
    rps: float
    low: float
    high: float
    related: int
    band: str
    displaced_by: str | None
    x: float | None
    y: float | None
    state: str


def section(folder: Path, summary: AuditSummary) -> Section:
    """Build it from retrievability.parquet."""
    k, pool = summary["k"], summary["pool"]
    plots = {"distribution": figures.distribution(summary["histogram"], k, pool)}
    if summary["curve_over_pool"]["values"]:
        plots["over_pool"] = figures.share_over_pool(summary["curve_over_pool"], k)
    plots["over_k"] = figures.share_over_k(summary["curve_over_k"], k, pool)
    rows = read_records(Row, folder / "retrievability.parquet")
    measured = [row for row in rows if row["state"] == State.MEASURED]
    if placed := [row for row in measured if row["x"] is not None]:
        plots["projection"] = figures.projection(
            np.array([[row["x"], row["y"]] for row in placed]),
            [row["band"] for row in placed],
            [row["label"] or row["id"] for row in placed],
            [row["rps"] for row in placed],
        )
    measured.sort(key=lambda row: (row["high"], row["rps"], row["id"]))
    tables = {"entities": _entities(measured)}
    if "slices" in summary:
        tables["audit_slices"] = slices_table(folder, SLICES)
    return Section(plots, tables, _brief(summary))


def _brief(audit: AuditSummary) -> str:
    if audit["mean_rps"] is None:
        return "no entity could be scored"
    return (
        f"{audit['share_below_0.33']:.1%} of {audit['entities']['measured']:,} are blind spots "
        f"(RPS below 0.33 at k={audit['k']}, N={audit['pool']:,})"
    )


def _entities(measured: list[Row]) -> Table:
    return table(
        {
            "entity": "text",
            "RPS": "share",
            "95% interval": "interval",
            "related": "count",
            "band": "band",
            "outranked by (in how many of its queries)": "text",
        },
        [
            [
                naming(row["label"], row["id"]),
                row["rps"],
                [row["low"], row["high"]],
                row["related"],
                row["band"],
                row["displaced_by"] or "",
            ]
            for row in measured[:MAX_ROWS]
        ],
        total=len(measured),
    )
