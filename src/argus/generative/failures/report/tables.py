"""Tables of the failure analysis: each figure once, with the systems side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from argus.generative.failures.report.specs import SHOWN, Cell, Shown, named
from argus.generative.failures.tables.records import (
    Deciles,
    Figures,
    Grid,
    Part,
    Single,
    Table,
    Value,
    has_rows,
    is_deciles,
    is_missing,
)
from argus.reports.section import Table as PageTable
from argus.reports.section import table

_NONE = "–"
_DASH, _TO = "–\u2060", "\u00a0to\u00a0"  # lines do not break there
_SHORT = 40
"""Characters of a text that needs no wide column (see report.js)."""
_OF_COLUMN = {
    "is": {"present": "yes", "absent": "no"},
    "in_passages": {"correct": "correct alone", "wrong": "others alone", "shared": "both"},
    "verdict": {"failed": "no verdict"},
}
"""Names in columns that differ from those in the rest."""
_SWITCHED_OFF: dict[Value, tuple[Part, str, str]] = {
    "titles": ("scoring", "count_and_score", "titles"),
    "queries": ("scoring", "count_and_score", "pseudo_queries"),
    "unigrams": ("generation", "lengths", "1"),
}
"""Part, table and row where the n-grams are counted that an ablation leaves out."""
_NOTHING_OFF = "no such n-gram"
_TESTS = 20
"""P-values of which one is below 0.05 by chance."""


class FigureTable(PageTable):
    """A table of all systems, and how the page shows it."""

    group: str
    heading: str
    text: str
    chart: str
    small: bool


def side_by_side(shown: Shown, figures: Mapping[str, Figures], k: int) -> FigureTable | None:
    """Return one table of all systems. None if it applies to none of them.

    figures: by the system's label, "" for one alone.
    """
    tables = {label: _marked(shown, of_system) for label, of_system in figures.items()}
    grids = {label: t for label, t in tables.items() if has_rows(t)}
    singles = {label: t for label, t in tables.items() if not (is_missing(t) or has_rows(t))}
    if not grids and not singles:
        return None
    if shown.chart == "positives":
        page = table({}, [])
    else:
        page = _keyed(shown, grids, k) if shown.cells else _flat_table(singles, k)
    fits = len(figures) == 1 or (
        shown.chart != "deciles"
        and all(len(str(cell)) <= _SHORT for row in page["rows"] for cell in row)
    )
    return {
        **page,
        "group": shown.group,
        "heading": shown.heading.format(k=k),
        "text": _text(shown, grids, page, k),
        "chart": "" if shown.chart == "values" and len(page["rows"]) < 2 else shown.chart,
        "small": shown.small and fits,
    }


def _marked(shown: Shown, figures: Figures) -> Table:
    """Return a system's table. An ablation that left out nothing says so in place of numbers."""
    whole = figures[shown.part][shown.name]
    if shown.name != "ablations" or not has_rows(whole):
        return whole
    columns = whole["columns"]
    changed = [columns.index(name) for name in ("improved", "harmed")]
    blank = [columns.index(name) for name in ("difference", "low", "high", "p_value")] + changed
    rows = []
    for row in whole["rows"]:
        same = not any(row[place] for place in changed)
        if same and _ngrams(figures, *_SWITCHED_OFF[row[columns.index("without")]]) == 0:
            row = [None if place in blank else value for place, value in enumerate(row)]
            row[columns.index("difference")] = _NOTHING_OFF
        rows.append(row)
    marked = whole.copy()
    marked["rows"] = rows
    return marked


def _ngrams(figures: Figures, part: Part, name: str, key: str) -> Value:
    """Return how many n-grams a row of a table counts. None if the table does not apply."""
    counts = figures[part][name]
    if not has_rows(counts):
        return None
    place = counts["columns"].index("ngrams")
    return next((row[place] for row in counts["rows"] if row[0] == key), None)


def _text(shown: Shown, grids: Mapping[str, Grid | Deciles], page: PageTable, k: int) -> str:
    """Return the text under the heading, with the table's single figures."""
    sentences = [shown.text.format(k=k)]
    sentences += [
        f"{label + ': mean' if label else 'Mean'} {in_words(grid['mean'])}, "
        f"σ {in_words(grid['sigma'])}."
        for label, grid in grids.items()
        if is_deciles(grid)
    ]
    if shown.name == "correlations":
        places = [i for i, column in enumerate(page["columns"]) if column["name"].split()[0] == "p"]
        shown_here = sum(row[i] not in (None, _NONE) for row in page["rows"] for i in places)
        sentences += by_chance(shown_here)
    return " ".join(sentences)


def by_chance(tests: int) -> list[str]:
    """Return a sentence about a number of p-values. None if it is too small to matter."""
    expected = round(tests / _TESTS)
    if not expected:
        return []
    of_them = "one of them" if expected == 1 else f"{expected} of them"
    return [f"{tests} p-values are shown; about {of_them} would be below 0.05 by chance alone."]


