"""Section of the failure analysis: frequent modes, every figure, and every question.

Each table of figures stands once, with the systems side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.generative.failures.aggregates import Table, Value
from argus.generative.failures.tables import Shown, declared, has_rows, is_missing
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import MAX_ROWS, Section, table
from argus.reports.section import Table as PageTable

PREFIX, DIAGNOSIS = "failures_", "failure_diagnosis"
SHOWN_MODES = 4
"""Modes shown of a question, with their evidence. The file holds all."""
_NONE = "–"
_DASH, _TO = "–\u2060", "\u00a0to\u00a0"  # lines do not break there
_HITS = (
    ("n", "count", "n"), ("hits@1", "share", "hit_1"),
    ("95% (@1)", "interval", "hit_1_low", "hit_1_high"), ("hits@{k}", "share", "hit_k"),
    ("95% (@{k})", "interval", "hit_k_low", "hit_k_high"),
)  # fmt: skip


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build it from summary.json and failure_diagnosis.parquet."""
    systems, k = summary["systems"], summary["k"]
    labels = _labels([system["name"] for system in systems])
    figures = {label: s["figures"] for label, s in zip(labels, systems, strict=True)}
    plots: dict[str, Figure] = {}
    tables: dict[str, Any] = {}
    names = dict.fromkeys(
        mode["name"]
        for system in systems
        for mode in system["modes"]
        if mode["among_failed"] is not None or mode["among_found"] is not None
    )  # the first system's order; modes that only the other has follow
    if names:
        plots |= {
            f"{PREFIX}modes_{i}": dominating(system["modes"], list(names))
            for i, system in enumerate(systems)
        }
        tables[f"{PREFIX}modes"] = _modes(systems, labels, names)
    for shown in declared()["table"]:
        of_systems = {label: own[shown.section][shown.name] for label, own in figures.items()}
        if not all(map(is_missing, of_systems.values())):
            page = _side_by_side(shown, of_systems, figures, k)
            tables[f"{PREFIX}{shown.name}"] = page
            if page["chart"]:
                grids = {label: t for label, t in of_systems.items() if has_rows(t)}
                plots[f"{PREFIX}{shown.name}"] = _chart(page["chart"], grids, k)
    tables[f"{PREFIX}questions"] = _questions(folder, systems, labels)
    tables[f"{PREFIX}taxonomy"] = _taxonomy(summary["taxonomy"])
    if any(system["problems"] for system in systems):
        tables[f"{PREFIX}problems"] = _problems(systems, labels)
    if summary["comparison"] is not None:
        tables[f"{PREFIX}comparison"] = _comparison(summary["comparison"], labels, k)
    if unmeasured := _unmeasured(figures, k):
        headings = ["figures", "of", "why"] if len(systems) > 1 else ["figures", "why"]
        rows = [[row[heading] for heading in headings] for row in unmeasured]
        tables[f"{PREFIX}missing"] = table(dict.fromkeys(headings, "text"), rows)
    return Section(plots, tables, ". ".join(_brief(system, k) for system in systems))


def _labels(names: Sequence[str], longest: int = 6) -> list[str]:
    """Return the labels of systems in the tables: their names where short, else letters.

    Tables of two systems fill the page. One system alone needs none.
    """
    if len(names) == 1:
        return [""]
    short = len(set(names)) == len(names) and all(len(name) <= longest for name in names)
    return list(names) if short else [chr(ord("A") + i) for i in range(len(names))]


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


def _chart(kind: str, grids: Mapping[str, Table], k: int) -> Figure:
    if kind == "positives":
        return positives(grids)
    if kind == "lengths":
        return weight_by_length(grids)
    first = next(iter(grids.values()))
    return hits(grids, k, named(first.get("indicator", first["columns"][0]), k))


