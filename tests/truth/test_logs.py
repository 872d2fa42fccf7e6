"""A log says how it is read, nobody is asked unnamed, and an order stands where no rate is."""

import json

import pytest

from tests.support.examples import write_rows

DOCUMENTS = [{"_id": "tide", "text": "the tide follows the moon"},
             {"_id": "bread", "text": "sourdough rises in a bowl"}]  # fmt: skip
ROWS = [
    {"ask": {"text": f"how high is spring tide {i}"}, "shown": [{"ref": "tide"}, {"ref": "bread"}],
     "asker": {"said": [{"mark": "up"}], "day": f"2026-03-0{i}", "team": "a"}}
    for i in range(1, 5)
]  # fmt: skip
NESTED = ("--query-field", "ask.text", "--results-field", "shown[].ref", "--feedback-field",
          "asker.said[].mark", "--time-field", "asker.day", "--by", "asker.team")  # fmt: skip


@pytest.fixture
def log(tmp_path):
    write_rows(tmp_path / "docs.jsonl", DOCUMENTS)
    write_rows(tmp_path / "log.jsonl", ROWS)
    write_rows(tmp_path / "bare.jsonl", [{"query": "how high is spring tide"}, {"query": "bread"}])
    return tmp_path


def summary(home, job="traffic"):
    return json.loads((home / "out" / "summary.json").read_text())[job]


@pytest.mark.parametrize(
    "option",
    ["--results-field", "--feedback-field", "--time-field", "--by"],
)
def test_a_named_field_that_no_record_has_is_an_error_and_nothing_is_written(argus, log, option):
    ran = argus("traffic", "bare.jsonl", option, "nosuch[].field", "--corpus", "docs.jsonl",
                "--out", "out")  # fmt: skip
    assert ran.code == 2
    assert option in ran.err and "'nosuch[].field'" in ran.err and "'query'" in ran.err
    assert not (log / "out").exists()


def test_a_field_that_only_a_late_record_has_is_found(argus, log):
    rows = [{"query": f"question {i}", "results": []} for i in range(100)]
    write_rows(log / "late.jsonl", [*rows, {"query": "last", "results": [], "said": "up"}])
    ran = argus("traffic", "late.jsonl", "--feedback-field", "said", "--out", "out")
    assert ran.code == 0, ran.err
    assert summary(log)["log"]["fields"]["feedback"] == {"said": 1}


def test_nested_paths_work_wherever_a_field_of_a_log_is_named(argus, log):
    ran = argus("traffic", "log.jsonl", *NESTED, "--corpus", "docs.jsonl", "--out", "out")
    assert ran.code == 0, ran.err
    told = summary(log)
    assert told["results"]["logged"] == 4 and told["feedback"]["bad"]["n"] == 4
    assert told["log"]["first"].startswith("2026-03-01")
    assert told["slices"]["fields"] == ["asker.team"] or "asker.team" in str(told["slices"])
    assert told["log"]["fields"]["results"] == {"shown[].ref": 4}
    assert told["documents"]["unknown"] == 0 and told["documents"]["different"] == 2


def test_nested_paths_work_in_spans(argus, log):
    spans = [{"attributes": {"openinference.span.kind": "RETRIEVER", "input.value": "tide?",
                             "hits": [{"ref": "tide"}], "who": {"said": "up"}}}]  # fmt: skip
    write_rows(log / "spans.jsonl", spans)
    ran = argus("traffic", "spans.jsonl", "--results-field", "attributes.hits[].ref",
                "--feedback-field", "attributes.who.said", "--out", "out")  # fmt: skip
    assert ran.code == 0, ran.err
    told = summary(log)
    assert told["results"]["logged"] == 1 and told["feedback"]["bad"]["n"] == 1


def test_nothing_is_asked_that_is_not_named(argus, log):
    ran = argus("traffic", "bare.jsonl", "--corpus", "docs.jsonl", "--out", "out")
    assert ran.code == 0, ran.err
    told = summary(log)
    assert told["results"] == {"logged": 0, "answered": 0, "unknown": 2, "nothing": None}
    assert told["retriever"] is None and "--retriever" in ran.out


def test_the_command_shows_first_how_it_reads_three_records(argus, log):
    ran = argus("traffic", "preview", "log.jsonl", *NESTED)
    assert ran.code == 0 and not (log / "out").exists()
    assert [line for line in ran.out.splitlines() if not line.startswith(" ")] == [
        f"log.jsonl, record {i}, read as plain:" for i in (1, 2, 3)
    ]
    for shown in ("ask.text = how high is spring tide 2", "shown[].ref = 2: tide, bread",
                  "asker.said[].mark = 1 good, 0 bad", "asker.day = 2026-03-02 00:00:00+00:00",
                  "asker.team = a"):  # fmt: skip
        assert shown in ran.out
    whole = argus("traffic", "log.jsonl", *NESTED, "--out", "out")
    assert all(f"argus: {line}" in whole.err for line in ran.out.splitlines())
    write_rows(log / "log.jsonl", [{"query": "mail jane@example.com"}])
    ran = argus("traffic", "preview", "log.jsonl")
    assert ran.code == 0 and "jane" not in ran.out and "<mail>" in ran.out


def test_an_audit_of_a_log_says_what_was_read(argus, log):
    rows = [{"query": "how high is spring tide", "shown": ["tide"], "time": "2026-03-01"},
            {"query": "how high is spring tide", "shown": None, "time": "2026-03-02"},
            {"query": "does sourdough rise", "shown": [], "time": "2026-03-04"}]  # fmt: skip
    write_rows(log / "log.jsonl", rows)
    ran = argus("traffic", "log.jsonl", "--results-field", "shown", "--out", "out")
    assert ran.code == 0, ran.err
    report = (log / "out" / "report.html").read_text()
    came = "known for 2: 2 from the log (shown)"
    for told in ("3 asks", "2 different questions", "2026-03-01", "2026-03-04",
                 "log.jsonl (plain)", came, "not for 1"):  # fmt: skip
        assert told in report and told in ran.out
