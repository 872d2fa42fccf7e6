"""Pseudo-queries out of a file: own rows, expansions, and what is wrong with a row."""

import json
from pathlib import Path

import pytest

from argus.errors import InputError
from argus.generative.passages import read_pseudo_queries


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_of_queries_are_read_by_document(tmp_path):
    path = write(
        tmp_path / "q.jsonl",
        {"_id": "a", "queries": [" one  two\n", "", "three", "one two"]},
        {"doc_id": "b", "pseudo_queries": ["four"]},
        {"id": "c", "queries": []},
        {"id": "d", "queries": None},
    )
    assert read_pseudo_queries(path) == {"a": ["one two", "three"], "b": ["four"]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"_id": "b"}, "no queries field among '_id'; expected one of 'queries'"),
        ({"_id": "b", "queries": ["q", 7]}, "expected a list of strings"),
        ({"_id": "b", "queries": ["q\ud83d"]}, "half a surrogate pair"),
        ({"_id": "a", "queries": ["q"]}, "document 'a' comes twice: it was given on line 1"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_line(tmp_path, row, message):
    path = write(tmp_path / "q.jsonl", {"_id": "a", "queries": ["q"]}, row)
    with pytest.raises(InputError, match=message) as caught:
        read_pseudo_queries(path)
    assert f"{path}, line 2" in str(caught.value)
