"""Build the report's section on failures of generative retrieval, from the summary and its tables.

It holds the frequent modes of failure, all tables of numbers with the systems side by side, and the
list of questions. `tables` and `diagnosis` make these figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.generative.failures.diagnosis import taxonomy
from argus.generative.failures.tables import Shown, Table, Value, declared, is_missing
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import MAX_ROWS, Section, table
from argus.reports.section import Table as PageTable

PREFIX, DIAGNOSIS = "failures_", "failure_diagnosis"
# Modes shown of a question, with their evidence. The file holds all.
SHOWN_MODES = 4
_NONE = "–"
_DASH, _TO = "–\u2060", "\u00a0to\u00a0"  # lines do not break there
# Columns of a table that half of the page is enough for.
_NARROW = 4
# Outcomes of a question in the order in which the page lists them.
_OUTCOMES = {"failed": 0, "late": 1, "not judged": 2, "found at 1": 3}


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Return the section. folder: holds failure_diagnosis.parquet."""
    systems, k = summary["systems"], summary["k"]
    labels = [system["name"] for system in systems] if len(systems) > 1 else [""]
    figures = {label: s["figures"] for label, s in zip(labels, systems, strict=True)}
    plots: dict[str, Figure] = {}
    tables: dict[str, Any] = {}
    modes, problems, briefs = [], [], []
    for label, system in zip(labels, systems, strict=True):
        for mode in [mode for mode in system["modes"] if mode["measured"]]:
            cells = [
                mode["name"], mode["category"],
                _part_of(mode["among_failed"], mode["measured_failed"]),
                _part_of(mode["among_found"], mode["measured_found"]),
                _change(mode["difference"], mode["low"], mode["high"]),
                mode["leading"] if mode["measured_failed"] else None,
            ]  # fmt: skip
            modes.append((label, cells))
        problems += [(label, [p["what"], p["count"], p["first"]]) for p in system["problems"]]
        counts = system["questions"]
        briefs.append(
            f"{system['name']}: {counts['failed']:,} of {counts['judged']:,} questions have no "
            f"correct passage in the first {k}"
        )
    missing = []
    for shown in declared()["table"]:
        of_systems = {label: own[shown.section][shown.name] for label, own in figures.items()}
        there = {label: one for label, one in of_systems.items() if not is_missing(one)}
        if there:
            tables[f"{PREFIX}{shown.name}"] = _page(shown, there, k)
        if there and shown.deciles:
            plots[f"{PREFIX}{shown.name}"] = hits(there, k, named(shown.deciles, k))
        missing += [
            (label, [shown.heading.format(k=k), one["not_applicable"]])
            for label, one in of_systems.items()
            if label not in there
        ]
    heads = ("mode", "category", "published stage", "what goes wrong", "how it is told", "see")
    texts = dict.fromkeys(heads, "text")
    described = []
    for one in taxonomy():
        holds = f" Holds where {one.threshold_text}." if one.threshold_text else ""
        how = f"{one.indicator}{holds}{f' Needs {one.needs}.' if one.needs else ''}"
        described.append([one.name, one.category, one.stage, one.definition, how, one.reference])
    tables[f"{PREFIX}taxonomy"] = table(texts, described)
    sides = dict.fromkeys(("failed", "found"), "said")
    for name, columns, rows in (
        ("modes", {"mode": "text", "category": "text", **sides, "difference": "text",
                   "leads": "count"}, modes),
        ("problems", {"what": "text", "times": "count", "first": "text"}, problems),
        ("missing", {"figure": "text", "why": "text"}, missing),
    ):  # fmt: skip
        if rows:
            tables[f"{PREFIX}{name}"] = _listed(columns, rows)
    of_system = dict(zip((system["name"] for system in systems), labels, strict=True))
    tables[f"{PREFIX}questions"] = _questions(folder, of_system)
    if compared := summary["comparison"]:
        difference = f"{labels[1]} - {labels[0]} (95% interval)"
        kinds = {"figure": "text", "n": "count", **dict.fromkeys(labels, "said")}
        lines = []
        for values in compared["rows"]:
            row = dict(zip(compared["columns"], values, strict=True))
            means = [[_words(row[side]), row[side]] for side in ("first", "second")]
            p = _NONE if row["p"] is None else "<\u00a00.001" if row["p"] < 0.001 else None
            change = _change(row["difference"], row["low"], row["high"])
            lines.append(
                [named(row["figure"], k), row["questions"], *means, change, p or f"{row['p']:.3f}"]
            )
        tables[f"{PREFIX}comparison"] = table(kinds | {difference: "text", "p": "text"}, lines)
    return Section(plots, tables, ". ".join(briefs))


