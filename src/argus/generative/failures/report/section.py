"""Section of the failure analysis: frequent modes, every figure, and every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.generative.failures.report import figures as charts
from argus.generative.failures.report.tables import (
    SHOWN,
    Shown,
    alike,
    change,
    labels_of,
    missing,
    named,
    p_value,
    part_of,
    side_by_side,
)
from argus.generative.failures.tables.rows import Value, has_rows, is_deciles
from argus.generative.failures.taxonomy import cited, spelt_out
from argus.reports.figures import Figure
from argus.reports.section import MAX_ROWS, Section, Table, table

PREFIX, DIAGNOSIS = "failures_", "failure_diagnosis"
SHOWN_MODES = 4
"""Modes shown of a question, with their evidence. The file holds all."""
_COMPARED = ("first", "second", "difference", "low", "high", "p")
_ORDER = {"failed": 0, "late": 1, "found at 1": 3}


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build it from summary.json and failure_diagnosis.parquet."""
    systems, k = summary["systems"], summary["k"]
    labels = labels_of([system["name"] for system in systems])
    figures = {label: s["figures"] for label, s in zip(labels, systems, strict=True)}
    plots, tables = _dominating(systems, labels)
    for shown in SHOWN:
        page_table = side_by_side(shown, figures, k)
        if page_table is not None:
            tables[f"{PREFIX}{shown.name}"] = page_table
            if page_table["chart"]:
                plots[f"{PREFIX}{shown.name}"] = _chart(shown, figures, k)
    tables |= _further(folder, summary, labels)
    unmeasured = missing(figures, k)
    if unmeasured:
        columns = {"figures": "text", "of": "text", "why": "text"}
        rows = unmeasured if len(systems) > 1 else [[what, why] for what, _, why in unmeasured]
        if len(systems) == 1:
            del columns["of"]
        tables[f"{PREFIX}missing"] = table(columns, rows)
    return Section(plots, tables, brief(systems, k))


def brief(systems: Sequence[dict[str, Any]], k: int) -> str:
    """Return the result in one line."""
    sentences = []
    for system in systems:
        counts = system["questions"]
        leading = next((mode for mode in system["modes"] if mode["among_failed"]), None)
        first = ""
        if leading is not None:
            n = leading["measured_failed"]
            holding = f"{round((leading['among_failed'] or 0) * n):,} of {n:,}"
            first = f"; “{leading['name']}” holds for {holding} failed questions measured"
        sentences.append(
            f"{system['name']}: {counts['failed']:,} of {counts['judged']:,} questions have no "
            f"correct passage in the first {k}{first}"
        )
    return ". ".join(sentences)


def _chart(shown: Shown, figures: Mapping[str, dict[str, Any]], k: int) -> Figure:
    tables = {label: of_system[shown.part][shown.name] for label, of_system in figures.items()}
    grids = {label: t for label, t in tables.items() if has_rows(t)}
    if shown.chart == "positives":
        return charts.positives(grids)
    if shown.chart == "lengths":
        return charts.weight_by_length(grids)
    first = next(iter(grids.values()))
    if is_deciles(first):
        return charts.hits_by_decile(grids, k, named(first["indicator"], k))
    return charts.hits_by_value(grids, k, named(first["columns"][0], k))


def _dominating(
    systems: Sequence[dict[str, Any]], labels: Sequence[str]
) -> tuple[dict[str, Figure], dict[str, Table]]:
    """Return a chart per system, all with the same modes in the same order, and their table.

    The order is the first system's. Modes that only the other has follow.
    """
    names = list(
        dict.fromkeys(
            mode["name"]
            for system in systems
            for mode in system["modes"]
            if mode["among_failed"] is not None or mode["among_found"] is not None
        )
    )
    if not names:
        return {}, {}
    plots = {
        f"{PREFIX}modes_{i}": charts.dominating(system["modes"], names)
        for i, system in enumerate(systems)
    }
    return plots, {f"{PREFIX}modes": _modes(systems, labels, names)}


def _modes(systems: Sequence[dict[str, Any]], labels: Sequence[str], names: Sequence[str]) -> Table:
    columns = {"mode": "text", "category": "text"}
    for label in labels:
        for heading, kind in (
            ("failed", "said"), ("found", "said"), ("difference", "text"), ("leads", "count"),
        ):  # fmt: skip
            columns[f"{heading} {label}".strip()] = kind
    by_name = [{mode["name"]: mode for mode in system["modes"]} for system in systems]
    rows = []
    for name in names:
        category = next(modes[name]["category"] for modes in by_name if name in modes)
        cells = [_mode(modes.get(name)) for modes in by_name]
        rows.append([name, category, *(cell for of_system in cells for cell in of_system)])
    return table(columns, rows)


def _mode(mode: dict[str, Any] | None) -> list[object]:
    if mode is None:
        return [None] * 4
    return [
        part_of(mode["among_failed"], mode["measured_failed"]),
        part_of(mode["among_found"], mode["measured_found"]),
        change(mode["difference"], mode["low"], mode["high"]),
        mode["leading"] if mode["measured_failed"] else None,
    ]


