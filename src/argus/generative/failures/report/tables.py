"""Tables of the failure analysis: each figure once, with the systems side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from argus.generative.failures.report.specs import SHOWN, Cell, Shown, named
from argus.reports.section import table

Figures = Mapping[str, Any]
_NONE = "–"
_DASH, _TO = "–\u2060", "\u00a0to\u00a0"  # lines do not break there
_SHORT = 40
"""Characters of a text that needs no wide column (see report.js)."""
_OF_COLUMN = {
    "is": {"present": "yes", "absent": "no"},
    "in_passages": {"correct": "correct alone", "wrong": "others alone", "shared": "both"},
    "verdict": {"failed": "no verdict"},
}
"""What is called otherwise in a column than in the rest."""
_SWITCHED_OFF = {
    "titles": ("scoring", "count_and_score", "titles"),
    "queries": ("scoring", "count_and_score", "pseudo_queries"),
    "unigrams": ("generation", "lengths", "1"),
}
"""Part, table and row where the n-grams are counted that an ablation leaves out."""
_NOTHING_OFF = "no such n-gram"
_TESTS = 20
"""P-values of which one is below 0.05 by chance."""


def side_by_side(shown: Shown, figures: Mapping[str, Figures], k: int) -> dict[str, Any] | None:
    """Return one table of all systems; None where it applies to none of them.

    figures: by the system's label, "" for one alone.
    """
    found = {label: _marked(shown, part) for label, part in figures.items()}
    applied = {label: t for label, t in found.items() if "not_applicable" not in t}
    if not applied:
        return None
    if shown.chart == "positives":
        made: dict[str, Any] = dict(table({}, []))
    else:
        made = _keyed(shown, applied, k) if shown.cells else _flat_table(applied, k)
    fits = len(figures) == 1 or (
        shown.chart != "deciles"
        and all(len(str(cell)) <= _SHORT for row in made["rows"] for cell in row)
    )
    return made | {
        "group": shown.group,
        "heading": shown.heading.format(k=k),
        "text": _text(shown, applied, made, k),
        "chart": "" if shown.chart == "values" and len(made["rows"]) < 2 else shown.chart,
        "small": shown.small and fits,
    }


def _marked(shown: Shown, part: Figures) -> Figures:
    """Return a system's table; an ablation that left out nothing says so in place of numbers."""
    found: Figures = part[shown.part][shown.name]
    if shown.name != "ablations" or "not_applicable" in found:
        return found
    columns = found["columns"]
    changed = [columns.index(name) for name in ("improved", "harmed")]
    blank = [columns.index(name) for name in ("difference", "low", "high", "p_value")] + changed
    rows = []
    for row in found["rows"]:
        same = not any(row[place] for place in changed)
        if same and _ngrams(part, *_SWITCHED_OFF[row[columns.index("without")]]) == 0:
            row = [None if place in blank else value for place, value in enumerate(row)]
            row[columns.index("difference")] = _NOTHING_OFF
        rows.append(row)
    return {**found, "rows": rows}


def _ngrams(part: Figures, section: str, name: str, key: str) -> int | None:
    """Return how many n-grams a row of a table counts; None where the table does not apply."""
    given = part[section][name]
    place = given["columns"].index("ngrams") if "columns" in given else 0
    return next((row[place] for row in given.get("rows", ()) if row[0] == key), None)


def _text(shown: Shown, found: Mapping[str, Figures], made: Figures, k: int) -> str:
    """Return what stands under the heading, with what the table says beside its rows."""
    told = [shown.text.format(k=k)]
    if shown.chart == "deciles":
        told += [
            f"{label + ': mean' if label else 'Mean'} {said(given['mean'])}, "
            f"σ {said(given['sigma'])}."
            for label, given in found.items()
        ]
    if shown.name == "correlations":
        places = [i for i, column in enumerate(made["columns"]) if column["name"].split()[0] == "p"]
        shown_here = sum(row[i] not in (None, _NONE) for row in made["rows"] for i in places)
        told += by_chance(shown_here)
    return " ".join(told)


def by_chance(tests: int) -> list[str]:
    """Return a sentence about a number of p-values; none where it is too small to matter."""
    expected = round(tests / _TESTS)
    if not expected:
        return []
    of_them = "one of them" if expected == 1 else f"{expected} of them"
    return [f"{tests} p-values are shown; about {of_them} would be below 0.05 by chance alone."]


