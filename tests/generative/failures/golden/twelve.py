"""The hand-made output of twelve questions, and how its rows are held against those worked out."""

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
