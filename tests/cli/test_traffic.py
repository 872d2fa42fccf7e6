"""`argus traffic`: short and whole, and what it says."""

from __future__ import annotations

import json

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


@pytest.mark.parametrize("words", [("traffic",), ("traffic", "audit")])
def test_a_log_is_audited_by_its_group_or_its_command(argus, log, tmp_path, words):
    ran = argus(*words, log, "--out", "out", "--resamples", "1000")
    assert ran.code == 0, ran.err
    assert "nothing came back: 100.0% (83.9% to 100.0%) of 20 asks" in ran.out
    assert "replaced before anything was kept: 20 mail" in ran.out
    lines = ran.out.splitlines()
    after = lines[lines.index("report: out/report.html") + 1 :]  # the verdict, and what to do next
    assert any(line.startswith("next, by what it is expected to bring") for line in after)
    assert any("argus traffic judge out" in line for line in after)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["traffic"]
    assert summary["questions"]["different"] == 5


def test_options_may_come_first(argus, log):
    ran = argus("traffic", "--json", "--redact", "q=question [0-9]", "--out", "out", log)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["log"]["redacted"] == {"q": 20, "mail": 20}


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
