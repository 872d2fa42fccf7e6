"""The ablation's section: components x λ, document expansion beside them, and the placebo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argus.evaluation.section import interval
from argus.reports.section import Section, table
from argus.scenarios.ablation.figures import components_by_weight

CORPORA = ("whole", "profiled")
ALONE, SCENARIOS = "documents alone", "scenarios"
_DIFFERENCE = {
    "difference": "text",
    "relative": "text",
    "95% interval": "text",
    "p": "text",
    "improved": "count",
    "harmed": "count",
}
Rows = list[dict[str, Any]]


def section(folder: Path, ablation: dict[str, Any]) -> Section:
    """Build it from summary.json alone."""
    plots, tables = {}, {}
    for name in CORPORA:
        found = ablation[name]
        if found is None:
            continue
        plots[f"ablation_{name}"] = components_by_weight(
            _of(found["rows"], SCENARIOS),
            ablation["headline"],
            _alone(found, ablation["headline"]),
            [(found["best"], "solid"), (found["usual"], "dot")],
        )
        tables[f"ablation_{name}"] = _systems(found, ablation["headline"])
        tables[f"ablation_{name}_cells"] = _cells(found, ablation["measures"])
        if found["gaps"]:
            tables[f"ablation_{name}_gaps"] = _gaps(found["gaps"])
    if len(ablation["groups"]) > 1:
        tables["ablation_groups"] = _groups(ablation["groups"])
    return Section(plots, tables, _brief(ablation))


def cell_name(cell: dict[str, Any]) -> str:
    """Return how a cell is called: "M+E, λ = 0.7"."""
    return f"{cell['component']}, λ = {cell['lambda']:g}"


def _brief(ablation: dict[str, Any]) -> str:
    found = ablation["whole"]
    (usual,) = (row for row in _of(found["rows"], SCENARIOS) if _is(row, found["usual"]))
    change = usual["comparison"]
    return (
        f"{cell_name(found['usual'])}: {ablation['headline']} {change['mean_before']:.3f} → "
        f"{change['mean_after']:.3f} (95% interval of the difference "
        f"{interval(change['low'], change['high'], change['no_interval'])}); "
        f"{ablation['documents']['share']:.1%} of the documents have scenarios"
    )


def _systems(found: dict[str, Any], measure: str) -> Any:
    """SPIKE Table 3: documents alone, expanded documents, scenarios; and the placebo."""
    columns = {"system": "text", measure: "share"} | _DIFFERENCE
    names = {"pseudo-queries": "documents + pseudo-queries", "summary": "documents + summary"}
    named = [(names[r["system"]], r) for r in found["rows"] if r["system"] in names]
    usual, best = found["usual"], found["best"]
    chosen = [("", usual)] if usual == best else [("", usual), (" (best of the grid)", best)]
    named += [
        (f"scenarios: {cell_name(cell)}{what}", row)
        for what, cell in chosen
        for row in _of(found["rows"], SCENARIOS)
        if _is(row, cell)
    ]
    named += [
        (f"placebo: {cell_name(row)}, profiles of other documents", row)
        for row in _of(found["rows"], "placebo")
    ]
    rows: list[list[Any]] = [[ALONE, _alone(found, measure), "", "", "", "", None, None]]
    rows += [[name, row["measures"][measure], *_told(row["comparison"])] for name, row in named]
    return table(columns, rows)


def _cells(found: dict[str, Any], measures: list[str]) -> Any:
    columns = {"component": "text", "λ": "text"} | dict.fromkeys(measures, "share") | _DIFFERENCE
    rows = [
        [
            row["component"],
            f"{row['lambda']:g}",
            *[row["measures"][name] for name in measures],
            *_told(row["comparison"]),
        ]
        for row in _of(found["rows"], SCENARIOS)
    ]
    return table(columns, rows)


def _gaps(gaps: Rows) -> Any:
    columns = {"scenarios": "text", "against": "text", "theirs": "share", "own": "share"}
    rows = []
    for gap in gaps:
        change = gap["comparison"]
        difference, _, *rest = _told(change)
        means = [change["mean_before"], change["mean_after"]]
        rows.append([cell_name(gap), gap["against"], *means, difference, *rest])
    kinds = {name: kind for name, kind in _DIFFERENCE.items() if name != "relative"}
    return table(columns | kinds, rows)


def _groups(groups: Rows) -> Any:
    words = {"all": "all have scenarios", "some": "some have", "none": "none has"}
    columns = {"relevant documents": "text", "questions": "count", "alone": "share"}
    rows = []
    for group in groups:
        change = group["comparison"]
        means = [change["mean_before"], change["mean_after"]]
        name = words[group["relevant_with_scenarios"]]
        rows.append([name, change["queries"], *means, *_told(change)])
    return table(columns | {"with scenarios": "share"} | _DIFFERENCE, rows)


def _told(change: dict[str, Any]) -> list[Any]:
    relative = change["relative"]
    return [
        f"{change['mean_difference']:+.4f}",
        "–" if relative is None else f"{relative:+.1%}",
        interval(change["low"], change["high"], change["no_interval"]),
        f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else ""),
        change["improved"],
        change["harmed"],
    ]


def _alone(found: dict[str, Any], measure: str) -> float:
    (row,) = _of(found["rows"], ALONE)
    return float(row["measures"][measure])


def _of(rows: Rows, system: str) -> Rows:
    return [row for row in rows if row["system"] == system]


def _is(row: dict[str, Any], cell: dict[str, Any]) -> bool:
    return bool(row["component"] == cell["component"] and row["lambda"] == cell["lambda"])
