"""ARGUS' figures over several retrievers, as plotly figure dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from argus.reports.figures import BAND_COLOURS, GRID, INK, Figure, framed
from argus.retrievability.figures.summary import FiguresSummary, PanelFigures, RetrieverFigures
from argus.retrievability.rps import Curve

COLOURS = (
    "#2a6fb0", "#c8442a", "#3c8d5a", "#d9a21b", "#7a52a8", "#1f9aa8", "#b0568a", "#6b7480",
)  # fmt: skip
"""Of retrievers, in their order; beyond, they come again with other dashes."""
DASHES = ("solid", "dash", "dot")
CHANCE = "#aab0ba"
CHANCE_NOTE = {
    "text": "dashed: k/N, a hit by chance", "x": 1, "y": 1, "xref": "paper", "yref": "paper",
    "xanchor": "right", "yanchor": "top", "showarrow": False, "font": {"size": 11, "color": INK},
}  # fmt: skip
REACH = 3.6
"""Spreads that a panel shows to each side; what lies further out is not drawn."""
BINS = 48
ROW, HEAD, FOOT = 290, 62, 20
"""Pixels of a row of panels, above the first, and below the last."""


def means(summary: FiguresSummary) -> Figure:
    """Mean RPS of every retriever, with its interval, in the order given (Figure 1, bottom)."""
    retrievers = summary["retrievers"]
    bars = {
        "type": "bar",
        "x": [one["name"] for one in retrievers],
        "y": [one["mean_rps"] for one in retrievers],
        "marker": {"color": [_colour(i) for i in range(len(retrievers))]},
        "text": [f"{one['mean_rps']:.3f}" for one in retrievers],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "error_y": {
            "type": "data", "symmetric": False, "color": INK, "thickness": 1.2,
            "array": [one["high"] - one["mean_rps"] for one in retrievers],
            "arrayminus": [one["mean_rps"] - one["low"] for one in retrievers],
        },
        "hovertemplate": "%{x}: %{y:.3f}<extra></extra>",
        "showlegend": False,
    }  # fmt: skip
    k, pool = summary["k"], summary["pools"][-1]
    layout = {
        "height": 380,
        "bargap": 0.45,
        "shapes": [_level(k / pool)],
        "annotations": [CHANCE_NOTE],
    }
    return framed([bars], "", f"mean RPS (k={k}, N={pool:,})", layout, yrange=[0, 1])


def over_pool(summary: FiguresSummary) -> Figure:
    """Share of entities with RPS above 0.5 as N grows, a line for each retriever (Figure 3)."""
    k = summary["k"]
    curves = [one["over_pool"] for one in summary["retrievers"]]
    sizes = sorted({n for curve in curves for n in curve["values"]})
    figure = _curves(summary, "over_pool", sizes, [k / n for n in sizes])
    figure["layout"]["xaxis"] |= {
        "title": {"text": f"candidates N (k={k})"}, "type": "log", "tickvals": sizes,
    }  # fmt: skip
    return figure


def over_k(summary: FiguresSummary) -> Figure:
    """Share of entities with RPS above 0.5 as more results are read (Figure 5)."""
    pool = summary["pools"][-1]
    curves = [one["over_k"] for one in summary["retrievers"]]
    sizes = sorted({k for curve in curves for k in curve["values"]})
    figure = _curves(summary, "over_k", sizes, [k / pool for k in sizes])
    figure["layout"]["xaxis"] |= {"title": {"text": f"results read, k (N={pool:,})"}}
    line = {"color": INK, "width": 1, "dash": "dot"}
    marker = {"type": "line", "x0": summary["k"], "x1": summary["k"], "y0": 0, "y1": 1}
    figure["layout"]["shapes"] = [marker | {"line": line}]
    return figure


def _curves(
    summary: FiguresSummary,
    name: Literal["over_pool", "over_k"],
    sizes: Sequence[int],
    chance: Sequence[float],
) -> Figure:
    lines = [
        _line(one["name"], one[name], i, markers=name == "over_pool")
        for i, one in enumerate(summary["retrievers"])
    ]
    by_chance = {
        "type": "scatter", "mode": "lines", "name": "k/N, a hit by chance", "x": list(sizes),
        "y": [round(value, 5) for value in chance],
        "line": {"color": CHANCE, "width": 2, "dash": "dash"},
        "hovertemplate": "%{x:,}: %{y:.3f}<extra>k/N</extra>",
    }  # fmt: skip
    axis = "share of entities with RPS above 0.5"
    return framed([*lines, by_chance], "", axis, {"height": 380}, yrange=[0, 1])


def _line(name: str, curve: Curve, number: int, *, markers: bool) -> Figure:
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    return {
        "type": "scatter",
        "mode": "lines+markers" if markers else "lines",
        "name": name,
        "x": curve["values"],
        "y": np.round(curve["share_above_half"], 5).tolist(),
        "line": {"color": _colour(number), "width": 2.5, "dash": dash},
        "hovertemplate": "%{x:,}: %{y:.3f}<extra>" + name + "</extra>",
    }


def panels(summary: FiguresSummary, points: pa.Table, names: Sequence[str]) -> Figure:
    """LDA projections: a row for each retriever in `names`, a column for each N (Figures 2 and 6).

    points: panels.parquet. Above each projection, how the groups lie along its first axis: counts,
    so that a group that grows is seen to grow.
    """
    rows = [one for one in summary["retrievers"] if one["name"] in names]
    grid = _Grid(len(rows), len(summary["pools"]))
    traces: list[Figure] = []
    layout: Figure = {"annotations": []}
    for r, one in enumerate(rows):
        for c, panel in enumerate(one["panels"]):
            place = grid.place(r, c)
            mine = pc.and_(
                pc.equal(points["retriever"], one["name"]), pc.equal(points["N"], panel["pool"])
            )
            traces += _panel(points.filter(mine), place, named=not traces)
            layout |= place.axes()
            layout["annotations"] += _captions(place, one, panel, summary)
    figure = framed(traces, "", "", layout | {"height": grid.height})
    figure["layout"] |= {"margin": {"l": 30, "r": 10, "t": HEAD, "b": FOOT}, "dragmode": "pan"}
    figure["layout"]["legend"] |= {"y": 1 + 30 / grid.height, "yanchor": "bottom"}
    figure["layout"]["legend"] |= {"itemsizing": "constant"}
    return figure


@dataclass(frozen=True)
class _Place:
    """Where a panel stands: its number, and its ends in shares of the figure."""

    number: int
    left: float
    right: float
    bottom: float
    top: float
    row: int
    column: int

    @property
    def split(self) -> float:
        """Where the projection ends and the counts along its first axis begin."""
        return self.bottom + 0.7 * (self.top - self.bottom)

    def axis(self, kind: str, *, counts: bool = False) -> str:
        """Return the name of an axis: "x" and "y" of the projection, "y" of its counts."""
        number = 2 * self.number + (2 if counts else 1)
        return kind if number == 1 else f"{kind}{number}"

    def axes(self) -> Figure:
        """Return the layout of both pairs of axes; they show no numbers, which mean nothing."""
        bare = {
            "showticklabels": False, "zeroline": False, "showgrid": False, "linecolor": GRID,
            "mirror": True, "showline": True, "ticks": "",
        }  # fmt: skip
        across, reach = [self.left, self.right], {"range": [-REACH, REACH]}
        halves = ((False, self.bottom, self.split), (True, self.split, self.top))
        axes: Figure = {}
        for counts, low, high in halves:
            x, y = (self.axis(kind, counts=counts) for kind in "xy")
            axes[f"xaxis{x[1:]}"] = {**bare, **reach, "domain": across, "anchor": y}
            axes[f"yaxis{y[1:]}"] = {
                **bare, **({"rangemode": "tozero"} if counts else reach),
                "domain": [low, high], "anchor": x,
            }  # fmt: skip
        return axes


@dataclass(frozen=True)
class _Grid:
    rows: int
    columns: int

    @property
    def height(self) -> int:
        return HEAD + FOOT + ROW * self.rows

    def place(self, row: int, column: int) -> _Place:
        gap, caption = 0.012, 0.11 / self.rows  # between columns; below each row
        width = (1 - gap * (self.columns - 1)) / self.columns
        left = column * (width + gap)
        top = 1 - row / self.rows
        bottom = top - 1 / self.rows + caption
        number = row * self.columns + column
        return _Place(number, left, left + width, bottom, top, row, column)


def _panel(points: pa.Table, place: _Place, *, named: bool) -> list[Figure]:
    """Return the points of each group, and their counts along the first axis."""
    groups = np.array(points["group"].to_pylist())
    x, y = points["x"].to_numpy(), points["y"].to_numpy()
    shown = points["shown"].to_numpy(zero_copy_only=False)
    names, rps = points["label"].to_pylist(), points["rps"].to_numpy()
    traces: list[Figure] = []
    for group, colour in BAND_COLOURS.items():
        common = {"legendgroup": group, "name": f"{group} RPS"}
        rows = np.flatnonzero((groups == group) & shown)
        traces.append({
            **common, "type": "scattergl", "mode": "markers", "showlegend": named,
            "x": x[rows].round(2).tolist(), "y": y[rows].round(2).tolist(),
            "xaxis": place.axis("x"), "yaxis": place.axis("y"),
            "text": [f"{str(names[i])[:40]} · {rps[i]:.2f}" for i in rows],
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"color": colour, "size": 3, "opacity": 0.5},
        })  # fmt: skip
        edges = np.linspace(-REACH, REACH, BINS + 1)
        counts, _ = np.histogram(x[groups == group], bins=edges)
        traces.append({
            **common, "type": "scatter", "mode": "lines", "showlegend": False,
            "x": ((edges[:-1] + edges[1:]) / 2).round(3).tolist(), "y": counts.tolist(),
            "xaxis": place.axis("x", counts=True), "yaxis": place.axis("y", counts=True),
            "fill": "tozeroy", "line": {"color": colour, "width": 1.2, "shape": "hvh"},
            "hovertemplate": "%{y:,} entities<extra></extra>",
        })  # fmt: skip
    return traces


def _captions(
    place: _Place, one: RetrieverFigures, panel: PanelFigures, summary: FiguresSummary
) -> list[Figure]:
    """Return what is said around a panel: N above, the retriever to the left, figures below."""
    counts: Mapping[str, int] = dict(panel["groups"]["counts"])  # type: ignore[arg-type]
    shares = " · ".join(f"{name} {counts[name] / panel['entities']:.0%}" for name in BAND_COLOURS)
    lda = panel["method"].split(" ")[0]
    if panel["accuracy"] is not None and panel["majority"] is not None:
        lda = f"held out {panel['accuracy']:.2f} (commonest {panel['majority']:.2f})"
    if panel["shrinkage"] is not None:
        lda += f", shrinkage {panel['shrinkage']:.2f}"
    middle = (place.left + place.right) / 2
    notes = [_text(middle, place.bottom, f"{shares}<br>{lda}", yanchor="top", size=10.5)]
    if place.row == 0:
        notes.append(_text(middle, 1, f"N = {panel['pool']:,}", yanchor="bottom", size=13))
    if place.column == 0:
        height = (place.bottom + place.top) / 2
        name = _text(0, height, f"<b>{one['name']}</b>", yanchor="middle", size=12)
        notes.append(name | {"xanchor": "right", "xshift": -8, "textangle": -90})
    return notes


def _text(x: float, y: float, text: str, *, yanchor: str, size: float) -> Figure:
    return {
        "x": round(x, 5), "y": round(y, 5), "xref": "paper", "yref": "paper", "text": text,
        "showarrow": False, "xanchor": "center", "yanchor": yanchor,
        "font": {"size": size, "color": INK},
    }  # fmt: skip


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _level(value: float) -> Figure:
    line = {"color": CHANCE, "width": 2, "dash": "dash"}
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1}
    return across | {"y0": value, "y1": value, "line": line}


Drawing = Callable[[FiguresSummary], Figure]
CURVES: Mapping[str, Drawing] = {
    "figure-1": means,
    "figure-3": over_pool,
    "figure-5": over_k,
}
"""The figures that are drawn of the summary alone, by the paper's numbers."""


def drawn(summary: FiguresSummary, points: pa.Table) -> dict[str, Figure]:
    """Return all figures by the paper's numbers.

    Figure 2 is of the retrievers with the lowest and the highest mean RPS, Figure 6 of all; with
    two retrievers or one they would be the same, and Figure 6 alone is there.
    """
    figures = {name: draw(summary) for name, draw in CURVES.items()}
    ordered = sorted(summary["retrievers"], key=lambda one: one["mean_rps"])
    names = [one["name"] for one in ordered]
    if len(names) > 2:
        figures["figure-2"] = panels(summary, points, [names[0], names[-1]])
    figures["figure-6"] = panels(summary, points, names)
    return dict(sorted(figures.items()))
