"""Pseudo-queries out of a file: own rows, expansions, and what is wrong with a row."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from argus.errors import InputError
from argus.generative import pseudo_queries


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
    assert pseudo_queries.read(path) == {"a": ["one two", "three"], "b": ["four"]}


def test_more_than_three_queries_of_a_document_are_all_kept(tmp_path):
    many = [f"query {i}" for i in range(40)]
    path = write(tmp_path / "q.jsonl", {"_id": "a", "queries": many})
    assert pseudo_queries.read(path) == {"a": many}


def test_expansions_that_ship_and_those_in_a_folder_are_read(tmp_path):
    with files("argus.knowledge").joinpath("stdlib_expansions.jsonl").open("rb") as shipped:
        (tmp_path / "expansions.jsonl").write_bytes(shipped.read())
    found = pseudo_queries.read(tmp_path)
    assert found["abc.ABC"][0] == "create abstract class python"
    assert len(found) == 504
    assert found == pseudo_queries.read(tmp_path / "expansions.jsonl")


def test_an_expansion_without_pseudo_queries_is_passed_over(tmp_path):
    path = write(
        tmp_path / "e.jsonl",
        {"_id": "a", "state": "ok", "summary": "All of it."},
        {"_id": "b", "state": "failed", "reason": "no text"},
        {"_id": "c", "pseudo_queries": ["q"]},
    )
    assert pseudo_queries.read(path) == {"c": ["q"]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"_id": "b"}, "no queries field among '_id'; expected one of 'queries'"),
        ({"_id": "b", "text": "q"}, "no queries field among '_id', 'text'"),
        ({"queries": ["q"]}, "no document id field"),
        ({"_id": 7, "queries": ["q"]}, "7 is a number"),
        ({"_id": "b", "queries": "q"}, "'q' is of type str; expected a list of strings"),
        ({"_id": "b", "queries": ["q", 7]}, "7 among the queries"),
        ({"_id": "b", "queries": ["q\ud83d"]}, "half a surrogate pair"),
        ({"_id": "a", "queries": ["q"]}, "document 'a' comes twice: it was given on line 1"),
        ([1], "a JSON list"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_line(tmp_path, row, message):
    path = write(tmp_path / "q.jsonl", {"_id": "a", "queries": ["q"]}, row)
    with pytest.raises(InputError, match=message) as caught:
        pseudo_queries.read(path)
    assert f"{path}, line 2" in str(caught.value)


def test_a_missing_file_and_one_without_queries_are_refused(tmp_path):
    path = write(tmp_path / "q.jsonl", {"_id": "a", "queries": [" "]})
    with pytest.raises(InputError, match="no pseudo-query in 1 lines"):
        pseudo_queries.read(path)
    with pytest.raises(InputError, match="is a folder"):
        pseudo_queries.read(tmp_path)


def test_queries_of_other_documents_alone_are_refused():
    queries = {"x": ["q"], "d1": ["r"]}
    assert pseudo_queries.of_corpus(queries, {"d1", "d2"}, "file") == {"d1": ["r"]}
    with pytest.raises(InputError, match=r"none of them in the corpus .*'d1'.*with 'e'"):
        pseudo_queries.of_corpus(queries, {"e"}, "file")
    assert pseudo_queries.of_corpus({}, {"e"}, "file") == {}
