"""The whole job: on each collection's questions, on logs with figures known by hand."""

import random

import pyarrow.parquet as pq
import pytest

import argus
from argus.errors import InputError
from tests.support.examples import write_rows

BEGIN = 1_772_323_200  # 2026-03-01


def test_equal_questions_are_counted_and_asked_once(tmp_path):
    asked = []

    def retriever(query, k):
        asked.append(query)
        return [("d1", 1.0)]

    first = "how do I reset the password"
    texts = [first, f"{first} 2", "How do I reset  the password?!", "which river?"]
    write_rows(tmp_path / "log.jsonl", [{"query": text} for text in texts])
    out = tmp_path / "out"
    result = argus.audit_traffic(tmp_path / "log.jsonl", out=out, retriever=retriever)
    figures = result.summary["questions"]
    assert (figures["different"], figures["repeated"]) == (3, 1)
    assert len(asked) == 3  # another number is another question
    assert result.summary["results"]["answered"] == 4


def test_windows_are_compared_by_tests(tmp_path):
    rng = random.Random(1)
    rows = []
    for i in range(400):  # the last third of the log: nothing comes back any more for half
        late = i >= 200
        results = [] if late and rng.random() < 0.5 else ["d1", "d2"]
        rows.append({"query": f"question number {i % 60 if i % 2 else i}", "results": results,
                     "time": BEGIN + i * 3600, "team": "a" if i % 4 else "b"})  # fmt: skip
    write_rows(log := tmp_path / "log.jsonl", rows)
    result = argus.audit_traffic(
        log, out=tmp_path / "out", reading=argus.traffic.LogConfig(by=("team",)),
        config=argus.traffic.TrafficConfig(resamples=1_000),
    )  # fmt: skip
    windows = result.summary["windows"]
    assert (windows["asks_before"], windows["asks_after"]) == (200, 200)
    (change,) = windows["changes"]
    assert change["outcome"] == "nothing came back" and change["before"]["share"] == 0
    assert change["low"] > 0.3
    same = change["same_questions"]
    assert same["queries"] == 30 and same["p_value"] < 0.01
    assert {row["slice"] for row in result.summary["slices"]["worst"]} == {"a", "b"}
    steps = pq.read_table(result.folder / "over_time.parquet").to_pylist()
    assert sum(row["asks"] for row in steps) == 400 and len(steps) == 17
    write_rows(shuffled := tmp_path / "shuffled.jsonl", rng.sample(rows, len(rows)))
    again = argus.audit_traffic(
        shuffled, out=tmp_path / "again", config=argus.traffic.TrafficConfig(resamples=1_000)
    )
    assert again.summary["windows"] == windows  # clocks that run backwards change no figure


RECORDS = [
    {"_id": "old", "type": "law", "time": "2020", "text": "the old law", "bill": ["b1"]},
    {"_id": "new", "type": "law", "time": "2026-03-10", "text": "the new law", "bill": ["b1"]},
]
EDGES = "superseder\tsuperseded\nnew\told\n"


def test_superseded_is_what_was_so_on_the_day(tmp_path):
    write_rows(records := tmp_path / "records.jsonl", RECORDS)
    (tmp_path / "edges.tsv").write_text(EDGES)
    rows = [
        {"query": "which law?", "results": ["old"], "time": "2026-03-05"},
        {"query": "which law?", "results": ["old"], "time": "2026-03-15"},
        {"query": "what law?", "results": ["old", "new"], "time": "2026-03-16"},
        {"query": "new law?", "results": ["new"], "time": "2026-03-17"},
        {"query": "other?", "results": ["elsewhere"], "time": "2026-03-17"},
    ]
    config = argus.traffic.TrafficConfig(
        records=records, edges=tmp_path / "edges.tsv", resamples=1_000
    )
    write_rows(log := tmp_path / "log.jsonl", rows)
    result = argus.audit_traffic(log, out=tmp_path / "out", config=config)
    stale = result.summary["superseded"]
    assert (stale["asks"]["n"], stale["asks"]["share"]) == (4, 0.5)
    assert stale["alone"] == 1
    assert stale["examples"] == [{"id": "old", "asks": 2, "instead": ["new"]}]
    assert "superseded" in [*result.headline()][-1]


def test_hashes_alone_keep_no_text(tmp_path):
    rows = [{"query": f"secret question {i % 3}", "results": ["d1"]} for i in range(9)]
    write_rows(log := tmp_path / "log.jsonl", rows)
    reading = argus.traffic.LogConfig(hash_only=True)
    result = argus.audit_traffic(log, out=tmp_path / "out", reading=reading)
    assert result.summary["questions"]["different"] == 3 and result.summary["unmet"] is None
    for path in result.folder.rglob("*"):
        if path.is_file():
            assert b"secret question" not in path.read_bytes()
    table = pq.read_table(result.folder / "questions.parquet").to_pylist()
    assert sorted(row["asks"] for row in table) == [3, 3, 3]
    other = argus.audit_traffic(log, out=tmp_path / "other", reading=reading)
    names = pq.read_table(other.folder / "questions.parquet")["question"].to_pylist()
    assert {row["question"] for row in table}.isdisjoint(names)  # another salt
    with pytest.raises(InputError, match="--hash-only"):
        argus.audit_traffic(log, out=tmp_path / "r", reading=reading, retriever=print)
