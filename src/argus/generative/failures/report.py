"""Section of the failure analysis: frequent modes, every figure, and every question.

Each table of figures stands once, with the systems side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.generative.failures.aggregates import Table, Value
from argus.generative.failures.tables import Shown, declared, is_missing
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import MAX_ROWS, Section, table
from argus.reports.section import Table as PageTable

PREFIX, DIAGNOSIS = "failures_", "failure_diagnosis"
SHOWN_MODES = 4
"""Modes shown of a question, with their evidence. The file holds all."""
_NONE = "–"
_DASH, _TO = "–\u2060", "\u00a0to\u00a0"  # lines do not break there
_NARROW = 4
"""Columns of a table that half of the page is enough for."""


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build it from summary.json and failure_diagnosis.parquet."""
    systems, k = summary["systems"], summary["k"]
    labels = [system["name"] for system in systems] if len(systems) > 1 else [""]
    figures = {label: s["figures"] for label, s in zip(labels, systems, strict=True)}
    plots: dict[str, Figure] = {}
    tables: dict[str, Any] = {}
    measured = [[mode for mode in system["modes"] if mode["measured"]] for system in systems]
    if any(measured):
        for i, modes in enumerate(measured):
            plots[f"{PREFIX}modes_{i}"] = dominating(modes)
        tables[f"{PREFIX}modes"] = _listed(
            {
                "mode": "text", "category": "text", "failed": "said", "found": "said",
                "difference": "text", "leads": "count",
            },
            [(label, _mode(one)) for label, of in zip(labels, measured, strict=True) for one in of],
        )  # fmt: skip
    for shown in declared()["table"]:
        of_systems = {label: own[shown.section][shown.name] for label, own in figures.items()}
        if not all(map(is_missing, of_systems.values())):
            tables[f"{PREFIX}{shown.name}"] = _page(shown, of_systems, k)
            if shown.deciles:
                grids = {label: t for label, t in of_systems.items() if not is_missing(t)}
                plots[f"{PREFIX}{shown.name}"] = hits(grids, k, named(shown.deciles, k))
    tables[f"{PREFIX}questions"] = _questions(folder, systems, labels)
    tables[f"{PREFIX}taxonomy"] = _taxonomy(summary["taxonomy"])
    problems = [
        (label, [problem["what"], problem["count"], problem["first"]])
        for label, system in zip(labels, systems, strict=True)
        for problem in system["problems"]
    ]
    if problems:
        tables[f"{PREFIX}problems"] = _listed(
            {"what": "text", "times": "count", "first": "text"}, problems
        )
    if summary["comparison"] is not None:
        tables[f"{PREFIX}comparison"] = _comparison(summary["comparison"], labels, k)
    missing = [
        (label, [shown.heading.format(k=k), own[shown.section][shown.name]["not_applicable"]])
        for shown in declared()["table"]
        for label, own in figures.items()
        if is_missing(own[shown.section][shown.name])
    ]
    if missing:
        tables[f"{PREFIX}missing"] = _listed({"figure": "text", "why": "text"}, missing)
    return Section(plots, tables, ". ".join(_brief(system, k) for system in systems))


def _brief(system: Mapping[str, Any], k: int) -> str:
    counts = system["questions"]
    leading = next((mode for mode in system["modes"] if mode["among_failed"]), None)
    first = ""
    if leading is not None:
        n = leading["measured_failed"]
        holding = f"{round((leading['among_failed'] or 0) * n):,} of {n:,}"
        first = f"; “{leading['name']}” holds for {holding} failed questions measured"
    return (
        f"{system['name']}: {counts['failed']:,} of {counts['judged']:,} questions have no "
        f"correct passage in the first {k}{first}"
    )


def _listed(
    columns: Mapping[str, str], rows: Sequence[tuple[str, list[Any]]], total: int | None = None
) -> PageTable:
    """Return a table whose first column is the system where there are two. rows: label, cells."""
    if not any(label for label, _ in rows):
        return table(columns, [cells for _, cells in rows], total=total)
    both = [[label, *cells] for label, cells in rows]
    return table({"system": "text", **columns}, both, total=total)


def _mode(mode: Mapping[str, Any]) -> list[Any]:
    return [
        mode["name"],
        mode["category"],
        _part_of(mode["among_failed"], mode["measured_failed"]),
        _part_of(mode["among_found"], mode["measured_found"]),
        _change(mode["difference"], mode["low"], mode["high"]),
        mode["leading"] if mode["measured_failed"] else None,
    ]


