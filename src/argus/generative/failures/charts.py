"""Charts of the failure analysis: frequent modes, and hit rates along an indicator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from argus.generative.failures.aggregates import Table
from argus.reports.figures import BAND_COLOURS, Figure, framed

_OF_SYSTEM = (BAND_COLOURS["high"], BAND_COLOURS["low"], BAND_COLOURS["mid"], "#8a93a0")
_ROW_HEIGHT, _FRAME_HEIGHT = 40, 110
_GROUPS = (
    ("failed questions", "among_failed", "measured_failed", BAND_COLOURS["low"]),
    ("found questions", "among_found", "measured_found", BAND_COLOURS["high"]),
)


def dominating(modes: Sequence[dict[str, Any]], names: Sequence[str]) -> Figure:
    """Share of failed and of found questions in which each mode holds.

    modes: of one system, as in the summary. names: which of them, the first at the top. One that
    was not measured keeps its place without bars.
    """
    by_name = {mode["name"]: mode for mode in modes}
    listed = [by_name.get(name) for name in names]
    bars = [
        {
            "type": "bar", "orientation": "h", "name": name, "y": list(names),
            "x": [None if mode is None else mode[share] for mode in listed],
            "customdata": [0 if mode is None else mode[measured] for mode in listed],
            "marker": {"color": colour},
            "hovertemplate": "%{y}: %{x:.1%} of %{customdata:,}<extra>" + name + "</extra>",
        }
        for name, share, measured, colour in _GROUPS
    ]  # fmt: skip
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    height = _FRAME_HEIGHT + _ROW_HEIGHT * len(names)
    layout = {"barmode": "group", "bargap": 0.3, "height": height, "legend": legend}
    figure = framed(bars, "share of questions", "", layout, xrange=[0, 1.02])
    figure["layout"]["xaxis"] |= {"tickformat": ".0%"}
    figure["layout"]["yaxis"] |= {"type": "category", "autorange": "reversed", "showgrid": False}
    return figure


def hits(tables: Mapping[str, Table], k: int, indicator: str) -> Figure:
    """hits@1 and hits@k over the deciles of an indicator, or over the values of one that counts.

    tables: by the system's label, "" where there is only one. A colour per system.
    """
    column = next(iter(tables.values()))["columns"][0]
    measures = (("hit_1", "hits@1", "solid"), ("hit_k", f"hits@{k}", "dot"))
    if column == "decile":
        axis, hover = f"decile of {indicator}", "decile %{x} (%{customdata})"
    else:
        axis, hover = indicator, "%{x}: %{customdata} questions"

    def beside(row: Mapping[str, Any]) -> str:
        return f"{row['low']:,.4g} to {row['high']:,.4g}" if "low" in row else f"{row['n']:,}"

    lines = _lines(tables, column, measures, hover + ": %{y:.1%}", beside)
    figure = framed(lines, axis, "share of questions", {}, yrange=[0, 1.02])
    figure["layout"]["yaxis"] |= {"tickformat": ".0%"}
    return figure


def weight_by_length(tables: Mapping[str, Table]) -> Figure:
    """Mean weight of n-grams, whole and per token, by their number of tokens."""
    measures = (("mean_weight", "per n-gram", "solid"), ("weight_per_token", "per token", "dot"))
    lines = _lines(tables, "tokens", measures, "%{x} tokens: %{y:.4g}")
    figure = framed(lines, "tokens of an n-gram", "mean weight", {})
    figure["layout"]["xaxis"] |= {"type": "category"}
    return figure


def _lines(
    tables: Mapping[str, Table], column: str, measures: Sequence[tuple[str, str, str]], hover: str,
    beside: Callable[[Mapping[str, Any]], str] | None = None,
) -> list[Figure]:  # fmt: skip
    """Return a line per system and measure over a column. beside: a row's text in `customdata`."""
    lines = []
    for colour, (label, table) in zip(_OF_SYSTEM, tables.items(), strict=False):
        rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for field, measure, dash in measures:
            name = f"{measure} {label}".strip()
            lines.append(
                {
                    "type": "scatter", "mode": "lines+markers", "name": name,
                    "x": [row[column] for row in rows],
                    "y": [row[field] for row in rows],
                    **({"customdata": [beside(row) for row in rows]} if beside else {}),
                    "line": {"color": colour, "width": 2.5, "dash": dash},
                    "hovertemplate": hover + "<extra>" + name + "</extra>",
                }
            )  # fmt: skip
    return lines


def positives(tables: Mapping[str, Table]) -> Figure:
    """Questions per number of annotated positives. tables: the histogram by system."""
    bars = [
        {
            "type": "bar", "name": label,
            "x": [f"{low}" if low == high else f"{low}–{high}" for low, high, _ in table["rows"]],
            "y": [n for *_, n in table["rows"]],
            "marker": {"color": colour},
            "hovertemplate": "%{x} positives: %{y:,} questions<extra>" + label + "</extra>",
        }
        for colour, (label, table) in zip(_OF_SYSTEM, tables.items(), strict=False)
    ]  # fmt: skip
    layout = {"barmode": "group", "bargap": 0.1, "showlegend": len(tables) > 1}
    figure = framed(bars, "annotated positives", "questions", layout)
    figure["layout"]["xaxis"] |= {"type": "category"}
    return figure
