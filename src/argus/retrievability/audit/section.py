"""The audit's section: distribution, curves, projection, table of entities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, naming, table

COLUMNS = [
    "id", "label", "rps", "low", "high", "related", "band", "displaced_by", "x", "y", "state",
]  # fmt: skip


def section(folder: Path, audit: dict[str, Any]) -> Section:
    """Build it from retrievability.parquet."""
    k, pool = audit["k"], audit["pool"]
    plots = {"distribution": figures.distribution(audit["histogram"], k, pool)}
    if audit["curve_over_pool"]["values"]:
        plots["over_pool"] = figures.share_over_pool(audit["curve_over_pool"], k)
    plots["over_k"] = figures.share_over_k(audit["curve_over_k"], k, pool)
    rows = pq.read_table(folder / "retrievability.parquet", columns=COLUMNS).to_pylist()
    measured = [row for row in rows if row["state"] == "measured"]
    placed = [row for row in measured if row["x"] is not None]
    if placed:
        plots["projection"] = figures.projection(
            np.array([[row["x"], row["y"]] for row in placed]),
            [row["band"] for row in placed],
            [row["label"] or row["id"] for row in placed],
            [row["rps"] for row in placed],
        )
    measured.sort(key=lambda row: (row["high"], row["rps"], row["id"]))
    return Section(plots, {"entities": _entities(measured)}, _brief(audit))


def _brief(audit: dict[str, Any]) -> str:
    if audit["mean_rps"] is None:
        return "no entity could be scored"
    return (
        f"{audit['share_below_0.33']:.1%} of {audit['entities']['measured']:,} are blind spots "
        f"(RPS below 0.33 at k={audit['k']}, N={audit['pool']:,})"
    )


def _entities(measured: list[dict[str, Any]]) -> Any:
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
