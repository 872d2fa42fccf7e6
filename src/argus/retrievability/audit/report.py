"""Show an audit: the lines that the command prints, and the section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.tables import read_table
from argus.data.types import State
from argus.measures.slices import slice_lines
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, naming, slices_table, table

SLICES = "audit_slices"  # the table of shares: an exposure in the same folder has one, too
COLUMNS = (
    "id",
    "label",
    "rps",
    "low",
    "high",
    "related",
    "band",
    "displaced_by",
    "x",
    "y",
    "state",
)


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the mean RPS, how many entities are blind spots, and the settings."""
    counts = summary["entities"]
    if summary["mean_rps"] is None:
        yield "no entity could be scored; the reasons are in the report"
        return
    yield (
        f"RPS at k={summary['k']}, N={summary['pool']}: mean {summary['mean_rps']:.3f}; "
        f"{summary['share_below_0.33']:.1%} of entities below 0.33 (blind spots), "
        f"{summary['share_above_0.5']:.1%} above 0.5"
    )
    yield (
        f"entities: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable; pairs: {summary['pairs']['measured']:,}"
    )
    for setting in summary["settings"][1:]:
        if setting["mean_rps"] is not None:
            yield f"  k={setting['k']}, N={setting['pool']}: mean {setting['mean_rps']:.3f}"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the audit's section from retrievability.parquet: distribution, curves, entities."""
    k, pool = summary["k"], summary["pool"]
    plots = {"distribution": figures.distribution(summary["histogram"], k, pool)}
    if summary["curve_over_pool"]["values"]:
        plots["over_pool"] = figures.share_over_pool(summary["curve_over_pool"], k)
    plots["over_k"] = figures.share_over_k(summary["curve_over_k"], k, pool)
    rows = read_table(folder / "retrievability.parquet", COLUMNS).to_pylist()
    measured = [row for row in rows if row["state"] == State.MEASURED]
    if placed := [row for row in measured if row["x"] is not None]:
        plots["projection"] = figures.projection(
            np.array([[row["x"], row["y"]] for row in placed]),
            [row["band"] for row in placed],
            [row["label"] or row["id"] for row in placed],
            [row["rps"] for row in placed],
        )
    measured.sort(key=lambda row: (row["high"], row["rps"], row["id"]))
    columns = {
        "entity": "text", "RPS": "share", "95% interval": "interval", "related": "count",
        "band": "band", "outranked by (in how many of its queries)": "text",
    }  # fmt: skip
    shown = [
        [
            naming(row["label"], row["id"]), row["rps"], [row["low"], row["high"]],
            row["related"], row["band"], row["displaced_by"] or "",
        ]
        for row in measured[:MAX_ROWS]
    ]  # fmt: skip
    tables = {"entities": table(columns, shown, total=len(measured))}
    if "slices" in summary:
        tables[SLICES] = slices_table(folder, SLICES)
    brief = "no entity could be scored"
    if summary["mean_rps"] is not None:
        brief = (
            f"{summary['share_below_0.33']:.1%} of {summary['entities']['measured']:,} are blind "
            f"spots (RPS below 0.33 at k={k}, N={pool:,})"
        )
    return Section(plots, tables, brief)
