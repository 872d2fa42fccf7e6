"""`argus traffic judge`: refusals."""

from __future__ import annotations

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
