"""Pseudo-queries and summaries: what is read, and what is embedded."""

import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.scenarios.files import Baseline, Expansion, expanded, read_expansions
from tests.support.tasks import lines


def test_three_different_queries_and_a_summary_are_read(tmp_path):
    queries = {"id": "a", "main_topic": "t", "pseudo_queries": ["1", " 1", "2", "", "3", "4"]}
    file = lines(tmp_path / "e.jsonl", queries, {"id": "b", "summary": " $x^2$ "}, {"id": "c"})
    found = read_expansions(file)
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
        read_expansions(lines(tmp_path / "e.jsonl", row))
