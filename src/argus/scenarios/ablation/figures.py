"""Figures of the scenario ablation: components x λ as a heat map (SPIKE Figure 6)."""

from __future__ import annotations

from collections.abc import Sequence

from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.scenarios.ablation.summary import CellName, CellRow, Comparison

DIVERGING = [[0, BAND_COLOURS["low"]], [0.5, "#ffffff"], [1, BAND_COLOURS["high"]]]
"""Orange to blue: told apart with any colour vision, and by their darkness from white."""
LEAST_RANGE = 0.01
"""Of the colours either way, so that rounding is not drawn as a difference."""


def components_by_weight(
    cells: Sequence[CellRow],
    measure: str,
    alone: float,
    marked: Sequence[tuple[CellName, str]],
) -> Figure:
    """Each cell with its mean, coloured by the difference from documents alone.

    cells: rows of the grid. Means without a verdict stand in brackets. marked: cells that get a
    frame, with its dash ("solid", "dot").
    """
    components = list(dict.fromkeys(row["component"] for row in cells))
    weights = sorted({row["lambda"] for row in cells})
    by_cell = {(row["component"], row["lambda"]): row for row in cells}
    rows = [[by_cell[c, w] for w in weights] for c in components]
    values = [[row["measures"][measure] - alone for row in line] for line in rows]
    widest = max(LEAST_RANGE, *(abs(v) for line in values for v in line))
    heat = {
        "type": "heatmap",
        "x": [f"{w:g}" for w in weights],
        "y": components,
        "z": [[round(v, 5) for v in line] for line in values],
        "zmin": -widest,
        "zmax": widest,
        "colorscale": DIVERGING,
        "colorbar": {"title": {"text": "difference"}, "thickness": 12, "tickformat": "+.2f"},
        "text": [[_mean(row, measure) for row in line] for line in rows],
        "texttemplate": "%{text}",
        "customdata": [[_in_words(row["comparison"]) for row in line] for line in rows],
        "hovertemplate": "%{y}, λ = %{x}: %{text}<br>%{customdata}<extra></extra>",
        "xgap": 2,
        "ygap": 2,
    }
    frames = [
        _frame(weights.index(cell["lambda"]), components.index(cell["component"]), dash)
        for cell, dash in marked
    ]
    figure = framed([heat], "λ, the weight of the document", "", {"shapes": frames})
    figure["layout"]["xaxis"] |= {"type": "category", "showgrid": False}
    figure["layout"]["yaxis"] |= {"type": "category", "autorange": "reversed", "showgrid": False}
    figure["layout"] |= {"height": 120 + 44 * len(components)}
    return figure


def _mean(row: CellRow, measure: str) -> str:
    text = f"{row['measures'][measure]:.3f}"
    return text if row["comparison"]["verdict"] else f"({text})"


def _in_words(change: Comparison) -> str:
    ends = (
        f"no interval: {change['no_interval']}"
        if change["low"] is None
        else f"95% interval {change['low']:+.3f} to {change['high']:+.3f}"
    )
    return (
        f"{change['mean_difference']:+.3f}, {ends}, p = {change['p_value']:.4f}; "
        f"{change['improved']} improved, {change['harmed']} harmed"
    )


def _frame(column: int, row: int, dash: str) -> Figure:
    """Return a frame around a cell, a shape of plotly's layout."""
    inset = 0.5 if dash == "solid" else 0.42
    return {
        "type": "rect",
        "x0": column - inset,
        "x1": column + inset,
        "y0": row - inset,
        "y1": row + inset,
        "line": {"color": INK, "width": 2, "dash": dash},
    }