def missing(figures: Mapping[str, Figures], k: int) -> list[list[Any]]:
    """Return [figures, of which systems, why] of all that does not apply, by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for shown in SHOWN:
        whys: dict[str, list[str]] = {}
        for label, part in figures.items():
            why = part[shown.part][shown.name].get("not_applicable")
            if why is not None:
                whys.setdefault(why, []).append(label)
        for why, labels in whys.items():
            systems = ", ".join(labels)
            reasons.setdefault((why, systems), []).append(shown.heading.format(k=k))
    return [["; ".join(names), systems, why] for (why, systems), names in reasons.items()]


def _keyed(shown: Shown, found: Mapping[str, Any], k: int) -> dict[str, Any]:
    """Return key columns, and every system's cells beside them; rows that one lacks are empty."""
    columns = dict.fromkeys((heading.format(k=k) for heading in shown.keys.values()), "text")
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for i, (label, given) in enumerate(found.items()):
        for cell in shown.cells:
            heading = f"{cell.heading.format(k=k)} {label}".strip()
            columns[heading] = cell.kind if cell.kind in ("count", "share") else "text"
        for values in given["rows"]:
            row = dict(zip(given["columns"], values, strict=True))
            key = tuple(row[name] for name in shown.keys)
            empty = [None] * len(shown.cells)
            line = rows.setdefault(key, [list(empty) for _ in found])
            line[i] = [value(row, cell) for cell in shown.cells]
    if all(isinstance(key[0], int | None) for key in rows):
        rows = dict(sorted(rows.items(), key=lambda row: (row[0][0] is None, row[0][0] or 0)))
    made = [
        [*map(partial(_key, k=k), shown.keys, key), *(v for cells in line for v in cells)]
        for key, line in rows.items()
    ]
    return dict(table(columns, made))


def _key(column: str, key: Any, k: int) -> str:
    if key is None:
        return "none of those tried"
    return _OF_COLUMN.get(column, {}).get(key) or named(key, k)


def value(row: Mapping[str, Any], cell: Cell) -> Any:
    """Return what stands in a cell; "–" for what is in words and not there."""
    values = [row[name] for name in cell.columns]
    if cell.kind == "change":
        return change(*values)
    if cell.kind in _IN_WORDS:
        return _NONE if None in values else _IN_WORDS[cell.kind](*values)
    return rounded(values[0])


def _flat_table(found: Mapping[str, Any], k: int) -> dict[str, Any]:
    columns = {"": "text"} | {label or "value": "text" for label in found}
    names = list(dict.fromkeys(name for given in found.values() for name in given))
    rows = [
        [named(name, k), *(said(given.get(name)) for given in found.values())] for name in names
    ]
    return dict(table(columns, rows))


def rounded(number: Any) -> Any:
    """Return a number with 4 significant digits, whole ones as they are."""
    return number if not isinstance(number, float) else float(f"{number:.4g}")


def alike(*numbers: float | None) -> list[list[Any] | None]:
    """Return numbers of one row in words with equally many decimals, for columns to sort by."""
    most = max((abs(number) for number in numbers if number is not None), default=0.0)
    decimals = next(places for places, above in enumerate((1000, 100, 10, 0)) if most >= above)
    return [None if n is None else [f"{n:,.{decimals}f}", n] for n in numbers]


def part_of(share: float | None, n: int) -> list[Any]:
    """Return a share of n questions in words, for a column to sort by."""
    if share is None:
        return [_NONE, None]
    return [f"{share:.0%} ({round(share * n):,}\u00a0of\u00a0{n:,})", share]


def said(number: Any) -> str:
    """Return a number in words; "–" for None."""
    if number is None:
        return _NONE
    if isinstance(number, str):
        return number
    if float(number).is_integer() or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) >= 1 else f"{number:.3f}"


def span(low: float, high: float) -> str:
    """Return a range in words."""
    return (_DASH if low >= 0 else _TO).join((said(low), said(high)))


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
    """Return a difference and its interval, which may stand on the next line; a word as it is."""
    if difference is None:
        return _NONE
    if isinstance(difference, str):
        return difference
    return signed(difference) + ("" if low is None or high is None else f" ({signed(low, high)})")


def both(first: int, second: int) -> str:
    """Return two counts in words."""
    return f"{first:,}\u00a0/\u00a0{second:,}"


def p_value(p: float) -> str:
    """Return a p in words."""
    return "<\u00a00.001" if p < 0.001 else f"{p:.3f}"


_IN_WORDS: dict[str, Callable[..., str]] = {
    "range": span,
    "interval": interval,
    "signed": signed,
    "both": both,
    "p": p_value,
}


def labels_of(names: Sequence[str], longest: int = 6) -> list[str]:
    """Return what systems are called in the tables: their names where short, else letters.

    Tables of two systems fill the page. One system alone needs none.
    """
    if len(names) == 1:
        return [""]
    short = len(set(names)) == len(names) and all(len(name) <= longest for name in names)
    return list(names) if short else [chr(ord("A") + i) for i in range(len(names))]
