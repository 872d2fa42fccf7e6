"""The ablation's section by type of document (SPIKE Figure 6)."""

from __future__ import annotations

from collections.abc import Sequence

from argus.evaluation.summary import interval
from argus.reports.figures import INK, Figure, framed
from argus.reports.section import Table, table
from argus.scenarios.ablation.summary import Recommendation, TypeFigures
from argus.scenarios.figures import CellName

_COLOURS = ("#2a6fb0", "#c8442a", "#3a8f5c", "#7a5195", "#d9a21b", "#12797a", "#8a4b2a", "#56606e")
LINES = len(_COLOURS)
"""Types that have a line: those with the most questions."""


def types_by_weight(rows: Sequence[TypeFigures], component: str) -> Figure:
    """Return a line per type over λ: one component's difference from documents alone."""
    shown = sorted((row for row in rows if row["questions"]), key=lambda row: -row["questions"])
    traces = []
    for row, colour in zip(shown, _COLOURS, strict=False):
        cells = [cell for cell in row["grid"] if cell["component"] == component]
        cells.sort(key=lambda cell: cell["lambda"])
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"{row['field']} = {row['type']}",
                "x": [cell["lambda"] for cell in cells],
                "y": [round((c["mean"] or 0.0) - (row["alone"] or 0.0), 5) for c in cells],
                "line": {"color": colour, "width": 2.5},
                "hovertemplate": "λ = %{x}: %{y:+.3f}<extra>%{fullData.name}</extra>",
            }
        )
    zero = {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0,
        "line": {"color": INK, "width": 1, "dash": "dot"},
    }  # fmt: skip
    layout = {"legend": {"orientation": "v", "x": 1.02, "y": 1}, "shapes": [zero]}
    return framed(
        traces, "λ, the weight of the document's own score", "difference from documents alone",
        layout,
    )  # fmt: skip


def types_summary(rows: Sequence[TypeFigures]) -> Table:
    """Return a row per type: its questions, and its recommendation."""
    columns = {
        "type": "text", "documents": "count", "with scenarios": "count", "questions": "count",
        "alone": "share", "usual": "share", "λ recommended": "text", "best on these": "text",
        "chosen crosswise, to the usual": "text", "of any component": "text", "": "text",
    }  # fmt: skip
    return table(columns, [_row(row) for row in rows])


def _row(row: TypeFigures) -> list[str | float | None]:
    weight, cell = row["weight"], row["cell"]
    return [
        f"{row['field']} = {row['type']}", row["documents"], row["profiles"], row["questions"],
        row["alone"], row["usual"]["mean_after"] if row["usual"] else None,
        f"{weight['recommended']['lambda']:g}" if weight else "",
        f"{weight['best']['lambda']:g}" if weight else "",
        _crosswise(weight), _cell(cell["recommended"]) if cell else "",
        "few" if row["is_few"] else "",
    ]  # fmt: skip


def _crosswise(recommendation: Recommendation | None) -> str:
    if recommendation is None:
        return "fewer than two questions"
    change = recommendation["to_usual"]
    ends = interval(change["low"], change["high"], change["no_interval"])
    return f"{change['mean_difference']:+.3f} ({ends})"


def _cell(cell: CellName) -> str:
    return f"{cell['component']}, λ = {cell['lambda']:g}"
