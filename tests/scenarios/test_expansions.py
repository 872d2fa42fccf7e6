"""Pseudo-queries and summaries: what is read, and what is embedded."""

import json

import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.scenarios.expansions import Baseline, Expansion, expanded, read_expansions


def write(tmp_path, *rows):
    path = tmp_path / "expansions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_three_different_queries_and_a_summary_are_read(tmp_path):
    write(
        tmp_path,
        {"id": "a", "main_topic": "t", "pseudo_queries": ["1", " 1", "2", "", "3", "4"]},
        {"id": "b", "summary": " $x^2$ "},
        {"id": "c"},
    )
    found = read_expansions(tmp_path)
    assert found["a"] == Expansion("a", ("1", "2", "3"))
    assert found["b"] == Expansion("b", (), "$x^2$") and found["c"] == Expansion("c")
    document = Document("a", "Text.", "Title")
    texts = expanded(document, found["a"], Baseline.PSEUDO_QUERIES)
    assert texts == f"{document.content}\n1\n2\n3"
    assert expanded(document, found["a"], Baseline.SUMMARY) == document.content


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "b", "pseudo_queries": "one string"}, "line 1.*no list of texts"),
        ({"id": "b", "summary": 5}, "line 1.*no list of texts"),
        ({"id": "b"}, "no expansion that can be used in 1 lines"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_expansions(write(tmp_path, row))
