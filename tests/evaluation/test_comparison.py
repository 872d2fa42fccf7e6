"""Two of retrievers, indexes and runs: who loses what the other brings back."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from argus.data.folders import ArtifactFolder
from argus.data.types import Query
from argus.errors import InputError
from argus.evaluation.comparison import compare_retrievers

QUERIES = [Query("q1", "hot leaves"), Query("q2", "reggae Jamaica"), Query("q3", "week of Rain")]
QRELS = {"q1": {"tea": 1, "coffee": 1}, "q2": {"ska": 2, "rain": 0}, "q9": {"tea": 1}}


def one(query, k):
    return ["tea", "rain"][:k]


def other(query, k):
    return ["ska", "tea"][:k]


def test_what_one_alone_brings_back_is_told(tmp_path):
    out = tmp_path / "out"
    result = compare_retrievers([one, other], out=out, queries=QUERIES, qrels=QRELS, k=2)
    summary = result.summary
    assert (summary["of"], summary["names"]) == ("retrievers", ["one", "other"])
    assert (summary["only_before"], summary["only_after"]) == (3, 3)
    assert summary["judged"] == {
        "queries": 2, "relevant": 3, "both": 1, "only_before": 0, "only_after": 1, "neither": 1,
    }  # fmt: skip
    rows = pq.read_table(out / "comparison_only.parquet").to_pylist()
    assert [(r["query_id"], r["doc_id"], r["only"], r["rank"], r["grade"]) for r in rows[:2]] == [
        ("q2", "ska", "after", 1, 2), ("q1", "ska", "after", 1, None),
    ]  # fmt: skip
    assert {r["id"]: r["verdict"] for r in result.table.to_pylist()} == {
        "ska": "gained", "rain": "lost", "tea": "same",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"retrievers": [one]}, "--index, --retriever, --run"),
        ({"retrievers": [one, other], "queries": ()}, "--queries"),
        ({"retrievers": ["mine.txt", other]}, "--retriever"),
    ],
)
def test_what_cannot_be_compared_is_refused(options, where, tmp_path):
    with pytest.raises(InputError) as error:
        compare_retrievers(**{"queries": QUERIES, "out": tmp_path} | options)
    assert error.value.where == where
    assert not (tmp_path / "summary.json").exists()


@pytest.fixture
def runs(tmp_path):
    made = {
        "a.json": {"q1": ["x", "y"], "q2": ["x", "z"], "q3": ["x"]},
        "b.json": {"q1": ["y", "x"], "q2": ["w", "x"]},
    }
    for name, run in made.items():
        (tmp_path / name).write_text(json.dumps(run))
    return tmp_path / "a.json", tmp_path / "b.json"


def test_documents_gained_lost_and_kept_are_told(runs, tmp_path):
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(json.dumps({"_id": "w", "title": "W", "text": "w"}) + "\n")
    queries = [Query("q2", "Which?")]
    found = compare_retrievers(runs=runs, out=tmp_path / "out", queries=queries, corpus=corpus, k=2)
    assert {row["id"]: (row["verdict"], row["after"]) for row in found.table.to_pylist()} == {
        "w": ("gained", "in 1 lists"), "z": ("lost", "in 0 lists"),
        "x": ("same", "in 2 lists"), "y": ("same", "in 1 lists"),
    }  # fmt: skip
    assert found.summary["notes"] == ["1 queries are in one of the runs only: left out"]
    assert found.summary["changed_queries"] == 1


def test_runs_of_other_queries_and_fresh_over_input_are_refused(runs, tmp_path):
    other = tmp_path / "o.json"
    other.write_text('{"q9": ["x"]}')
    with pytest.raises(InputError, match="no query in common"):
        compare_retrievers(runs=(runs[0], other), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    ArtifactFolder(tmp_path).open()
    with pytest.raises(InputError, match="--fresh would empty"):
        compare_retrievers(runs=runs, out=tmp_path, fresh=True)