def _listed(
    columns: Mapping[str, str], rows: Sequence[tuple[str, list[Any]]], total: int | None = None
) -> PageTable:
    """Return a table whose first column is the system where there are two. rows: label, cells."""
    if not any(label for label, _ in rows):
        return table(columns, [cells for _, cells in rows], total=total)
    both = [[label, *cells] for label, cells in rows]
    return table({"system": "text", **columns}, both, total=total)


def _questions(folder: Path, labels: Mapping[str, str]) -> PageTable:
    """Return every question of each system with outcome and leading modes. Failed ones first."""
    rows = read_table(folder / f"{DIAGNOSIS}.parquet").to_pylist()
    rows.sort(key=lambda row: (_OUTCOMES[row["outcome"]], row["pair"]))
    cells = []
    for row in rows[:MAX_ROWS]:
        outcome = row["outcome"]
        if outcome in ("late", "failed") and row["first_correct"] is not None:
            outcome = f"{outcome}: rank {row['first_correct']}"
        found = list(zip(row["modes"] or (), row["evidence"] or (), strict=True))
        lines = [
            f"{i}. {mode}: {' '.join(why.split())}"
            for i, (mode, why) in enumerate(found[:SHOWN_MODES], start=1)
        ]
        lines += [f"and {len(found) - SHOWN_MODES} more"] if len(found) > SHOWN_MODES else []
        of_question = [row["query_id"], row["question"], outcome, "\n".join(lines)]
        cells.append((labels[row["system"]], of_question))
    columns = {"id": "text", "question": "text", "outcome": "text", "why": "lines"}
    return _listed(columns, cells, len(rows))


def _page(shown: Shown, tables: Mapping[str, Table], k: int) -> dict[str, Any]:
    """Return one table of all systems, with group, heading and text, and whether it has a chart.

    tables: by the system's label, "" for one alone. The ends of an interval stand in one cell.
    """
    kinds: dict[str, str] = {}
    lines: list[dict[str, object]] = []
    sentences = [shown.text.format(k=k)]
    for label, of_system in tables.items():
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
                elif isinstance(value, str):
                    own = declared()["column_names"].get(name, {}).get(value)
                    cells[named(name, k)] = own or named(value, k)
                elif not name.endswith("high"):
                    rounded = float(f"{value:.4g}") if isinstance(value, float) else value
                    cells[named(name, k)] = rounded
            lines.append(cells)
    for heading, cell in (pair for line in lines for pair in line.items()):
        if cell is not None or heading not in kinds:
            kinds[heading] = "count" if isinstance(cell, int | float) else "text"
    return {
        **table(kinds, [[line.get(heading) for heading in kinds] for line in lines]),
        "group": shown.group or shown.section,
        "heading": shown.heading.format(k=k),
        "text": " ".join(sentences),
        "chart": bool(shown.deciles),
        "small": len(kinds) <= _NARROW,
    }


def named(name: Value, k: int) -> str:
    """Return how something in the figures is called. Its own name where it has no other."""
    return declared()["names"].get(name, name).format(k=k) if isinstance(name, str) else str(name)


def _part_of(share: float | None, n: int) -> list[Value]:
    """Return a share of n questions in words, for a column to sort by."""
    if share is None:
        return [_NONE, None]
    return [f"{share:.0%} ({round(share * n):,}\u00a0of\u00a0{n:,})", share]


def _words(number: float) -> str:
    if float(number).is_integer() or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) >= 1 else f"{number:.3f}"


def span(low: float, high: float) -> str:
    """Return a range in words."""
    return (_DASH if low >= 0 else _TO).join((_words(low), _words(high)))


def _change(difference: float | None, low: float | None, high: float | None) -> str:
    """Return a difference and its interval, which may stand on the next line."""
    if difference is None:
        return _NONE
    signed = [
        ""
        if value is None
        else f"{value:+,.0f}"
        if abs(value) >= 1000
        else f"{round(value, 3) + 0.0:+.3f}"
        for value in (difference, low, high)
    ]
    return signed[0] if low is None or high is None else f"{signed[0]} ({_TO.join(signed[1:])})"


_OF_SYSTEM = (BAND_COLOURS["high"], BAND_COLOURS["low"], BAND_COLOURS["mid"], "#8a93a0")


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
