import json

import pytest

from argus.authority.edges import read_authority, read_edges
from argus.authority.rules import Edge
from argus.errors import InputError


def write(tmp_path, *rows):
    file = tmp_path / "supersedes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_edges_carry_rule_confidence_and_relation(tmp_path):
    file = write(
        tmp_path,
        {"superseder": "b", "superseded": "a"},
        {"superseder": "c", "superseded": "b", "rule": "r", "confidence": 0.5, "relation": "x"},
    )
    assert read_edges(file) == [Edge("b", "a"), Edge("c", "b", "r", 0.5, "x")]


def test_confidences_in_text_formats_are_read_as_numbers(tmp_path):
    file = tmp_path / "edges.tsv"
    file.write_text("superseding\tsuperseded\tconfidence\nb\ta\t0.25\nc\ta\t\n")
    assert [edge.confidence for edge in read_edges(file)] == [0.25, 1.0]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"superseded": "a"}, "no superseding document field"),
        ({"superseder": "a", "superseded": "a"}, r"line 1: 'a' supersedes itself"),
        ({"superseder": "b", "superseded": "a", "confidence": 1.5}, "confidence 1.5"),
        ({"superseder": "b", "superseded": "a", "confidence": 0}, "more than 0"),
        ({"superseder": "b", "superseded": "a", "confidence": "much"}, "'much'"),
        ({"superseder": "b", "superseded": "a", "confidence": 10**400}, "a number above 0"),
        ({"superseder": "b", "superseded": 7}, "is a number"),
    ],
)
def test_broken_edges_are_named_with_their_line(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_edges(write(tmp_path, row))


def test_a_file_without_edges_is_refused(tmp_path):
    with pytest.raises(InputError, match="no row in it"):
        read_edges(write(tmp_path))


def test_a_relation_of_edges_alone_has_their_ids_as_records(tmp_path):
    rows = [{"superseder": n, "superseded": o} for o, n in (("a", "b"), ("b", "c"), ("x", "c"))]
    authority = read_authority(write(tmp_path, *rows))
    assert authority.controlling(["a"]) == ["c"] and len(authority) == 4


def test_a_circle_is_refused_with_its_chain_and_file(tmp_path):
    rows = [{"superseder": n, "superseded": o} for o, n in (("a", "b"), ("b", "a"))]
    with pytest.raises(InputError, match=r"supersedes\.jsonl: a cycle of 2: 'a', superseded by"):
        read_authority(write(tmp_path, *rows))


def test_a_file_may_be_named_as_text(tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text("superseder,superseded\nb,a\n")
    assert read_edges(str(file)) == read_edges(file)
