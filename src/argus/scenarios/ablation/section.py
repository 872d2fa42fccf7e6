"""The ablation in words: its headline, and its section of the report (SPIKE Table 3, Figure 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.evaluation.summary import interval
from argus.measures.coverage import coverage_words
from argus.measures.significance import with_interval
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import Section, Table, table
from argus.scenarios.ablation.config import DOCUMENTS, PLACEBO, SCENARIOS

_DIFFERENCE = {
    "difference": "text",
    "relative": "text",
    "95% interval": "text",
    "p": "text",
    "improved": "count",
    "harmed": "count",
}
# Orange to blue: told apart with any colour vision, and by their darkness from white.
DIVERGING = [[0, BAND_COLOURS["low"]], [0.5, "#ffffff"], [1, BAND_COLOURS["high"]]]
# Range of the colours either way, so that rounding is not drawn as a difference.
LEAST_RANGE = 0.01
_COLOURS = ("#2a6fb0", "#c8442a", "#3a8f5c", "#7a5195", "#d9a21b", "#12797a", "#8a4b2a", "#56606e")
LINES = len(_COLOURS)  # Types that have a line: those with the most questions.


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the usual cell, the best one and their doubts."""
    documents, whole = summary["documents"], summary["whole"]
    yield (
        f"{documents['with_scenarios']:,} of {documents['indexed']:,} documents "
        f"({documents['share']:.1%}) have scenarios; {whole['queries']:,} questions, "
        f"{summary['headline']}"
    )
    if covered := coverage_words(summary["coverage"]):
        yield f"a gain where {covered}"
    others = summary["profiles"]["of_other_documents"]
    if others:
        yield f"{others:,} profiles are of documents that the corpus does not hold"
    yield "whole corpus:"
    yield from _corpus(whole, summary["headline"])
    if summary["profiled"] is not None:
        yield "only documents with scenarios:"
        yield from _corpus(summary["profiled"], summary["headline"])
    yield from _types(summary)
    if summary["expansions"] is None:
        yield "document expansion: not applicable, neither --expansions nor --model was given"
        return
    for baseline, counts in summary["expansions"]["baselines"].items():
        reach = f"{counts['documents']:,} of {documents['indexed']:,} documents"
        state = "" if counts["documents"] else "failed: "
        yield f"{baseline}: {state}{reach} have any"


