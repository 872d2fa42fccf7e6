"""Runs are read, written and cut."""

import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.data.runs import (
    cut,
    ranking,
    read_excluded,
    read_run,
    spare,
    without_excluded,
    write_run,
)
from argus.errors import InputError

ids = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=5)
runs = st.dictionaries(
    ids,
    st.dictionaries(ids, st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@given(runs)
def test_a_written_run_is_read_back_to_the_last_bit(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("runs") / "run.trec"
    write_run(path, run)
    assert read_run(path) == run


def test_gzipped_and_json_runs_are_read(tmp_path):
    run = {"q1": {"d1": 1.5, "d2": 0.5}}
    write_run(tmp_path / "run.trec.gz", run)
    with gzip.open(tmp_path / "run.trec.gz", "rt") as file:
        assert file.read() == "q1 Q0 d1 1 1.5 argus\nq1 Q0 d2 2 0.5 argus\n"
    assert read_run(tmp_path / "run.trec.gz") == run
    (tmp_path / "run.json").write_text(json.dumps(run))
    assert read_run(tmp_path / "run.json") == run


def test_scores_decide_and_ties_break_by_id(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q\tQ0\tb\t1\t2\tx\n\nq Q0 a 2 2 x\nq Q0 c 3 9 x\n")
    run = read_run(path)
    assert ranking(run["q"]) == ["c", "a", "b"]
    assert cut(run, 2) == {"q": {"c": 9.0, "a": 2.0}}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.trec", "q Q0 d 1 0.5\n", "line 1: 5 columns; expected 6, split at white space: query"),
        ("r.trec", "q Q0 d 1 1 x\nq Q0 e 2 nan x\n", "line 2, field 'score': 'nan'; expected a fi"),
        ("r.trec", "q Q0 d 1 inf x\n", "'inf'; expected a finite number"),
        ("r.trec", "q Q0 d 1 1_000 x\n", "'1_000'; expected a finite number"),
        ("r.trec", "q Q0 d 1 ١ x\n", "'١'; expected a finite number"),
        ("r.json", '{"q": {"d": "1_0"}}', "'1_0'; expected a finite number"),
        ("r.trec", "q Q0 d 1 1 x\nq Q0 d 2 2 x\n", "line 2: document 'd' is given twice for query"),
        ("r.trec", "\n", "no result in it"),
        ("r.json", '{"q": {}}', "no result in it"),
        ("r.json", '{"q": {"\\ud800": 1}}', "cannot be read as a run ('utf-8' codec can't encode"),
        ("r.json", '{"q": "d"}', "cannot be read as a run ('str' object has no"),
        ("r.json", '{"q": ["d", 7]}', "cannot be read as a run (sequence item 1"),
        ("r.json", '{"q": {"d": NaN}}', "field 'q.d': nan; expected a finite number"),
        ("r.json", '{"q": {"d": true}}', "True; expected a finite number"),
        ("r.json", '{"q": ', "cannot be read as a run"),
    ],
)
def test_a_broken_run_names_file_line_and_field(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=f"^{tmp_path / name}.*{re.escape(message)}"):
        read_run(tmp_path / name)


def test_bright_examples_are_read(tmp_path):
    rows = [
        {"id": "0", "query": "a", "excluded_ids": ["N/A"], "gold_ids": ["d1"]},
        {"id": "1", "query": "b", "excluded_ids": ["d3", "d4", "d3"], "gold_ids": ["d1"]},
        {"id": "2", "query": "c", "excluded_ids": [], "gold_ids": ["d1"]},
    ]
    (tmp_path / "examples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    excluded = read_excluded(tmp_path / "examples.jsonl")
    assert excluded == {"1": {"d3", "d4"}} and spare(excluded) == 2


def test_results_are_cut_after_the_excluded_are_out():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 1.0, "b": 0.5, "c": 0.2}}
    excluded = {"q": frozenset({"a"})}
    assert without_excluded(run, excluded, 2) == {
        "q": {"b": 2.0, "c": 1.0}, "r": {"a": 1.0, "b": 0.5},
    }  # fmt: skip
    assert without_excluded(run, excluded)["r"] == run["r"]
    assert run["q"]["a"] == 3.0