def _comparison(compared: dict[str, Any], labels: Sequence[str], k: int) -> PageTable:
    difference = f"{labels[1]} - {labels[0]} (95% interval)"
    columns = {"figure": "text", "n": "count", **dict.fromkeys(labels, "said")}
    rows = []
    for values in compared["rows"]:
        row = dict(zip(compared["columns"], values, strict=True))
        both = row["first"], row["second"]
        means = [None if n is None else [_words(n), n] for n in both]
        change = _change(row["difference"], row["low"], row["high"])
        rows.append([named(row["figure"], k), row["questions"], *means, change, _p(row["p"])])
    return table(columns | {difference: "text", "p": "text"}, rows)


def _taxonomy(modes: Sequence[dict[str, Any]]) -> PageTable:
    """Return all modes of failure."""
    headings = ("mode", "category", "what goes wrong", "how it is told", "see")
    rows = []
    for mode in modes:
        how = mode["indicator"]
        if mode["threshold_text"]:
            how = f"{how} Holds where {mode['threshold_text']}."
        if mode["needs"]:
            how = f"{how} Needs {mode['needs']}."
        rows.append([mode["name"], mode["category"], mode["definition"], how, mode["reference"]])
    return table(dict.fromkeys(headings, "text"), rows)


def _questions(folder: Path, systems: Sequence[dict[str, Any]], labels: Sequence[str]) -> PageTable:
    """Return every question of each system with its outcome. Failed ones first."""
    of_system = dict(zip((system["name"] for system in systems), labels, strict=True))
    order = {"failed": 0, "late": 1, "found at 1": 3}
    rows = read_table(folder / f"{DIAGNOSIS}.parquet").to_pylist()
    rows.sort(key=lambda row: (order.get(row["outcome"], 2), row["pair"]))
    cells = [
        (of_system[row["system"]], [row["query_id"], row["question"], *_why(row)])
        for row in rows[:MAX_ROWS]
    ]
    columns = {"id": "text", "question": "text", "outcome": "text", "why": "lines"}
    return _listed(columns, cells, len(rows))


def _why(row: dict[str, Any]) -> list[str]:
    """Return outcome, and the leading modes with their evidence, a line each."""
    outcome = row["outcome"]
    if outcome in ("late", "failed") and row["first_correct"] is not None:
        outcome = f"{outcome}: rank {row['first_correct']}"
    pairs = list(zip(row["modes"] or (), row["evidence"] or (), strict=True))
    lines = [
        f"{i}. {mode}: {' '.join(why.split())}"
        for i, (mode, why) in enumerate(pairs[:SHOWN_MODES], start=1)
    ]
    more = [f"and {len(pairs) - SHOWN_MODES} more"] if len(pairs) > SHOWN_MODES else []
    return [outcome, "\n".join([*lines, *more])]


def _page(shown: Shown, tables: Mapping[str, Table], k: int) -> dict[str, Any]:
    """Return one table of all systems, with group, heading and text, and whether it has a chart.

    tables: by the system's label, "" for one alone. The ends of an interval stand in one cell.
    """
    kinds: dict[str, str] = {}
    lines: list[dict[str, object]] = []
    sentences = [shown.text.format(k=k)]
    for label, of_system in tables.items():
        if is_missing(of_system):
            continue
        if shown.deciles:
            mean, sigma = _words(of_system["mean"]), _words(of_system["sigma"])
            sentences.append(f"{label + ': mean' if label else 'Mean'} {mean}, σ {sigma}.")
        single = [name for name in of_system if name not in ("columns", "rows")]
        columns = of_system.get("columns", single)
        for values in of_system.get("rows", [[of_system[name] for name in single]]):
            row = dict(zip(columns, values, strict=True))
            cells: dict[str, object] = {"system": label} if label else {}
            for name, value in row.items():
                if name.endswith("low"):
                    ends = value, row[f"{name[:-3]}high"]
                    of = "range" if shown.deciles and name == "low" else f"95% {name[:-4]}".strip()
                    cells[named(of, k)] = _NONE if None in ends else span(*ends)
                elif not name.endswith("high"):
                    cells[named(name, k)] = _value(name, value, k)
            for heading, cell in cells.items():
                if cell is not None:
                    kinds[heading] = "text" if isinstance(cell, str) else "count"
                else:
                    kinds.setdefault(heading, "text")
            lines.append(cells)
    return {
        **table(kinds, [[line.get(heading) for heading in kinds] for line in lines]),
        "group": shown.group or shown.section,
        "heading": shown.heading.format(k=k),
        "text": " ".join(sentences),
        "chart": bool(shown.deciles),
        "small": len(kinds) <= _NARROW,
    }