def _modes(
    systems: Sequence[dict[str, Any]], labels: Sequence[str], names: Iterable[str]
) -> PageTable:
    columns = {"mode": "text", "category": "text"}
    kinds = {"failed": "said", "found": "said", "difference": "text", "leads": "count"}
    for label in labels:
        columns |= {f"{heading} {label}".strip(): kind for heading, kind in kinds.items()}
    by_name = [{mode["name"]: mode for mode in system["modes"]} for system in systems]
    rows = []
    for name in names:
        of_systems = [modes.get(name) for modes in by_name]
        row = [name, next(mode["category"] for mode in of_systems if mode)]
        for mode in of_systems:
            row += [None] * 4 if mode is None else [
                _part_of(mode["among_failed"], mode["measured_failed"]),
                _part_of(mode["among_found"], mode["measured_found"]),
                _change(mode["difference"], mode["low"], mode["high"]),
                mode["leading"] if mode["measured_failed"] else None,
            ]  # fmt: skip
        rows.append(row)
    return table(columns, rows)


def _comparison(compared: dict[str, Any], labels: Sequence[str], k: int) -> PageTable:
    difference = f"{labels[1]} - {labels[0]} (95% interval)"
    columns = {"figure": "text", "n": "count", **dict.fromkeys(labels, "said")}
    rows = []
    for values in compared["rows"]:
        row = dict(zip(compared["columns"], values, strict=True))
        both = row["first"], row["second"]
        most = max((abs(number) for number in both if number is not None), default=0.0)
        places = next(n for n, above in enumerate((1000, 100, 10, 0)) if most >= above)
        means = [None if n is None else [f"{n:,.{places}f}", n] for n in both]
        change = _change(row["difference"], row["low"], row["high"])
        rows.append([named(row["figure"], k), row["questions"], *means, change, _p(row["p"])])
    return table(columns | {difference: "text", "p": "text"}, rows)


def _problems(systems: Sequence[dict[str, Any]], labels: Sequence[str]) -> PageTable:
    by_kind: dict[str, list[object]] = {}
    for i, system in enumerate(systems):
        for problem in system["problems"]:
            row = by_kind.setdefault(problem["what"], [None] * (2 * len(systems)))
            row[2 * i : 2 * i + 2] = [problem["count"], problem["first"]]
    columns = {"what": "text"}
    for label in labels:
        columns |= {f"times {label}".strip(): "count", f"first {label}".strip(): "text"}
    return table(columns, [[what, *row] for what, row in by_kind.items()])


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


def _questions(
    folder: Path, systems: Sequence[dict[str, Any]], labels: Sequence[str]
) -> dict[str, Any]:
    """Return every question with its outcome in each system. Failed ones first.

    Rows of two systems with one `pair` are of one question, named as in the first of them. labels:
    names of the systems in all columns.
    """
    places = {system["name"]: i for i, system in enumerate(systems)}
    sides: dict[tuple[str, int], list[dict[str, Any] | None]] = {}
    times: Counter[tuple[str, str]] = Counter()
    for row in read_table(folder / f"{DIAGNOSIS}.parquet").to_pylist():
        times[row["system"], row["pair"]] += 1  # a pair that a file has twice loses no row
        key = (row["pair"], times[row["system"], row["pair"]])
        sides.setdefault(key, [None] * len(systems))[places[row["system"]]] = row
    columns = {"id": "text", "question": "text"}
    for label in labels:
        columns |= {f"outcome {label}".strip(): "text", f"why {label}".strip(): "lines"}
    order = {"failed": 0, "late": 1, "found at 1": 3}

    def worst(both: list[dict[str, Any] | None]) -> list[int]:
        return [2 if row is None else order.get(row["outcome"], 2) for row in both]

    ordered = sorted(sides.values(), key=worst)
    cells = []
    for both in ordered[:MAX_ROWS]:
        first = next(row for row in both if row is not None)
        cells.append(
            [first["query_id"], first["question"], *(c for row in both for c in _why(row))]
        )
    return {**table(columns, cells, total=len(ordered)), "labels": list(labels)}


