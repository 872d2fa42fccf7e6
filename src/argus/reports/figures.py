"""Build the charts of a report as plotly figure dictionaries, from the numbers of a summary.

Distributions, curves, a projection and a Lorenz curve, used by the sections of several commands.
Nothing is drawn here. `argus.reports.svg` draws the dictionaries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BAND_COLOURS = {"low": "#c8442a", "mid": "#d9a21b", "high": "#2a6fb0"}
INK, GRID = "#2b2f36", "#e6e8ec"
MAX_POINTS = 1500  # points drawn in a scatter plot: more neither load quickly nor show more

Figure = dict[str, Any]  # plotly's own: hundreds of settings, each of its own type


Histogram = Mapping[str, Any]
"""Counts of entities per interval. edges: of the intervals. entities: one count fewer."""
ShareCurve = Mapping[str, Any]
"""At each of `values` of a setting: `mean` RPS, and `share_above_half` of the entities."""


def distribution(histogram: Histogram, k: int, pool: int) -> Figure:
    """Entities per RPS interval, coloured by band."""
    middles = np.convolve(histogram["edges"], (0.5, 0.5), "valid")
    colours = [BAND_COLOURS["low" if m < 0.33 else "mid" if m < 0.66 else "high"] for m in middles]
    bars = {
        "type": "bar",
        "x": middles.round(4).tolist(),
        "y": histogram["entities"],
        "marker": {"color": colours},
        "hovertemplate": "RPS about %{x:.2f}: %{y:,} entities<extra></extra>",
    }
    return framed([bars], f"RPS at k={k}, N={pool:,}", "entities", {"bargap": 0.04}, xrange=[0, 1])


def share_over_pool(curve: ShareCurve, k: int) -> Figure:
    """Share of entities above 0.5 as the competition grows (ARGUS Figure 3)."""
    x, above, high = curve["values"], curve["share_above_half"], BAND_COLOURS["high"]
    traces = [
        _line(x, above, "RPS > 0.5", high, markers=True),
        _line(x, curve["mean"], "mean RPS", "#8a93a0", markers=True, dash="dot"),
    ]
    figure = framed(traces, f"candidates N (k={k})", "share of entities", {}, yrange=[0, 1])
    figure["layout"]["xaxis"] |= {"type": "log", "tickvals": x}
    return figure


def share_over_k(curve: ShareCurve, k: int, pool: int) -> Figure:
    """Share of entities above 0.5 as more results are read (ARGUS Figure 5), with chance."""
    chance = [min(1.0, value / pool) for value in curve["values"]]
    traces = [
        _line(curve["values"], curve["share_above_half"], "RPS > 0.5", BAND_COLOURS["high"]),
        _line(curve["values"], curve["mean"], "mean RPS", "#8a93a0", dash="dot"),
        _line(curve["values"], chance, "mean RPS by chance", "#c9ced6", dash="dash"),
    ]
    line = {"color": INK, "width": 1, "dash": "dot"}
    marker = {"type": "line", "x0": k, "x1": k, "y0": 0, "y1": 1, "line": line}
    x, layout = f"results read, k (N={pool:,})", {"shapes": [marker]}
    return framed(traces, x, "share of entities", layout, yrange=[0, 1])


def projection(
    points: npt.NDArray[np.float64],
    bands: Sequence[str],
    labels: Sequence[str],
    rps: Sequence[float],
) -> Figure:
    """Entities on the two axes that separate the bands best (ARGUS Figure 2)."""
    names = np.array(bands)
    shown = np.arange(len(names))
    if len(shown) > MAX_POINTS:  # evenly, so that each band keeps its share
        shown = shown[np.linspace(0, len(shown) - 1, MAX_POINTS).astype(int)]
    traces = []
    for band, colour in BAND_COLOURS.items():
        of_band = [int(i) for i in shown if names[i] == band]
        x, y = points[of_band, :2].round(3).T.tolist()
        traces.append({
            "type": "scattergl", "mode": "markers", "name": f"{band} ({(names == band).sum():,})",
            "x": x, "y": y, "text": [f"{labels[i][:60]} · {rps[i]:.2f}" for i in of_band],
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"color": colour, "size": 4, "opacity": 0.55},
        })  # fmt: skip
    figure = framed(traces, "first axis", "second axis", {})
    for axis in ("xaxis", "yaxis"):
        figure["layout"][axis] |= {"showticklabels": False, "zeroline": False}
    return figure


def lorenz(shares: Sequence[float], gini: float) -> Figure:
    """Show how unevenly retrieval is spread over the documents."""
    x = np.linspace(0, 1, len(shares)).round(3).tolist()
    traces = [
        _line(x, list(shares), f"this retriever (Gini {gini:.2f})", BAND_COLOURS["low"]),
        _line([0, 1], [0, 1], "all documents alike", "#c9ced6", dash="dash"),
    ]
    of_x = "share of documents, least retrieved first"
    return framed(traces, of_x, "share of retrievals", {}, yrange=[0, 1])


def _line(
    x: Sequence[float],
    y: Sequence[float],
    name: str,
    colour: str,
    *,
    markers: bool = False,
    dash: str = "solid",
) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers" if markers else "lines",
        "x": list(x),
        "y": np.round(y, 5).tolist(),
        "name": name,
        "line": {"color": colour, "width": 2.5, "dash": dash},
        "hovertemplate": "%{x:,}: %{y:.3f}<extra>" + name + "</extra>",
    }


def framed(
    data: list[Figure],
    x: str,
    y: str,
    layout: Figure,
    *,
    xrange: list[float] | None = None,
    yrange: list[float] | None = None,
) -> Figure:
    """Return a figure with the report's axes, titled x and y. `layout` goes over the common one."""
    axis = {"gridcolor": GRID, "automargin": True}
    return {
        "data": data,
        "layout": {
            "xaxis": axis | {"title": {"text": x}} | ({"range": xrange} if xrange else {}),
            "yaxis": axis | {"title": {"text": y}} | ({"range": yrange} if yrange else {}),
            "height": 320,
            "legend": {"orientation": "h", "y": 1.12, "x": 0},
            **layout,
        },
    }
