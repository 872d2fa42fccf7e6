"""Figures of the probe's section: calibration and residuals (ARGUS Figure 7)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from argus.reports.figures import BAND_COLOURS, GRID, INK, Figure

CELLS = 40
"""Cells of the joint density along each axis."""


def density(labels: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64]) -> Figure:
    """Joint density of predicted (x) and measured (y) RPS; on the diagonal they agree."""
    edges = np.linspace(0, 1, CELLS + 1)
    counts, _, _ = np.histogram2d(labels, predicted, bins=[edges, edges])
    middles = ((edges[:-1] + edges[1:]) / 2).round(4).tolist()
    heat = {
        "type": "heatmap",
        "x": middles,
        "y": middles,
        # Counts span decades; the root shows the sparse cells, the hover says the count.
        "z": np.sqrt(counts).round(3).tolist(),
        "text": counts.astype(int).tolist(),
        "hovertemplate": "predicted %{x:.2f}, measured %{y:.2f}: %{text} entities<extra></extra>",
        "colorscale": [[0, "rgba(42,111,176,0)"], [1, BAND_COLOURS["high"]]],
        "showscale": False,
    }
    diagonal = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, 1],
        "y": [0, 1],
        "line": {"color": INK, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return _figure([heat, diagonal], "predicted RPS", "measured RPS", [0, 1], [0, 1])


def residuals(values: npt.NDArray[np.float64]) -> Figure:
    """Entities per residual, measured less predicted; a probe without bias centres on zero."""
    edges = np.linspace(-1, 1, 2 * CELLS + 1)
    counts, _ = np.histogram(values, bins=edges)
    bars = {
        "type": "bar",
        "x": ((edges[:-1] + edges[1:]) / 2).round(4).tolist(),
        "y": counts.tolist(),
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "about %{x:.2f}: %{y:,} entities<extra></extra>",
    }
    figure = _figure([bars], "measured − predicted RPS", "entities", [-1, 1], None)
    line = {"color": INK, "width": 1, "dash": "dot"}
    zero = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper", "line": line}
    figure["layout"] |= {"bargap": 0.04, "shapes": [zero]}
    return figure


def _figure(
    data: list[Figure], x: str, y: str, xrange: list[float], yrange: list[float] | None
) -> Figure:
    axis: dict[str, Any] = {"gridcolor": GRID, "linecolor": GRID, "zerolinecolor": GRID}
    axis |= {"automargin": True}
    return {
        "data": data,
        "layout": {
            "xaxis": axis | {"title": {"text": x}, "range": xrange},
            "yaxis": axis | {"title": {"text": y}} | ({"range": yrange} if yrange else {}),
            "margin": {"l": 56, "r": 16, "t": 12, "b": 48},
            "height": 320,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": "system-ui, sans-serif", "size": 13, "color": INK},
            "hoverlabel": {"bgcolor": "white"},
        },
    }
