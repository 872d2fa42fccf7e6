"""The failure analysis' section: which modes dominate, every figure, and every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.generative.failures.references import cited, spelt_out
from argus.generative.failures.report import figures as charts
from argus.generative.failures.report.specs import SHOWN, named
from argus.generative.failures.report.tables import (
    alike,
    change,
    labels_of,
    missing,
    p_value,
    part_of,
    side_by_side,
)
from argus.reports.figures import Figure
from argus.reports.section import MAX_ROWS, Section, table

PREFIX, DIAGNOSIS = "failures_", "failure_diagnosis"
SHOWN_MODES = 4
"""Of a question, with their evidence; the file holds all."""
_COLUMNS = [
    "system", "pair", "query_id", "question", "outcome", "first_correct", "modes", "evidence",
]  # fmt: skip
_ORDER = {"failed": 0, "late": 1, "found at 1": 3}

Summary = Mapping[str, Any]


def section(folder: Path, summary: dict[str, Any]) -> Section:
    """Build it from summary.json and failure_diagnosis.parquet."""
    systems, k = summary["systems"], summary["k"]
    labels = labels_of([system["name"] for system in systems])
    figures = {label: s["figures"] for label, s in zip(labels, systems, strict=True)}
    plots, tables = _dominating(systems, labels)
    for shown in SHOWN:
        made = side_by_side(shown, figures, k)
        if made is not None:
            tables[f"{PREFIX}{shown.name}"] = made
            if made["chart"]:
                applied = {label: part[shown.part][shown.name] for label, part in figures.items()}
                plots[f"{PREFIX}{shown.name}"] = _chart(shown.chart, applied, k)
    tables |= _further(folder, summary, labels)
    unmeasured = missing(figures, k)
    if unmeasured:
        columns = {"figures": "text", "of": "text", "why": "text"}
        rows = unmeasured if len(systems) > 1 else [[what, why] for what, _, why in unmeasured]
        if len(systems) == 1:
            del columns["of"]
        tables[f"{PREFIX}missing"] = table(columns, rows)
    return Section(plots, tables, brief(systems, k))


def brief(systems: Sequence[Summary], k: int) -> str:
    """Return what it comes to, in one line."""
    told = []
    for system in systems:
        counts = system["questions"]
        leading = next((mode for mode in system["modes"] if mode["among_failed"]), None)
        first = ""
        if leading is not None:
            n = leading["measured_failed"]
            held = f"{round(leading['among_failed'] * n):,} of {n:,}"
            first = f"; “{leading['name']}” holds for {held} failed questions measured"
        told.append(
            f"{system['name']}: {counts['failed']:,} of {counts['judged']:,} questions have no "
            f"correct passage in the first {k}{first}"
        )
    return ". ".join(told)


def _chart(kind: str, given: Mapping[str, Any], k: int) -> Figure:
    found = {label: t for label, t in given.items() if "not_applicable" not in t}
    if kind == "positives":
        return charts.positives(found)
    if kind == "lengths":
        return charts.weight_by_length(found)
    if kind == "values":
        column = next(iter(found.values()))["columns"][0]
        return charts.hits_by_value(found, k, named(column, k))
    indicator = next(iter(found.values()))["indicator"]
    return charts.hits_by_decile(found, k, named(indicator, k))


def _dominating(
    systems: Sequence[Summary], labels: Sequence[str]
) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return a chart per system, all with the same modes in the same order, and their table.

    The order is the first system's; behind it comes what only the other has.
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


def _modes(systems: Sequence[Summary], labels: Sequence[str], names: Sequence[str]) -> Any:
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
        row = [name, category]
        for modes in by_name:
            mode = modes.get(name)
            row += [None] * 4 if mode is None else _mode(mode)
        rows.append(row)
    return table(columns, rows)


def _mode(mode: Summary) -> list[Any]:
    return [
        part_of(mode["among_failed"], mode["measured_failed"]),
        part_of(mode["among_found"], mode["measured_found"]),
        change(mode["difference"], mode["low"], mode["high"]),
        mode["leading"] if mode["measured_failed"] else None,
    ]


def _further(folder: Path, summary: Summary, labels: Sequence[str]) -> dict[str, Any]:
    """Return what is no figure: comparison, problems, questions, taxonomy."""
    systems, k = summary["systems"], summary["k"]
    tables = {
        f"{PREFIX}questions": _questions(folder, systems, labels),
        f"{PREFIX}taxonomy": _taxonomy(summary["taxonomy"]),
    }
    if any(system["problems"] for system in systems):
        tables[f"{PREFIX}problems"] = _problems(systems, labels)
    if summary["comparison"] is not None:
        tables[f"{PREFIX}comparison"] = _comparison(summary["comparison"], labels, k)
    return tables


def _comparison(compared: Summary, labels: Sequence[str], k: int) -> Any:
    difference = f"{labels[1]} - {labels[0]} (95% interval)"
    columns = {"figure": "text", "n": "count", **dict.fromkeys(labels, "said")}
    rows = []
    for values in compared["rows"]:
        row = dict(zip(compared["columns"], values, strict=True))
        told = change(row["difference"], row["low"], row["high"])
        sides = alike(row["first"], row["second"])
        rows.append([named(row["figure"], k), row["questions"], *sides, told, p_value(row["p"])])
    return table(columns | {difference: "text", "p": "text"}, rows)


def _problems(systems: Sequence[Summary], labels: Sequence[str]) -> Any:
    found: dict[str, list[Any]] = {}
    for i, system in enumerate(systems):
        for problem in system["problems"]:
            row = found.setdefault(problem["what"], [None] * (2 * len(systems)))
            row[2 * i : 2 * i + 2] = [problem["count"], problem["first"]]
    columns = {"what": "text"}
    for label in labels:
        columns |= {f"times {label}".strip(): "count", f"first {label}".strip(): "text"}
    return table(columns, [[what, *row] for what, row in found.items()])


def _taxonomy(modes: Sequence[Summary]) -> Any:
    """Return all modes of the taxonomy; works: what they cite, for the template."""
    columns = dict.fromkeys(
        ("mode", "category", "what goes wrong", "how it is told", "see"), "text"
    )
    rows = []
    for mode in modes:
        told = mode["indicator"]
        if mode["threshold_text"]:
            told = f"{told} Holds where {mode['threshold_text']}."
        if mode["needs"]:
            told = f"{told} Needs {mode['needs']}."
        see = spelt_out(mode["reference"])
        rows.append([mode["name"], mode["category"], mode["definition"], told, see])
    works = {work.number: work for mode in modes for work in cited(mode["reference"])}
    listed = [
        {"short": work.short, "title": work.title, "url": work.url}
        for _, work in sorted(works.items())
    ]
    return table(columns, rows) | {"works": listed}


def _questions(folder: Path, systems: Sequence[Summary], labels: Sequence[str]) -> Any:
    """Return every question with what became of it in each system; failed ones first.

    Rows of two systems with one `pair` are of one question, named as in the first of them.
    labels: what the systems are called in all columns, for the template.
    """
    rows = pq.read_table(folder / f"{DIAGNOSIS}.parquet", columns=_COLUMNS).to_pylist()
    places = {system["name"]: i for i, system in enumerate(systems)}
    asked: dict[tuple[str, int], list[Any]] = {}
    times: Counter[tuple[str, str]] = Counter()
    for row in rows:
        times[row["system"], row["pair"]] += 1  # a pair that a file has twice loses no row
        key = (row["pair"], times[row["system"], row["pair"]])
        asked.setdefault(key, [None] * len(systems))[places[row["system"]]] = row
    columns = {"id": "text", "question": "text"}
    for label in labels:
        columns |= {f"outcome {label}".strip(): "text", f"why {label}".strip(): "lines"}

    def worst(both: list[Any]) -> list[int]:
        return [2 if row is None else _ORDER.get(row["outcome"], 2) for row in both]

    ordered = sorted(asked.values(), key=worst)
    made = [
        [*_asked(both), *(cell for row in both for cell in _why(row))]
        for both in ordered[:MAX_ROWS]
    ]
    return table(columns, made, total=len(ordered)) | {"labels": list(labels)}


def _asked(both: Sequence[Summary | None]) -> list[str]:
    first = next(row for row in both if row is not None)
    return [first["query_id"], first["question"]]


def _why(row: Summary | None) -> list[str]:
    """Return outcome, and the leading modes with their evidence, a line each."""
    if row is None:
        return ["not asked", ""]
    outcome = row["outcome"]
    if outcome == "late" and row["first_correct"] is not None:
        outcome = f"late: rank {row['first_correct']}"
    elif outcome == "failed" and row["first_correct"] is not None:
        outcome = f"failed: rank {row['first_correct']}"
    pairs = list(zip(row["modes"] or (), row["evidence"] or (), strict=True))
    told = [
        f"{i}. {mode}: {' '.join(why.split())}"
        for i, (mode, why) in enumerate(pairs[:SHOWN_MODES], start=1)
    ]
    more = [f"and {len(pairs) - SHOWN_MODES} more"] if len(pairs) > SHOWN_MODES else []
    return [outcome, "\n".join([*told, *more])]
