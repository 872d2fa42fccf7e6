"""`argus traffic`: short and whole, and what it says."""

from __future__ import annotations

import pytest

from tests.support.examples import write_rows


@pytest.fixture
def log(tmp_path):
    rows = [
        {"query": f"question {i % 5} of jane@example.com", "results": [], "time": 1_772_323_200 + i}
        for i in range(20)
    ]
    write_rows(tmp_path / "log.jsonl", rows)
    return "log.jsonl"


def test_a_log_is_not_written_among(argus, log, tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / log).rename(tmp_path / "logs" / log)
    ran = argus("traffic", "audit", "logs", "--out", tmp_path / "logs")
    assert ran.code == 2 and "logs: it is the folder of the log; expected another place" in ran.err
    assert [path.name for path in (tmp_path / "logs").iterdir()] == [log]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("none.jsonl",), "none.jsonl: no such file or folder"),
        (("LOG", "--rules", "r.yaml"), "rules or edges without records"),
        (("LOG", "--split", "soon"), "--split: 'soon'"),
        (("LOG", "--hash-only", "--retriever", "r.py:f"), "a retriever beside --hash-only"),
        (("LOG", "--key-file", "none"), "no such file"),
        (("LOG", "--query-field", "ask"), "no field 'ask'"),
    ],
)
def test_bad_input_is_told(argus, log, arguments, problem):
    ran = argus("traffic", *(log if a == "LOG" else a for a in arguments), "--out", "out")
    assert ran.code == 2 and problem in ran.err
