import json

import pytest

from argus.authority.config import AuthoritySource
from argus.authority.opening import open_authority, read_edges
from argus.authority.rules import Edge
from argus.errors import InputError


def write(tmp_path, *rows):
    file = tmp_path / "supersedes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_edges_carry_rule_confidence_and_relation(tmp_path):
    row = {"superseder": "c", "superseded": "b", "rule": "r", "confidence": 0.5, "relation": "x"}
    file = write(tmp_path, {"superseder": "b", "superseded": "a"}, row)
    assert read_edges(file) == [Edge("b", "a"), Edge("c", "b", "r", 0.5, "x")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"superseded": "a"}, "no superseding document field"),
        ({"superseder": "a", "superseded": "a"}, r"line 1: 'a' supersedes itself"),
        ({"superseder": "b", "superseded": "a", "confidence": 1.5}, "confidence 1.5"),
        ({"superseder": "b", "superseded": "a", "confidence": 10**400}, "a number above 0"),
        ({"superseder": "b", "superseded": 7}, "is a number"),
    ],
)
def test_broken_edges_are_named_with_their_line(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_edges(write(tmp_path, row))


def test_edges_less_sure_than_theta_are_left_out(tmp_path):
    records = tmp_path / "records.jsonl"
    records.write_text("".join(json.dumps({"_id": id_}) + "\n" for id_ in "abc"))
    unsure = {"superseder": "b", "superseded": "a", "confidence": 0.5}
    edges = write(tmp_path, unsure, {"superseder": "c", "superseded": "b"})
    opened = open_authority(AuthoritySource(records=records, edges=edges, theta=0.6))
    assert opened.below_theta == 1
    assert [opened.authority.closure([id_]) for id_ in "ab"] == [["a"], ["b", "c"]]
