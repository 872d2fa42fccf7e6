"""What is taken out of a query's results before these are scored."""

from __future__ import annotations

import json

import pytest

from argus.data.runs import read_excluded, spare, without_excluded
from argus.errors import InputError, Location


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_bright_examples_are_read(tmp_path):
    rows = [
        {"id": "0", "query": "a", "excluded_ids": ["N/A"], "gold_ids": ["d1"]},
        {"id": "1", "query": "b", "excluded_ids": ["d3", "d4", "d3"], "gold_ids": ["d1"]},
        {"id": "2", "query": "c", "excluded_ids": [], "gold_ids": ["d1"]},
    ]
    excluded = read_excluded(write(tmp_path / "examples.jsonl", *rows))
    assert excluded == {"1": {"d3", "d4"}} and spare(excluded) == 2
    assert spare({}) == 0


def test_results_are_cut_after_the_excluded_are_out():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 1.0, "b": 0.5, "c": 0.2}}
    excluded = {"q": frozenset({"a"})}
    assert without_excluded(run, excluded, 2) == {
        "q": {"b": 2.0, "c": 1.0}, "r": {"a": 1.0, "b": 0.5},
    }  # fmt: skip
    assert without_excluded(run, excluded)["r"] == run["r"]
    assert run["q"]["a"] == 3.0


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"id": "0", "excluded_ids": "d1"}, "excluded_ids"),
        ({"id": "0", "excluded_ids": [7]}, "excluded_ids"),
        ({"id": "0"}, None),
        ({"id": 0, "excluded_ids": []}, "id"),
    ],
)
def test_broken_rows_are_refused_by_their_place(tmp_path, row, field):
    path = write(tmp_path / "excluded.jsonl", row)
    with pytest.raises(InputError) as error:
        read_excluded(path)
    assert error.value.where == Location(path, 1, field)


def test_a_query_that_stands_twice_is_refused(tmp_path):
    row = {"id": "0", "excluded_ids": ["d1"]}
    with pytest.raises(InputError, match="'0' stands twice") as error:
        read_excluded(write(tmp_path / "excluded.jsonl", row, row))
    assert error.value.where.line == 2
