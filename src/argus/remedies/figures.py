"""Figures of diagnosis and repair: predicted risk, and ranks before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.reports.figures import BAND_COLOURS, INK, MAX_POINTS, Figure, framed


def predicted_risk(edges: Sequence[float], entities: Sequence[int], tau: float) -> Figure:
    """Entities per predicted RPS; those in steps below τ are at risk."""
    bounds = np.array(edges)
    at_risk = bounds[1:] <= tau + 1e-9
    bars = {
        "type": "bar",
        "x": ((bounds[:-1] + bounds[1:]) / 2).round(4).tolist(),
        "y": list(entities),
        "width": np.diff(bounds).round(4).tolist(),
        "marker": {"color": [BAND_COLOURS["low" if low else "high"] for low in at_risk]},
        "hovertemplate": "predicted RPS about %{x:.2f}: %{y:,} entities<extra></extra>",
    }
    line = {"color": INK, "width": 1, "dash": "dot"}
    threshold = {"type": "line", "x0": tau, "x1": tau, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {"bargap": 0.04, "shapes": [threshold | {"line": line}]}
    return framed([bars], "predicted RPS", "entities", layout, xrange=[0, 1])


def ranks(before: Sequence[int], after: Sequence[int], names: Sequence[str]) -> Figure:
    """Rank of every repaired document for its risk queries; below the diagonal it rose."""
    evenly = np.linspace(0, len(before) - 1, min(len(before), MAX_POINTS))
    rows = evenly.astype(int).tolist()
    top = max([*before, *after, 10])
    points = {
        "type": "scattergl",
        "mode": "markers",
        "x": [before[i] for i in rows],
        "y": [after[i] for i in rows],
        "text": [names[i] for i in rows],
        "hovertemplate": "%{text}: rank %{x:,} → %{y:,}<extra></extra>",
        "marker": {"color": BAND_COLOURS["high"], "size": 5, "opacity": 0.45},
        "showlegend": False,
    }
    diagonal = {
        "type": "scatter",
        "mode": "lines",
        "x": [1, top],
        "y": [1, top],
        "line": {"color": INK, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    figure = framed([points, diagonal], "rank before", "rank after", {})
    for axis in ("xaxis", "yaxis"):
        figure["layout"][axis] |= {"type": "log"}
    return figure
