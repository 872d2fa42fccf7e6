"""`argus traffic judge`: drawn, filled in, estimated; what it refuses."""

from __future__ import annotations

import json

import pytest

from tests.support.examples import write_rows


@pytest.fixture
def log(tmp_path):
    write_rows(
        tmp_path / "docs.jsonl", [{"_id": f"d{i}", "text": f"text of {i}"} for i in range(9)]
    )
    rows = [
        {"id": f"q{i}", "text": f"what of {i}", "documents": [f"d{i % 9}", "d0"], "risk": i / 40}
        for i in range(40)
    ]
    write_rows(tmp_path / "log.jsonl", rows)
    return ("log.jsonl", "--corpus", "docs.jsonl", "--budget", "12", "--out", "out")


def test_a_table_is_filled_in_and_read_back(argus, log, tmp_path):
    ran = argus("traffic", "judge", *log)
    assert ran.code == 0, ran.err
    assert "12 of 40 questions drawn, 0 judged by people" in ran.out
    table = tmp_path / "out" / "to_judge.tsv"
    text = table.read_text(encoding="utf-8-sig")
    table.write_text(text.replace("\t\twhat", "\t1\twhat"), encoding="utf-8")
    ran = argus("traffic", "judge", *log)
    assert "failure rate: 0.0% (95% 0.0% to" in ran.out and "A first look." in ran.out
    assert "--budget 26" in ran.out  # 1/26 - 1/40 is a quarter of 1/12 - 1/40
    ran = argus("traffic", "judge", *log, "--json")
    assert json.loads(ran.out)["judged"]["measured"] == 12


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--budget", "0"), "--budget"),
        (("--answers", "none.tsv"), "none.tsv"),
        (("--run", "none.trec"), "none.trec"),
        (("--relevant-from", "0"), "--relevant-from"),
        (("--api-key-env", "KEY"), "without --model"),
    ],
)
def test_bad_input_is_told(argus, log, more, problem):
    ran = argus("traffic", "judge", *log, *more)
    assert ran.code == 2 and problem in ran.err