def _types(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the λ that is recommended for each type, on the documents with scenarios if told."""
    rows = summary.get("types", [])
    corpus = "profiled" if summary["profiled"] is not None else "whole"
    for row in rows:
        if row["corpus"] != corpus or row["weight"] is None:
            continue
        recommended, change = row["weight"]["recommended"], row["weight"]["to_usual"]
        few = ", few" if row["is_few"] else ""
        yield (
            f"{row['field']} = {row['type']} ({row['questions']:,} questions{few}): "
            f"{_cell(recommended)} recommended; best {row['weight']['best']['lambda']:g}, chosen "
            f"crosswise {with_interval(change)} to the usual"
        )


def _corpus(corpus: Mapping[str, Any], measure: str) -> Iterator[str]:
    best, usual = corpus["best"], corpus["usual"]
    for row in corpus["rows"]:
        name: str = row["system"]
        if row["system"] == "scenarios" or row["system"] == "placebo":
            cell: dict[str, Any] = {"component": row["component"], "lambda": row["lambda"]}
            if row["system"] == "scenarios" and cell not in (best, usual):
                continue
            name += f" {_cell(cell)}"
            if row["system"] == "scenarios" and cell == best:
                name += " (best, chosen on these questions)"
        change = f" ({_change(row['comparison'])})" if row["comparison"] else ""
        yield f"  {name}: {row['measures'][measure]:.4f}{change}"
    if tuned := corpus["tuned"]:
        difference = tuned["comparison"]
        yield (
            f"  chosen on {tuned['chosen_on']:,} questions: {_cell(tuned)}; on the other "
            f"{difference['queries']:,}: {difference['mean_before']:.4f} -> "
            f"{difference['mean_after']:.4f} ({_change(difference)})"
        )


def _cell(cell: Mapping[str, Any]) -> str:
    return f"{cell['component']} at λ = {cell['lambda']:g}"


def _change(change: Mapping[str, Any]) -> str:
    interval = (
        f"no interval: {change['no_interval']}"
        if change["low"] is None
        else f"95% {change['low']:+.4f} to {change['high']:+.4f}"
    )
    return (
        f"{change['mean_difference']:+.4f}, {interval}, p={change['p_value']:.3g}; "
        f"{change['improved']:,} improved, {change['harmed']:,} harmed"
    )


def section(folder: Path, ablation: Mapping[str, Any]) -> Section:
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


def cell_name(cell: Mapping[str, Any] | Mapping[str, Any]) -> str:
    """Return how a cell is called: "M+E, λ = 0.7"."""
    return f"{cell['component']}, λ = {cell['lambda']:g}"


def _brief(ablation: Mapping[str, Any]) -> str:
    whole = ablation["whole"]
    (usual,) = (row for row in _cells_of(whole) if _is(row, whole["usual"]))
    change = usual["comparison"]
    return (
        f"{cell_name(whole['usual'])}: {ablation['headline']} {change['mean_before']:.3f} → "
        f"{change['mean_after']:.3f} (95% interval of the difference "
        f"{interval(change['low'], change['high'], change['no_interval'])}); "
        f"{ablation['documents']['share']:.1%} of the documents have scenarios"
    )


def _systems(corpus: Mapping[str, Any], measure: str) -> Table:
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


def _cells(corpus: Mapping[str, Any], measures: list[str]) -> Table:
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


def _gaps(gaps: list[dict[str, Any]]) -> Table:
    columns = {"scenarios": "text", "against": "text", "theirs": "share", "own": "share"}
    rows = []
    for gap in gaps:
        change = gap["comparison"]
        difference, _, *rest = _difference(change)
        means = [change["mean_before"], change["mean_after"]]
        rows.append([cell_name(gap), gap["against"], *means, difference, *rest])
    kinds = {name: kind for name, kind in _DIFFERENCE.items() if name != "relative"}
    return table(columns | kinds, rows)


def _groups(groups: list[dict[str, Any]]) -> Table:
    words = {"all": "all have scenarios", "some": "some have", "none": "none has"}
    columns = {"relevant documents": "text", "questions": "count", "alone": "share"}
    rows = []
    for group in groups:
        change = group["comparison"]
        means = [change["mean_before"], change["mean_after"]]
        name = words[group["relevant_with_scenarios"]]
        rows.append([name, change["queries"], *means, *_difference(change)])
    return table(columns | {"with scenarios": "share"} | _DIFFERENCE, rows)


def _difference(change: Mapping[str, Any]) -> list[str | int]:
    relative = change["relative"]
    return [
        f"{change['mean_difference']:+.4f}",
        "–" if relative is None else f"{relative:+.1%}",
        interval(change["low"], change["high"], change["no_interval"]),
        f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else ""),
        change["improved"],
        change["harmed"],
    ]


def _alone(corpus: Mapping[str, Any], measure: str) -> float:
    (row,) = (row for row in corpus["rows"] if row["system"] == DOCUMENTS)
    return float(row["measures"][measure])


def _cells_of(corpus: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [row for row in corpus["rows"] if row["system"] == SCENARIOS]


def _is(row: Mapping[str, Any], cell: Mapping[str, Any]) -> bool:
    return (row["component"], row["lambda"]) == (cell["component"], cell["lambda"])


def components_by_weight(
    cells: Sequence[dict[str, Any]],
    measure: str,
    alone: float,
    marked: Sequence[tuple[dict[str, Any], str]],
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


def _mean(row: Mapping[str, Any], measure: str) -> str:
    text = f"{row['measures'][measure]:.3f}"
    return text if row["comparison"]["verdict"] else f"({text})"


def _in_words(change: Mapping[str, Any]) -> str:
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


def types_by_weight(rows: Sequence[dict[str, Any]], component: str) -> Figure:
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


def types_summary(rows: Sequence[dict[str, Any]]) -> Table:
    """Return a row per type: its questions, and its recommendation."""
    columns = {
        "type": "text", "documents": "count", "with scenarios": "count", "questions": "count",
        "alone": "share", "usual": "share", "λ recommended": "text", "best on these": "text",
        "chosen crosswise, to the usual": "text", "of any component": "text", "": "text",
    }  # fmt: skip
    return table(columns, [_row(row) for row in rows])


def _row(row: Mapping[str, Any]) -> list[str | float | None]:
    weight, cell = row["weight"], row["cell"]
    return [
        f"{row['field']} = {row['type']}", row["documents"], row["profiles"], row["questions"],
        row["alone"], row["usual"]["mean_after"] if row["usual"] else None,
        f"{weight['recommended']['lambda']:g}" if weight else "",
        f"{weight['best']['lambda']:g}" if weight else "",
        _crosswise(weight), cell_name(cell["recommended"]) if cell else "",
        "few" if row["is_few"] else "",
    ]  # fmt: skip


def _crosswise(recommendation: Mapping[str, Any] | None) -> str:
    if recommendation is None:
        return "fewer than two questions"
    change = recommendation["to_usual"]
    ends = interval(change["low"], change["high"], change["no_interval"])
    return f"{change['mean_difference']:+.3f} ({ends})"
