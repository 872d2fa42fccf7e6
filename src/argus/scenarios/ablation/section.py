"""The ablation in words: its headline, and its section of the report (SPIKE Table 3, Figure 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.measures.measures import coverage_words
from argus.measures.significance import change_words, ends_words, with_interval
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import Section, Table, table
from argus.scenarios.ablation.config import DOCUMENTS, PLACEBO, SCENARIOS
from argus.scenarios.tables import headings

_DIFFERENCE = headings(
    "difference: text; relative: text; 95% interval: text; p: text; improved: count; harmed: count"
)
_EXPANDED = ("pseudo-queries", "summary")
# Orange to blue: told apart with any colour vision, and by their darkness from white.
DIVERGING = [[0, BAND_COLOURS["low"]], [0.5, "#ffffff"], [1, BAND_COLOURS["high"]]]
# Range of the colours either way, so that rounding is not drawn as a difference.
LEAST_RANGE = 0.01
_COLOURS = ("#2a6fb0", "#c8442a", "#3a8f5c", "#7a5195", "#d9a21b", "#12797a", "#8a4b2a", "#56606e")


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
    if others := summary["profiles"]["of_other_documents"]:
        yield f"{others:,} profiles are of documents that the corpus does not hold"
    yield "whole corpus:"
    yield from _corpus_lines(whole, summary["headline"])
    if summary["profiled"] is not None:
        yield "only documents with scenarios:"
        yield from _corpus_lines(summary["profiled"], summary["headline"])
    corpus = "whole" if summary["profiled"] is None else "profiled"
    for row in summary.get("types", []):
        if row["corpus"] == corpus and (weight := row["weight"]) is not None:
            few = ", few" if row["is_few"] else ""
            yield (
                f"{row['field']} = {row['type']} ({row['questions']:,} questions{few}): "
                f"{_cell(weight['recommended'])} recommended; best {weight['best']['lambda']:g}, "
                f"chosen crosswise {with_interval(weight['to_usual'])} to the usual"
            )
    if summary["expansions"] is None:
        yield "document expansion: not applicable, neither --expansions nor --model was given"
        return
    for baseline, counts in summary["expansions"]["baselines"].items():
        reach = f"{counts['documents']:,} of {documents['indexed']:,} documents"
        state = "" if counts["documents"] else "failed: "
        yield f"{baseline}: {state}{reach} have any"


def _corpus_lines(corpus: Mapping[str, Any], measure: str) -> Iterator[str]:
    best, usual = corpus["best"], corpus["usual"]
    for row in corpus["rows"]:
        name: str = row["system"]
        if name in (SCENARIOS, PLACEBO):
            name += f" {_cell(row)}"
        if row["system"] == SCENARIOS:
            if not (_is(row, best) or _is(row, usual)):
                continue
            if _is(row, best):
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
    return f"{change_words(change)}; {change['improved']:,} improved, {change['harmed']:,} harmed"


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of summary.json alone."""
    plots, tables, measure = {}, {}, summary["headline"]
    usual = summary["whole"]["usual"]
    for name, corpus in (("whole", summary["whole"]), ("profiled", summary["profiled"])):
        if corpus is None:
            continue
        plots[f"ablation_{name}"] = _heat_map(corpus, measure)
        tables[f"ablation_{name}"] = _systems(corpus, measure)
        columns = headings("component: text; λ: text")
        columns |= dict.fromkeys(summary["measures"], "share") | _DIFFERENCE
        tables[f"ablation_{name}_cells"] = table(columns, [
            [row["component"], f"{row['lambda']:g}",
             *(row["measures"][name] for name in summary["measures"]),
             *_difference(row["comparison"])]
            for row in _cells_of(corpus)
        ])  # fmt: skip
        if corpus["gaps"]:
            tables[f"ablation_{name}_gaps"] = _gaps(corpus["gaps"])
        if rows := [row for row in summary.get("types", []) if row["corpus"] == name]:
            plots[f"ablation_types_{name}"] = _types_by_weight(rows, usual["component"])
            tables[f"ablation_types_{name}"] = _types(rows)
    if len(summary["groups"]) > 1:
        words = {"all": "all have scenarios", "some": "some have", "none": "none has"}
        columns = headings(
            "relevant documents: text; questions: count; alone: share; with scenarios: share"
        )
        rows = []
        for group in summary["groups"]:
            change, name = group["comparison"], words[group["relevant_with_scenarios"]]
            means = [change["mean_before"], change["mean_after"]]
            rows.append([name, change["queries"], *means, *_difference(change)])
        tables["ablation_groups"] = table(columns | _DIFFERENCE, rows)
    (change,) = (row["comparison"] for row in _cells_of(summary["whole"]) if _is(row, usual))
    brief = (
        f"{_cell_name(usual)}: {measure} {change['mean_before']:.3f} → "
        f"{change['mean_after']:.3f} (95% interval of the difference "
        f"{ends_words(change['low'], change['high'], change['no_interval'])}); "
        f"{summary['documents']['share']:.1%} of the documents have scenarios"
    )
    return Section(plots, tables, brief)


def _cell_name(cell: Mapping[str, Any]) -> str:
    return f"{cell['component']}, λ = {cell['lambda']:g}"


