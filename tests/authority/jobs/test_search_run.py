"""`argus authority search --run`: anchors out of any retriever's run."""

from __future__ import annotations

import json

import pytest

from argus.authority.config import AuthoritySource
from argus.authority.search import search_authority
from argus.errors import InputError


@pytest.fixture
def source(tmp_path):
    rows = [
        {"_id": i, "text": i, "type": "p", "time": str(t)}
        for i, t in (("a", "2020"), ("b", "2021"))
    ]
    records, edges = tmp_path / "records.jsonl", tmp_path / "edges.tsv"
    records.write_text("".join(json.dumps(row) + "\n" for row in rows))
    edges.write_text("superseder\tsuperseded\nb\ta\n")
    return AuthoritySource(
        records=records, rules=None, edges=edges, as_of=None, known_by=None, theta=0.0
    )


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"q1": ["a", "c"], "q2": ["c"]}))
    return tmp_path / "run.json"


def test_what_a_run_found_is_replaced_by_what_controls_it(source, run):
    found = search_authority("q1", source, run=run)
    assert [(hit["id"], hit["anchor"]) for hit in found["results"]] == [("b", "a"), ("c", "c")]
    assert found["ranked_by"] == str(run)


def test_unknown_queries_and_runs_without_records_are_refused(source, run):
    with pytest.raises(InputError, match=r"no query has the id 'q'.*Did you mean 'q2' or 'q1'"):
        search_authority("q", source, run=run)
    with pytest.raises(InputError, match="no document found has a record; the first is 'c'"):
        search_authority("q2", source, run=run)
    with pytest.raises(InputError, match="--index with --run"):
        search_authority("q1", source, run=run, index="ix")
