"""The section of the figures: overlays, projections, and the numbers under them."""

from __future__ import annotations

from pathlib import Path

from argus.data.parquet import read_table
from argus.reports.section import Section, Table, table
from argus.retrievability.figures.plots import drawn
from argus.retrievability.figures.summary import FiguresSummary

PANELS = "panels"
"""panels.parquet: a row for each entity of each panel."""


def section(folder: Path, summary: FiguresSummary) -> Section:
    """Build it from panels.parquet."""
    points = read_table(folder / f"{PANELS}.parquet")
    names = ", ".join(one["name"] for one in summary["retrievers"])
    return Section(drawn(summary, points), {"panel_figures": _panels(summary)}, names)


def _panels(summary: FiguresSummary) -> Table:
    columns = {
        "retriever": "text", "N": "count", "entities": "count", "mean RPS": "share",
        "low": "share", "mid": "share", "high": "share", "low up to": "share",
        "high from": "share", "projection": "text", "held-out accuracy": "share",
        "commonest group": "share", "shrinkage": "share",
    }  # fmt: skip
    rows = []
    for one in summary["retrievers"]:
        for panel in one["panels"]:
            groups = panel["groups"]
            counts = groups["counts"]
            shares = [n / panel["entities"] for n in (counts["low"], counts["mid"], counts["high"])]
            rows.append([
                one["name"], panel["pool"], panel["entities"], panel["mean_rps"], *shares,
                groups["low_up_to"], groups["high_from"], panel["method"], panel["accuracy"],
                panel["majority"], panel["shrinkage"],
            ])  # fmt: skip
    return table(columns, rows)
