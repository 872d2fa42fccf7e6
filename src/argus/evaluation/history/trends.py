"""Trends: a line per figure over the runs of its job."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from typing_extensions import TypedDict

from argus.evaluation.history.summary import RunLine
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.svg import svg

LEAST = 0.1
"""Of the range that an axis shows."""


class Trend(TypedDict):
    """A figure over the runs of its job, drawn. runs: how many have it."""

    heading: str
    runs: int
    svg: Markup


def trends(runs: Sequence[RunLine]) -> list[Trend]:
    """Return the trend of each figure, by job and name. runs: in their order."""
    figures = sorted({(run["job"], name) for run in runs for name in run["means"]})
    drawn: list[Trend] = []
    for job, figure in figures:
        of_job = [run for run in runs if run["job"] == job and figure in run["means"]]
        heading, line = f"{job}: {figure}", svg(_trend(of_job, figure), figure)
        drawn.append({"heading": heading, "runs": len(of_job), "svg": line})
    return drawn


def _around(values: list[float]) -> list[float]:
    """Return a range in which a change is seen, and noise is not made to look like one."""
    middle, reach = (min(values) + max(values)) / 2, max(LEAST, max(values) - min(values)) * 0.6
    return [max(0.0, middle - reach), min(1.0, middle + reach)]


def _trend(runs: Sequence[RunLine], figure: str) -> Figure:
    """Return the figure of one figure's means, in the order in which runs were recorded."""
    means = [run["means"][figure] for run in runs]
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [f"{run['number']}" for run in runs],
        "y": means,
        "text": [f"run {run['number']}, {run['finished'][:16]}" for run in runs],
        "hovertemplate": "%{text}: %{y:.4f}<extra></extra>",
        "line": {"color": BAND_COLOURS["high"], "width": 2.5},
        "showlegend": False,
    }
    drawn = framed([line], "run", "mean", {"height": 240}, yrange=_around(means))
    drawn["layout"]["xaxis"] |= {"type": "category"}
    return drawn