def _value(column: str, value: Value, k: int) -> object:
    """Return a cell: a name in words, or a number of four digits."""
    if isinstance(value, str):
        own: str | None = declared()["column_names"].get(column, {}).get(value)
        return own or named(value, k)
    return float(f"{value:.4g}") if isinstance(value, float) else value


def named(name: Value, k: int) -> str:
    """Return how something in the figures is called. Its own name where it has no other."""
    return declared()["names"].get(name, name).format(k=k) if isinstance(name, str) else str(name)


def _part_of(share: float | None, n: int) -> list[Value]:
    """Return a share of n questions in words, for a column to sort by."""
    if share is None:
        return [_NONE, None]
    return [f"{share:.0%} ({round(share * n):,}\u00a0of\u00a0{n:,})", share]


def _words(number: Value) -> str:
    if number is None or isinstance(number, str):
        return _NONE if number is None else number
    if float(number).is_integer() or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) >= 1 else f"{number:.3f}"


def span(low: float, high: float) -> str:
    """Return a range in words."""
    return (_DASH if low >= 0 else _TO).join((_words(low), _words(high)))


def _signed(*values: float) -> str:
    return _TO.join(
        f"{value:+,.0f}" if abs(value) >= 1000 else f"{round(value, 3) + 0.0:+.3f}"
        for value in values
    )


def _change(difference: float | str | None, low: float | None, high: float | None) -> str:
    """Return a difference and its interval, which may stand on the next line. A word stays."""
    if difference is None or isinstance(difference, str):
        return _NONE if difference is None else difference
    between = "" if low is None or high is None else f" ({_signed(low, high)})"
    return f"{_signed(difference)}{between}"


def _p(p: float | None) -> str:
    if p is None:
        return _NONE
    return "<\u00a00.001" if p < 0.001 else f"{p:.3f}"


_OF_SYSTEM = (BAND_COLOURS["high"], BAND_COLOURS["low"], BAND_COLOURS["mid"], "#8a93a0")
_ROW_HEIGHT, _FRAME_HEIGHT = 40, 110
_GROUPS = (
    ("failed questions", "among_failed", "measured_failed", BAND_COLOURS["low"]),
    ("found questions", "among_found", "measured_found", BAND_COLOURS["high"]),
)


def dominating(modes: Sequence[dict[str, Any]]) -> Figure:
    """Share of failed and of found questions in which each mode of a system holds."""
    names = [mode["name"] for mode in modes]
    bars = [
        {
            "type": "bar", "orientation": "h", "name": name, "y": names,
            "x": [mode[share] for mode in modes],
            "customdata": [mode[measured] for mode in modes],
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
    """hits@1 and hits@k over the deciles of an indicator.

    tables: by the system's label, "" where there is only one. A colour per system.
    """
    lines: list[Figure] = []
    for colour, (label, grid) in zip(_OF_SYSTEM, tables.items(), strict=False):
        rows = [dict(zip(grid["columns"], row, strict=True)) for row in grid["rows"]]
        for field, measure, dash in (("hit_1", "hits@1", "solid"), ("hit_k", f"hits@{k}", "dot")):
            name = f"{measure} {label}".strip()
            lines.append(
                {
                    "type": "scatter", "mode": "lines+markers", "name": name,
                    "x": [row["decile"] for row in rows],
                    "y": [row[field] for row in rows],
                    "customdata": [span(row["low"], row["high"]) for row in rows],
                    "line": {"color": colour, "width": 2.5, "dash": dash},
                    "hovertemplate": "decile %{x} (%{customdata}): %{y:.1%}<extra>"
                    + name + "</extra>",
                }
            )  # fmt: skip
    figure = framed(lines, f"decile of {indicator}", "share of questions", {}, yrange=[0, 1.02])
    figure["layout"]["yaxis"] |= {"tickformat": ".0%"}
    return figure