def _systems(corpus: Mapping[str, Any], measure: str) -> Table:
    """SPIKE Table 3: documents alone, expanded documents, scenarios, and the placebo."""
    usual, best = corpus["usual"], corpus["best"]
    chosen = [("", usual)] if usual == best else [("", usual), (" (best of the grid)", best)]
    runs = [(r, f"documents + {r['system']}") for r in corpus["rows"] if r["system"] in _EXPANDED]
    runs += [
        (row, f"scenarios: {_cell_name(cell)}{what}")
        for what, cell in chosen
        for row in _cells_of(corpus)
        if _is(row, cell)
    ]
    runs += [
        (row, f"placebo: {_cell_name(row)}, profiles of other documents")
        for row in corpus["rows"]
        if row["system"] == PLACEBO
    ]
    rows: list[list[Any]] = [[DOCUMENTS, _alone(corpus, measure), "", "", "", "", None, None]]
    rows += [[name, r["measures"][measure], *_difference(r["comparison"])] for r, name in runs]
    return table({"system": "text", measure: "share"} | _DIFFERENCE, rows)


def _gaps(gaps: Sequence[Mapping[str, Any]]) -> Table:
    columns = headings("scenarios: text; against: text; theirs: share; own: share") | _DIFFERENCE
    del columns["relative"]
    rows = []
    for gap in gaps:
        change = gap["comparison"]
        difference, _, *rest = _difference(change)
        means = [change["mean_before"], change["mean_after"]]
        rows.append([_cell_name(gap), gap["against"], *means, difference, *rest])
    return table(columns, rows)


def _difference(change: Mapping[str, Any]) -> list[str | int]:
    relative = change["relative"]
    return [
        f"{change['mean_difference']:+.4f}",
        "–" if relative is None else f"{relative:+.1%}",
        ends_words(change["low"], change["high"], change["no_interval"]),
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


def _heat_map(corpus: Mapping[str, Any], measure: str) -> Figure:
    """Return each cell with its mean, coloured by the difference from documents alone.

    Means without a verdict stand in brackets. The best cell has a solid frame, the usual one a
    dotted one.
    """
    cells, alone = _cells_of(corpus), _alone(corpus, measure)
    components = list(dict.fromkeys(row["component"] for row in cells))
    weights = sorted({row["lambda"] for row in cells})
    by_cell = {(row["component"], row["lambda"]): row for row in cells}
    rows = [[by_cell[c, w] for w in weights] for c in components]
    values = [[row["measures"][measure] - alone for row in line] for line in rows]
    widest = max(LEAST_RANGE, *(abs(v) for line in values for v in line))

    def mean(row: Mapping[str, Any]) -> str:
        text = f"{row['measures'][measure]:.3f}"
        return text if row["comparison"]["verdict"] else f"({text})"

    heat = {
        "type": "heatmap",
        "x": [f"{w:g}" for w in weights],
        "y": components,
        "z": [[round(v, 5) for v in line] for line in values],
        "zmin": -widest,
        "zmax": widest,
        "colorscale": DIVERGING,
        "colorbar": {"title": {"text": "difference"}, "thickness": 12, "tickformat": "+.2f"},
        "text": [[mean(row) for row in line] for line in rows],
        "texttemplate": "%{text}",
        "customdata": [[_in_words(row["comparison"]) for row in line] for line in rows],
        "hovertemplate": "%{y}, λ = %{x}: %{text}<br>%{customdata}<extra></extra>",
        "xgap": 2,
        "ygap": 2,
    }
    frames = []
    for cell, dash, inset in ((corpus["best"], "solid", 0.5), (corpus["usual"], "dot", 0.42)):
        x, y = weights.index(cell["lambda"]), components.index(cell["component"])
        ends = {"x0": x - inset, "x1": x + inset, "y0": y - inset, "y1": y + inset}
        frames.append({"type": "rect", **ends, "line": {"color": INK, "width": 2, "dash": dash}})
    figure = framed([heat], "λ, the weight of the document", "", {"shapes": frames})
    figure["layout"]["xaxis"] |= {"type": "category", "showgrid": False}
    figure["layout"]["yaxis"] |= {"type": "category", "autorange": "reversed", "showgrid": False}
    figure["layout"] |= {"height": 120 + 44 * len(components)}
    return figure


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


def _types_by_weight(rows: Sequence[Mapping[str, Any]], component: str) -> Figure:
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
    name = "λ, the weight of the document's own score"
    return framed(traces, name, "difference from documents alone", layout)


def _types(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a row per type: its questions, and its recommendation."""
    columns = headings(
        "type: text; documents: count; with scenarios: count; questions: count; alone: share; "
        "usual: share; λ recommended: text; best on these: text; "
        "chosen crosswise, to the usual: text; of any component: text; : text"
    )
    cells = []
    for row in rows:
        recommended, best, crosswise = "", "", "fewer than two questions"
        if weight := row["weight"]:
            change = weight["to_usual"]
            ends = ends_words(change["low"], change["high"], change["no_interval"])
            crosswise = f"{change['mean_difference']:+.3f} ({ends})"
            recommended, best = (f"{weight[name]['lambda']:g}" for name in ("recommended", "best"))
        cells.append([
            f"{row['field']} = {row['type']}", row["documents"], row["profiles"],
            row["questions"], row["alone"], row["usual"]["mean_after"] if row["usual"] else None,
            recommended, best, crosswise,
            _cell_name(row["cell"]["recommended"]) if row["cell"] else "",
            "few" if row["is_few"] else "",
        ])  # fmt: skip
    return table(columns, cells)