def missing(figures: Mapping[str, Figures], k: int) -> list[list[str]]:
    """Return [figures, of which systems, why] of all that does not apply, by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for shown in SHOWN:
        whys: dict[str, list[str]] = {}
        for label, of_system in figures.items():
            absent = of_system[shown.part][shown.name]
            if is_missing(absent):
                whys.setdefault(absent["not_applicable"], []).append(label)
        for why, labels in whys.items():
            systems = ", ".join(labels)
            reasons.setdefault((why, systems), []).append(shown.heading.format(k=k))
    return [["; ".join(names), systems, why] for (why, systems), names in reasons.items()]


def _keyed(shown: Shown, grids: Mapping[str, Grid | Deciles], k: int) -> PageTable:
    """Return key columns, and every system's cells beside them. Rows that one lacks are empty."""
    columns = dict.fromkeys((heading.format(k=k) for heading in shown.keys.values()), "text")
    rows: dict[tuple[Value, ...], list[list[object]]] = {}
    for i, (label, grid) in enumerate(grids.items()):
        for cell in shown.cells:
            heading = f"{cell.heading.format(k=k)} {label}".strip()
            columns[heading] = cell.kind if cell.kind in ("count", "share") else "text"
        for values in grid["rows"]:
            row = dict(zip(grid["columns"], values, strict=True))
            key = tuple(row[name] for name in shown.keys)
            line = rows.setdefault(key, [[None] * len(shown.cells) for _ in grids])
            line[i] = [value(row, cell) for cell in shown.cells]
    keys = list(rows)
    if all(isinstance(key[0], int | None) for key in keys):
        keys.sort(key=_by_number)
    page = [
        [*map(partial(_key, k=k), shown.keys, key), *(v for cells in rows[key] for v in cells)]
        for key in keys
    ]
    return table(columns, page)


def _by_number(key: tuple[Value, ...]) -> tuple[bool, float]:
    first = key[0]
    return first is None, first if isinstance(first, int | float) else 0


def _key(column: str, key: Value, k: int) -> str:
    if key is None:
        return "none of those tried"
    return _OF_COLUMN.get(column, {}).get(str(key)) or named(key, k)


def value(row: Mapping[str, Value], cell: Cell) -> Value:
    """Return the text of a cell. "–" for missing words."""
    values = [row[name] for name in cell.columns]
    words = _IN_WORDS.get(cell.kind)
    if words is None:
        return rounded(values[0])
    if None in values and cell.kind != "change":
        return _NONE
    return words(*values)


def _flat_table(singles: Mapping[str, Single], k: int) -> PageTable:
    columns = {"": "text"} | {label or "value": "text" for label in singles}
    names = list(dict.fromkeys(name for single in singles.values() for name in single))
    rows = [
        [named(name, k), *(in_words(figure(single, name)) for single in singles.values())]
        for name in names
    ]
    return table(columns, rows)


def figure(single: Single, name: str) -> Value:
    """Return a single figure. None if the table has none of that name."""
    value = single.get(name)
    return value if isinstance(value, str | int | float) else None


def rounded(number: Value) -> Value:
    """Return a number with 4 significant digits, whole ones as they are."""
    return number if not isinstance(number, float) else float(f"{number:.4g}")


def alike(*numbers: float | None) -> list[list[Value] | None]:
    """Return numbers of one row in words with equally many decimals, for columns to sort by."""
    most = max((abs(number) for number in numbers if number is not None), default=0.0)
    decimals = next(places for places, above in enumerate((1000, 100, 10, 0)) if most >= above)
    return [None if n is None else [f"{n:,.{decimals}f}", n] for n in numbers]


def part_of(share: float | None, n: int) -> list[Value]:
    """Return a share of n questions in words, for a column to sort by."""
    if share is None:
        return [_NONE, None]
    return [f"{share:.0%} ({round(share * n):,}\u00a0of\u00a0{n:,})", share]


def in_words(number: Value) -> str:
    """Return a number in words. "–" for None."""
    if number is None:
        return _NONE
    if isinstance(number, str):
        return number
    if float(number).is_integer() or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) >= 1 else f"{number:.3f}"


def span(low: float, high: float) -> str:
    """Return a range in words."""
    return (_DASH if low >= 0 else _TO).join((in_words(low), in_words(high)))


def interval(low: float, high: float) -> str:
    """Return the interval of a share in words."""
    return f"{low:.3f}{_DASH}{high:.3f}"


def signed(*values: float) -> str:
    """Return a difference, or its interval, in words."""
    return _TO.join(
        f"{value:+,.0f}" if abs(value) >= 1000 else f"{round(value, 3) + 0.0:+.3f}"
        for value in values
    )


def change(difference: float | str | None, low: float | None, high: float | None) -> str:
    """Return a difference and its interval, which may stand on the next line. A word stays."""
    if difference is None:
        return _NONE
    if isinstance(difference, str):
        return difference
    return signed(difference) + ("" if low is None or high is None else f" ({signed(low, high)})")


def both(first: int, second: int) -> str:
    """Return two counts in words."""
    return f"{first:,}\u00a0/\u00a0{second:,}"


def p_value(p: float | None) -> str:
    """Return a p in words."""
    if p is None:
        return _NONE
    return "<\u00a00.001" if p < 0.001 else f"{p:.3f}"


_IN_WORDS: dict[str, Callable[..., str]] = {
    "change": change,
    "range": span,
    "interval": interval,
    "signed": signed,
    "both": both,
    "p": p_value,
}


def labels_of(names: Sequence[str], longest: int = 6) -> list[str]:
    """Return the labels of systems in the tables: their names where short, else letters.

    Tables of two systems fill the page. One system alone needs none.
    """
    if len(names) == 1:
        return [""]
    short = len(set(names)) == len(names) and all(len(name) <= longest for name in names)
    return list(names) if short else [chr(ord("A") + i) for i in range(len(names))]
