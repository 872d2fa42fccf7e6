"""The ablation's section: components x λ, document expansion beside them, and the placebo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from argus.evaluation.summary import interval
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import Section, Table, table
from argus.scenarios.ablation.summary import (
    DOCUMENTS,
    PLACEBO,
    SCENARIOS,
    AblationSummary,
    CellName,
    CellRow,
    Comparison,
    CorpusSummary,
    Gap,
    Group,
)
from argus.scenarios.ablation.type_section import types_by_weight, types_summary

_DIFFERENCE = {
    "difference": "text",
    "relative": "text",
    "95% interval": "text",
    "p": "text",
    "improved": "count",
    "harmed": "count",
}


def section(folder: Path, ablation: AblationSummary) -> Section:
    """Build it from summary.json alone."""
    plots, tables, headline = {}, {}, ablation["headline"]
    for name, corpus in (("whole", ablation["whole"]), ("profiled", ablation["profiled"])):
        if corpus is None:
            continue
        plots[f"ablation_{name}"] = components_by_weight(
            _cells_of(corpus),
            headline,
            _alone(corpus, headline),
            [(corpus["best"], "solid"), (corpus["usual"], "dot")],
        )
        tables[f"ablation_{name}"] = _systems(corpus, headline)
        tables[f"ablation_{name}_cells"] = _cells(corpus, ablation["measures"])
        if corpus["gaps"]:
            tables[f"ablation_{name}_gaps"] = _gaps(corpus["gaps"])
    if len(ablation["groups"]) > 1:
        tables["ablation_groups"] = _groups(ablation["groups"])
    for name in ("whole", "profiled"):
        rows = [row for row in ablation.get("types", []) if row["corpus"] == name]
        if rows:
            component = ablation["whole"]["usual"]["component"]
            plots[f"ablation_types_{name}"] = types_by_weight(rows, component)
            tables[f"ablation_types_{name}"] = types_summary(rows)
    return Section(plots, tables, _brief(ablation))


def cell_name(cell: CellName | CellRow) -> str:
    """Return how a cell is called: "M+E, λ = 0.7"."""
    return f"{cell['component']}, λ = {cell['lambda']:g}"


def _brief(ablation: AblationSummary) -> str:
    whole = ablation["whole"]
    (usual,) = (row for row in _cells_of(whole) if _is(row, whole["usual"]))
    change = usual["comparison"]
    return (
        f"{cell_name(whole['usual'])}: {ablation['headline']} {change['mean_before']:.3f} → "
        f"{change['mean_after']:.3f} (95% interval of the difference "
        f"{interval(change['low'], change['high'], change['no_interval'])}); "
        f"{ablation['documents']['share']:.1%} of the documents have scenarios"
    )


def _systems(corpus: CorpusSummary, measure: str) -> Table:
    """SPIKE Table 3: documents alone, expanded documents, scenarios, and the placebo."""
    columns = {"system": "text", measure: "share"} | _DIFFERENCE
    rows: list[list[str | float | None]] = [
        [DOCUMENTS, _alone(corpus, measure), "", "", "", "", None, None]
    ]
    for row in corpus["rows"]:
        if row["system"] == "pseudo-queries" or row["system"] == "summary":
            name = f"documents + {row['system']}"
            rows.append([name, row["measures"][measure], *_difference(row["comparison"])])
    usual, best = corpus["usual"], corpus["best"]
    cells = [("", usual)] if usual == best else [("", usual), (" (best of the grid)", best)]
    named = [
        (f"scenarios: {cell_name(cell)}{what}", row)
        for what, cell in cells
        for row in _cells_of(corpus)
        if _is(row, cell)
    ]
    named += [
        (f"placebo: {cell_name(row)}, profiles of other documents", row)
        for row in corpus["rows"]
        if row["system"] == PLACEBO
    ]
    rows += [
        [name, row["measures"][measure], *_difference(row["comparison"])] for name, row in named
    ]
    return table(columns, rows)


def _cells(corpus: CorpusSummary, measures: list[str]) -> Table:
    columns = {"component": "text", "λ": "text"} | dict.fromkeys(measures, "share") | _DIFFERENCE
    rows = [
        [
            row["component"],
            f"{row['lambda']:g}",
            *[row["measures"][name] for name in measures],
            *_difference(row["comparison"]),
        ]
        for row in _cells_of(corpus)
    ]
    return table(columns, rows)


def _gaps(gaps: list[Gap]) -> Table:
    columns = {"scenarios": "text", "against": "text", "theirs": "share", "own": "share"}
    rows = []
    for gap in gaps:
        change = gap["comparison"]
        difference, _, *rest = _difference(change)
        means = [change["mean_before"], change["mean_after"]]
        rows.append([cell_name(gap), gap["against"], *means, difference, *rest])
    kinds = {name: kind for name, kind in _DIFFERENCE.items() if name != "relative"}
    return table(columns | kinds, rows)


def _groups(groups: list[Group]) -> Table:
    words = {"all": "all have scenarios", "some": "some have", "none": "none has"}
    columns = {"relevant documents": "text", "questions": "count", "alone": "share"}
    rows = []
    for group in groups:
        change = group["comparison"]
        means = [change["mean_before"], change["mean_after"]]
        name = words[group["relevant_with_scenarios"]]
        rows.append([name, change["queries"], *means, *_difference(change)])
    return table(columns | {"with scenarios": "share"} | _DIFFERENCE, rows)


def _difference(change: Comparison) -> list[str | int]:
    relative = change["relative"]
    return [
        f"{change['mean_difference']:+.4f}",
        "–" if relative is None else f"{relative:+.1%}",
        interval(change["low"], change["high"], change["no_interval"]),
        f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else ""),
        change["improved"],
        change["harmed"],
    ]


def _alone(corpus: CorpusSummary, measure: str) -> float:
    (row,) = (row for row in corpus["rows"] if row["system"] == DOCUMENTS)
    return row["measures"][measure]


def _cells_of(corpus: CorpusSummary) -> list[CellRow]:
    return [row for row in corpus["rows"] if row["system"] == SCENARIOS]


def _is(row: CellRow, cell: CellName) -> bool:
    return row["component"] == cell["component"] and row["lambda"] == cell["lambda"]


DIVERGING = [[0, BAND_COLOURS["low"]], [0.5, "#ffffff"], [1, BAND_COLOURS["high"]]]
"""Orange to blue: told apart with any colour vision, and by their darkness from white."""
LEAST_RANGE = 0.01
"""Range of the colours either way, so that rounding is not drawn as a difference."""


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