def _why(row: dict[str, Any] | None) -> list[str]:
    """Return outcome, and the leading modes with their evidence, a line each."""
    if row is None:
        return ["not asked", ""]
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


def _unmeasured(figures: Mapping[str, dict[str, Any]], k: int) -> list[dict[str, str]]:
    """Return the figures, of which systems, and why, of all that does not apply, by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for shown in declared()["table"]:
        whys: dict[str, list[str]] = {}
        for label, of_system in figures.items():
            absent = of_system[shown.section][shown.name]
            if is_missing(absent):
                whys.setdefault(absent["not_applicable"], []).append(label)
        for why, labels in whys.items():
            reasons.setdefault((why, ", ".join(labels)), []).append(shown.heading.format(k=k))
    return [
        {"figures": "; ".join(names), "of": systems, "why": why}
        for (why, systems), names in reasons.items()
    ]


_SWITCHED_OFF: dict[Value, tuple[str, str, str]] = {
    "titles": ("scoring", "count_and_score", "titles"),
    "queries": ("scoring", "count_and_score", "pseudo_queries"),
    "unigrams": ("generation", "lengths", "1"),
}
"""Section, table and row where the n-grams are counted that an ablation leaves out."""
_SHORT = 40
"""Characters of a text that needs no wide column (see report.js)."""
_TESTS = 20
"""P-values of which one is below 0.05 by chance."""


def _side_by_side(
    shown: Shown, tables: Mapping[str, Table], figures: Mapping[str, dict[str, Any]], k: int
) -> dict[str, Any]:
    """Return one table of all systems, with group, heading, text, chart and size on the page.

    tables: by the system's label, "" for one alone.
    """
    grids = {label: t for label, t in tables.items() if has_rows(t)}
    if shown.name == "ablations":
        grids = {label: _marked(t, figures[label]) for label, t in grids.items()}
    singles = {label: t for label, t in tables.items() if not (is_missing(t) or has_rows(t))}
    if shown.chart == "positives":
        page = table({}, [])
    elif shown.cells or shown.deciles or shown.values:
        page = _keyed(shown, grids, k)
    else:
        columns = {"": "text"} | {label or "value": "text" for label in singles}
        names = dict.fromkeys(name for single in singles.values() for name in single)
        page = table(
            columns,
            [[named(n, k), *(_words(one.get(n)) for one in singles.values())] for n in names],
        )
    sentences = [shown.text.format(k=k)]
    sentences += [
        f"{label + ': mean' if label else 'Mean'} {_words(grid['mean'])}, "
        f"σ {_words(grid['sigma'])}."
        for label, grid in grids.items()
        if shown.deciles
    ]
    if shown.name == "correlations":
        places = [i for i, c in enumerate(page["columns"]) if c["name"].split()[0] == "p"]
        tests = sum(row[i] not in (None, _NONE) for row in page["rows"] for i in places)
        if expected := round(tests / _TESTS):
            of_them = "one of them" if expected == 1 else f"{expected} of them"
            sentences.append(
                f"{tests} p-values are shown; about {of_them} would be below 0.05 by chance alone."
            )
    chart = "deciles" if shown.deciles else shown.chart
    narrow = all(len(str(cell)) <= _SHORT for row in page["rows"] for cell in row)
    return {
        **page,
        "group": shown.group or shown.section,
        "heading": shown.heading.format(k=k),
        "text": " ".join(sentences),
        "chart": "" if chart == "values" and len(page["rows"]) < 2 else chart,
        "small": (shown.small or bool(shown.deciles or shown.spread))
        and (len(figures) == 1 or (chart != "deciles" and narrow)),
    }


def _marked(ablations: Table, figures: dict[str, Any]) -> Table:
    """Return a system's ablations. One that left out nothing says so in place of numbers."""

    def ngrams(section: str, name: str, key: str) -> Value:
        counts = figures[section][name]
        row = next((row for row in counts.get("rows", ()) if row[0] == key), None)
        return None if row is None else row[counts["columns"].index("ngrams")]

    rows = []
    for values in ablations["rows"]:
        row = dict(zip(ablations["columns"], values, strict=True))
        same = not (row["improved"] or row["harmed"])
        if same and ngrams(*_SWITCHED_OFF[row["without"]]) == 0:
            row |= dict.fromkeys(("low", "high", "p_value", "improved", "harmed"))
            row["difference"] = "no such n-gram"
        rows.append(list(row.values()))
    return ablations | {"rows": rows}


