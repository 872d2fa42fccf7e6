"""The page of trends: a line per figure over the runs of its job, and what changed last."""

from __future__ import annotations

from argus.evaluation.history.summary import HistorySummary
from argus.reports import render
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.svg import svg

LEAST = 0.1
"""Of the range that an axis shows."""
TEMPLATE = "evaluation/history/page.html.j2"


def page(summary: HistorySummary) -> str:
    """Return the page; it needs nothing from outside and no script."""
    trends = [
        {"heading": f"{job}: {figure}", "svg": svg(_trend(summary, job, figure), figure)}
        for job, figure in _figures(summary)
    ]
    return render(TEMPLATE, summary=summary, trends=trends)


def _figures(summary: HistorySummary) -> list[tuple[str, str]]:
    pairs = [(run["job"], name) for run in summary["runs"] for name in run["means"]]
    return sorted(dict.fromkeys(pairs))


def _around(values: list[float]) -> list[float]:
    """Return a range in which a change is seen, and noise is not made to look like one."""
    middle, reach = (min(values) + max(values)) / 2, max(LEAST, max(values) - min(values)) * 0.6
    return [max(0.0, middle - reach), min(1.0, middle + reach)]


def _trend(summary: HistorySummary, job: str, figure: str) -> Figure:
    """Return the figure of one figure's means, in the order in which runs were recorded."""
    runs = [r for r in summary["runs"] if r["job"] == job and figure in r["means"]]
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
