"""The hand-made output of twelve questions, and how its rows are held against those worked out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest

from argus.generative.failures.measures import OF_OUTPUT, measure, to_table
from argus.generative.failures.reading import Problems, Reading, read_case, split_words
from argus.generative.failures.tables import figures

OUTPUT = Path(__file__).with_name("twelve.json")
K = 10
BINS = 11


@cache
def rows() -> tuple[dict[str, Any], ...]:
    """Measure the twelve questions."""
    return tuple(row(record, number) for number, record in enumerate(records()))


def records() -> list[dict[str, Any]]:
    """Read the twelve questions anew, to be changed at will."""
    found: list[dict[str, Any]] = json.loads(OUTPUT.read_text(encoding="utf-8"))
    return found


def row(
    record: Mapping[str, Any],
    number: int = 0,
    k: int = K,
    correct: Literal["annotated", "answer"] = "annotated",
) -> dict[str, Any]:
    """Measure a question, words being the tokens."""
    settings = Reading(split_words, correct)
    case = read_case(json.dumps(record).encode(), number, settings, Problems())
    assert case is not None
    return measure(case, k)


def differences(number: int, expected: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the columns of a question that are not as expected: (expected, measured)."""
    assert list(expected.keys() ^ OF_OUTPUT.keys()) == []
    measured = rows()[number]
    assert list(measured.keys() ^ OF_OUTPUT.keys()) == []
    return unlike(measured, expected)


def unlike(measured: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the expected columns that were measured otherwise: (expected, measured)."""
    pairs = {name: (value, measured[name]) for name, value in expected.items()}
    return {
        name: (value, found)
        for name, (value, found) in pairs.items()
        if not (found is None if value is None else found == pytest.approx(value))
    }


def lengths(bins: Mapping[int, tuple[int, float, int, float]]) -> dict[str, list[float]]:
    """Return the columns by length. bins: tokens (11: more than ten) -> n-grams, sum of weights,
    those of known frequency above 0, and the sum of log10 of it."""
    names = ("length_ngrams", "length_weight", "length_counted", "length_log_frequency")
    table = [bins.get(tokens, (0, 0.0, 0, 0.0)) for tokens in range(1, BINS + 1)]
    return {name: [line[at] for line in table] for at, name in enumerate(names)}


def ablated(**figures: tuple[float, int, int] | None) -> dict[str, float | int | None]:
    """Return the columns of ablations: switched off -> R-precision, hit_1, hit_k."""
    made: dict[str, float | int | None] = {}
    for what, values in figures.items():
        names = (f"{figure}_without_{what}" for figure in ("r_precision", "hit_1", "hit_k"))
        made |= dict(zip(names, values or (None, None, None), strict=True))
    assert made.keys() == {name for name in OF_OUTPUT if "_without_" in name}
    return made


@cache
def tables() -> dict[str, Any]:
    """Return all tables of the twelve questions."""
    return figures(to_table(rows()), k=K, seed=0)


def lines(table: Mapping[str, Any], *columns: str) -> list[list[Any]]:
    """Return some columns of a table, row by row."""
    places = [table["columns"].index(column) for column in columns]
    return [[row[place] for place in places] for row in table["rows"]]


def alike(expected: list[list[Any]]) -> list[list[Any]]:
    """Return rows that equal those whose numbers differ by rounding alone."""
    return [[pytest.approx(v) if isinstance(v, float) else v for v in line] for line in expected]