def _keyed(shown: Shown, grids: Mapping[str, Table], k: int) -> PageTable:
    """Return key columns, and every system's cells beside them. Rows that one lacks are empty."""
    keys_of, cells = shown.keys, _HITS if shown.cells == "hits" else shown.cells
    if shown.deciles:
        keys_of = {"decile": "decile"}
        more = ((heading, "count", name) for name, heading in shown.extra.items())
        cells = (("range", "range", "low", "high"), _HITS[1], _HITS[3], *more)
    columns = dict.fromkeys((heading.format(k=k) for heading in keys_of.values()), "text")
    rows: dict[tuple[Value, ...], list[list[object]]] = {}
    for i, (label, grid) in enumerate(grids.items()):
        for heading, kind, *_ in cells:
            shown_as = kind if kind in ("count", "share") else "text"
            columns[f"{heading.format(k=k)} {label}".strip()] = shown_as
        for values in grid["rows"]:
            row = dict(zip(grid["columns"], values, strict=True))
            key = tuple(row[name] for name in keys_of)
            line = rows.setdefault(key, [[None] * len(cells) for _ in grids])
            line[i] = [_cell(kind, [row[name] for name in of]) for _, kind, *of in cells]
    keys = list(rows)
    if all(isinstance(key[0], int | None) for key in keys):
        keys.sort(key=lambda key: (key[0] is None, key[0] or 0))
    names = declared()["column_names"]

    def key_name(column: str, key: Value) -> str:
        own: str | None = names.get(column, {}).get(str(key))
        return "none of those tried" if key is None else own or named(key, k)

    page = [
        [*map(key_name, keys_of, key), *(v for line in rows[key] for v in line)] for key in keys
    ]
    return table(columns, page)


def named(name: Value, k: int) -> str:
    """Return how something in the figures is called. Its own name where it has no other."""
    return declared()["names"].get(name, name).format(k=k) if isinstance(name, str) else str(name)


def _cell(kind: str, values: Sequence[Any]) -> object:
    """Return a cell of the page. "–" for missing words."""
    words = _IN_WORDS.get(kind)
    if words is None:
        return float(f"{values[0]:.4g}") if isinstance(values[0], float) else values[0]
    return _NONE if None in values and kind != "change" else words(*values)


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


_IN_WORDS: dict[str, Callable[..., str]] = {
    "change": _change,
    "range": span,
    "interval": lambda low, high: f"{low:.3f}{_DASH}{high:.3f}",
    "signed": _signed,
    "both": lambda first, second: f"{first:,}\u00a0/\u00a0{second:,}",
    "p": _p,
}


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
    for colour, (label, grid) in zip(_OF_SYSTEM, tables.items(), strict=False):
        rows = [dict(zip(grid["columns"], row, strict=True)) for row in grid["rows"]]
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
            "x": [f"{low}" if low == high else f"{low}–{high}" for low, high, _ in grid["rows"]],
            "y": [n for *_, n in grid["rows"]],
            "marker": {"color": colour},
            "hovertemplate": "%{x} positives: %{y:,} questions<extra>" + label + "</extra>",
        }
        for colour, (label, grid) in zip(_OF_SYSTEM, tables.items(), strict=False)
    ]  # fmt: skip
    layout = {"barmode": "group", "bargap": 0.1, "showlegend": len(tables) > 1}
    figure = framed(bars, "annotated positives", "questions", layout)
    figure["layout"]["xaxis"] |= {"type": "category"}
    return figure