def _further(folder: Path, summary: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Table]:
    """Return the other parts: comparison, problems, questions, taxonomy."""
    systems, k = summary["systems"], summary["k"]
    tables: dict[str, Table] = {
        f"{PREFIX}questions": _questions(folder, systems, labels),
        f"{PREFIX}taxonomy": _taxonomy(summary["taxonomy"]),
    }
    if any(system["problems"] for system in systems):
        tables[f"{PREFIX}problems"] = _problems(systems, labels)
    compared = summary["comparison"]
    if compared is not None:
        tables[f"{PREFIX}comparison"] = _comparison(compared, labels, k)
    return tables


def _comparison(compared: dict[str, Any], labels: Sequence[str], k: int) -> Table:
    difference = f"{labels[1]} - {labels[0]} (95% interval)"
    columns = {"figure": "text", "n": "count", **dict.fromkeys(labels, "said")}
    rows = []
    for values in compared["rows"]:
        row = dict(zip(compared["columns"], values, strict=True))
        first, second, by, low, high, p = (number(row[name]) for name in _COMPARED)
        cells = [*alike(first, second), change(by, low, high), p_value(p)]
        rows.append([named(row["figure"], k), row["questions"], *cells])
    return table(columns | {difference: "text", "p": "text"}, rows)


def number(value: Value) -> float | None:
    """Return a number of a table. None for other values."""
    return value if isinstance(value, int | float) else None


def _problems(systems: Sequence[dict[str, Any]], labels: Sequence[str]) -> Table:
    by_kind: dict[str, list[object]] = {}
    for i, system in enumerate(systems):
        for problem in system["problems"]:
            row = by_kind.setdefault(problem["what"], [None] * (2 * len(systems)))
            row[2 * i : 2 * i + 2] = [problem["count"], problem["first"]]
    columns = {"what": "text"}
    for label in labels:
        columns |= {f"times {label}".strip(): "count", f"first {label}".strip(): "text"}
    return table(columns, [[what, *row] for what, row in by_kind.items()])


def _taxonomy(modes: Sequence[dict[str, Any]]) -> Table:
    columns = dict.fromkeys(
        ("mode", "category", "what goes wrong", "how it is told", "see"), "text"
    )
    rows = []
    for mode in modes:
        how = mode["indicator"]
        if mode["threshold_text"]:
            how = f"{how} Holds where {mode['threshold_text']}."
        if mode["needs"]:
            how = f"{how} Needs {mode['needs']}."
        see = spelt_out(mode["reference"])
        rows.append([mode["name"], mode["category"], mode["definition"], how, see])
    works = {work.number: work for mode in modes for work in cited(mode["reference"])}
    listed = [
        {"short": work.short, "title": work.title, "url": work.url}
        for _, work in sorted(works.items())
    ]
    return {**table(columns, rows), "works": listed}


def _questions(folder: Path, systems: Sequence[dict[str, Any]], labels: Sequence[str]) -> Table:
    """Return every question with its outcome in each system. Failed ones first.

    Rows of two systems with one `pair` are of one question, named as in the first of them.
    """
    rows = read_table(folder / f"{DIAGNOSIS}.parquet").to_pylist()
    places = {system["name"]: i for i, system in enumerate(systems)}
    sides: dict[tuple[str, int], list[dict[str, Any] | None]] = {}
    times: Counter[tuple[str, str]] = Counter()
    for row in rows:
        times[row["system"], row["pair"]] += 1  # a pair that a file has twice loses no row
        key = (row["pair"], times[row["system"], row["pair"]])
        sides.setdefault(key, [None] * len(systems))[places[row["system"]]] = row
    columns = {"id": "text", "question": "text"}
    for label in labels:
        columns |= {f"outcome {label}".strip(): "text", f"why {label}".strip(): "lines"}

    def worst(both: list[dict[str, Any] | None]) -> list[int]:
        return [2 if row is None else _ORDER.get(row["outcome"], 2) for row in both]

    ordered = sorted(sides.values(), key=worst)
    cells = [
        [*_name(both), *(cell for row in both for cell in _why(row))] for both in ordered[:MAX_ROWS]
    ]
    return {**table(columns, cells, total=len(ordered)), "labels": list(labels)}


def _name(both: Sequence[dict[str, Any] | None]) -> list[str]:
    first = next(row for row in both if row is not None)
    return [first["query_id"], first["question"]]


def _why(row: dict[str, Any] | None) -> list[str]:
    """Return outcome, and the leading modes with their evidence, a line each."""
    if row is None:
        return ["not asked", ""]
    outcome = row["outcome"]
    if outcome == "late" and row["first_correct"] is not None:
        outcome = f"late: rank {row['first_correct']}"
    elif outcome == "failed" and row["first_correct"] is not None:
        outcome = f"failed: rank {row['first_correct']}"
    pairs = list(zip(row["modes"] or (), row["evidence"] or (), strict=True))
    lines = [
        f"{i}. {mode}: {' '.join(why.split())}"
        for i, (mode, why) in enumerate(pairs[:SHOWN_MODES], start=1)
    ]
    more = [f"and {len(pairs) - SHOWN_MODES} more"] if len(pairs) > SHOWN_MODES else []
    return [outcome, "\n".join([*lines, *more])]
