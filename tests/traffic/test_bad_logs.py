"""Read logs as they are: broken, partial, contradictory, hostile."""

from __future__ import annotations

import bz2
import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import argus
from argus.data.types import Document
from argus.errors import InputError, NothingMeasured
from argus.traffic import files
from argus.traffic.exchange import Exchange, ReadingTally
from argus.traffic.files import TOO_LONG
from argus.traffic.formats import KIND, NO_DOCUMENTS, records_in
from argus.traffic.values import NO_FEEDBACK, NO_RESULTS, opinion
from tests.support.examples import write_rows

FEW = argus.TrafficConfig(resamples=1_000)


DOCUMENTS = [Document("d1", "the river Aare"), Document("d2", "the city of Bern")]


def run(path: Path, out: Path, **more: Any) -> argus.TrafficSummary:
    return argus.audit_traffic(path, out=out, config=FEW, **more).summary


def lines(path: Path, *rows: Any) -> Path:
    write_rows(path, rows)
    return path


def test_a_log_of_another_shape_names_its_fields(tmp_path):
    path = lines(tmp_path / "log.jsonl", {"level": "info", "msg": {"id": 1}})
    with pytest.raises(InputError, match=r"no question among 'level', 'msg'.*--query-field"):
        run(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="no field 'ask'"):
        run(path, tmp_path / "out", reading=argus.LogConfig(query_field="ask"))


def test_half_written_lines_cost_themselves_alone(tmp_path):
    path = tmp_path / "log.jsonl"
    good = json.dumps({"query": "a", "results": ["d1"]})
    whole = f"{good}\n{good[:20]}\n{good}\n".encode()
    path.write_bytes(whole + b"\xff\xfe{}\n[1]\n" + good[:9].encode())
    log = run(path, tmp_path / "out")["log"]
    assert log["asks"] == 2
    assert log["skipped"] == {"half-written or broken JSON": 2, "bytes that are not UTF-8": 1,
                              "a JSON int, no object": 1}  # fmt: skip


def test_a_list_and_a_file_that_break_off_are_read_up_to_there(tmp_path):
    rows = [{"query": f"question {i}", "results": ["d1"]} for i in range(5_000)]
    text = json.dumps(rows, indent=1)
    (tmp_path / "log.json").write_text(text[: len(text) // 2])
    log = run(tmp_path / "log.json", tmp_path / "out")["log"]
    assert 2_400 < log["asks"] < 2_600 and log["skipped"] == {"half-written or broken JSON": 1}
    packed = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
    (tmp_path / "log.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    log = run(tmp_path / "log.jsonl.gz", tmp_path / "out2")["log"]
    assert log["asks"] > 1_000 and log["skipped"]["compressed data that end early"] == 1


def test_feedback_that_contradicts_itself_is_told_and_in_no_share(tmp_path):
    path = lines(
        tmp_path / "log.jsonl",
        {"query": "a", "feedback": ["up", "down"], "user": "x"},
        {"query": "b", "feedback": "up", "user": "y"},
        {"query": "b", "feedback": False, "user": "y"},
        {"query": "c", "feedback": 1}, {"query": "c", "feedback": -1},
        {"query": "d", "feedback": "maybe"},
    )  # fmt: skip
    result = argus.audit_traffic(path, out=tmp_path / "out", config=FEW)
    feedback = result.summary["feedback"]
    assert feedback is not None and feedback["bad"] is not None
    assert (feedback["with_opinion"], feedback["contradicting"]) == (5, 1)
    assert (feedback["bad"]["n"], feedback["bad"]["share"]) == (4, 0.5)
    assert (feedback["changed_mind"], feedback["disputed"]) == (1, 2)
    assert result.summary["log"]["remarks"] == {"feedback that is neither good nor bad": 1}
    assert any("contradicts itself" in line for line in result.headline())


def test_secrets_inside_questions_are_nowhere_in_the_results(tmp_path):
    secrets = ["jane.doe@example.com", "4111 1111 1111 1111", "+49 30 1234567",
               "DE89 3704 0044 0532 0130 00", "sk-ant-api03-abcdefghijklmnop1234"]  # fmt: skip
    rows = [{"query": f"what of {secret} now", "results": [f"d-{secret}"], "team": secret,
             "user": secret, "session_id": secret, "query_id": secret}
            for secret in secrets]  # fmt: skip
    rows += [{"query": f"context of {s}", "results": [{"text": f"about {s}"}]} for s in secrets]
    path = lines(tmp_path / "log.jsonl", *rows)
    result = argus.audit_traffic(
        path, out=tmp_path / "out", config=FEW, reading=argus.LogConfig(by=("team",)),
        retriever=lambda query, k: [("d1", 1.0)],
    )  # fmt: skip
    assert set(result.summary["log"]["redacted"]) == {"mail", "card", "phone", "account", "token"}
    written = [path for path in result.folder.rglob("*") if path.is_file()]
    text = b"".join(path.read_bytes() for path in written if path.suffix != ".parquet").decode()
    for path in result.folder.glob("*.parquet"):
        text += str(pq.read_table(path).to_pylist())
    for secret in (secrets[0], secrets[4]):  # in ids, numbers are the documents' own
        assert secret not in text
    questions = str(pq.read_table(result.folder / "questions.parquet")["text"].to_pylist())
    assert not any(secret in questions for secret in secrets)


SCALE, UNTOLD = "a scale; they", "good or bad cannot be told; they"


@pytest.mark.parametrize(
    ("marks", "bad", "remark"),
    [
        ([1, 2, 3, 4, 5], None, f"marks in 'thumb' from 1 to 5, {SCALE}"),
        ([1, 0, 0.5], None, f"marks in 'thumb' from 0 to 1, {SCALE}"),
        ([1, 0, 0, "0"], (3, 4), None),
        ([1, -1, 0, 0], (1, 2), None),
        ([1, 1, 1], None, f"marks in 'thumb' that are all 1: {UNTOLD}"),
        ([0, -1], None, f"marks in 'thumb' that are all -1 or 0: {UNTOLD}"),
        (["up", False, 1, 1], (1, 2), f"marks in 'thumb' that are all 1: {UNTOLD}"),
        ([[1, 0], 0], (1, 1), None),
        ([{"value": 0}, {"score": 1}], (1, 2), None),
    ],
)
@pytest.mark.parametrize("as_events", [False, True])
def test_numbers_are_thumbs_or_marks_by_all_of_their_field(tmp_path, marks, bad, remark, as_events):
    path = tmp_path / "log.jsonl"
    if as_events:
        queries = [{"query_id": i, "client_id": "c", "user_query": "a"} for i in range(len(marks))]
        events = [{"query_id": i, "action_name": "rate", "event_attributes": {"thumb": mark}}
                  for i, mark in enumerate(marks)]  # fmt: skip
        lines(path, *events, *queries)
    else:
        lines(path, *({"query": "a", "thumb": mark} for mark in marks))
    summary = run(path, tmp_path / "out")
    share = (summary["feedback"] or {}).get("bad")
    told = bad and (share["n"] * share["share"], share["n"])
    assert (told or None) == bad and (bad or not share)
    known = [f"{remark} count only with --good-from"] if remark else []
    assert list(summary["log"]["remarks"]) == known
    clicked = (summary["feedback"] or {}).get("clicked")
    assert not clicked


def test_a_spreadsheet_of_semicolons_is_read_and_utf_16_says_so(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("query;results\nthe river Aare, and its bridges;d1\nBern;d2\n", "utf-8-sig")
    assert run(path, tmp_path / "out")["log"]["asks"] == 2
    asks = pq.read_table(tmp_path / "out" / "questions.parquet")["text"].to_pylist()
    assert "the river Aare, and its bridges" in asks
    path.write_text("query,results\nBern,d2\n", "utf-16")
    with pytest.raises(InputError, match=r"UTF-16.*iconv"):
        run(path, tmp_path / "out2")
    path.write_text("")
    with pytest.raises(NothingMeasured, match="it is empty"):
        run(path, tmp_path / "out3")


STRAY = "a line with a quote that is not closed"


def asked(path: Path, text: str) -> tuple[list[str], dict[str, int]]:
    path.write_text(text, encoding="utf-8")
    reader = argus.read_traffic(path)
    return [one.query for one in reader if isinstance(one, argus.Exchange)], reader.tally.skipped


@pytest.mark.parametrize(
    "line", ['2024-01-09,"5 inch disk', '"5 inch disk,9', '2024-01-09,"', '2024-01-09,"5 "" disk']
)
@pytest.mark.parametrize("later", ["", '2024-01-01,"a, b"\n', '2024-01-01,""\n'])
def test_a_stray_quote_costs_its_line_alone(tmp_path, line, later):
    rows = [f"2024-01-01,apple {i}\n" for i in range(200)]
    text = "".join(["time,query\n", *rows[:10], f"{line}\n", *rows[10:], later, *rows[:2]])
    queries, skipped = asked(tmp_path / "log.csv", text)
    assert len(queries) == 202 + ("a" in later) and skipped.pop(STRAY) == 1
    assert sum(skipped.values()) == ('""' in later)  # an empty question


def test_fields_of_several_lines_are_whole_however_long_they_are(tmp_path):
    long = "\n".join(f"line {i}, and more" for i in range(5_000))
    text = f'id,query,by\n1,"a ""b"",\nc\n",x\n2,"{long}",y\n3,"q" z,w\n4,"5" disk",w\n'
    queries, skipped = asked(tmp_path / "log.csv", text)
    assert queries == ['a "b",\nc', long, "q z", '5 disk"'] and not skipped


HUGE = "1" + "0" * 400


"""A whole number that JSON may hold, and no float can."""


LONG_HEX = f"0x{'f' * 5_000}"


"""A number that Python reads, and does not write: it has too many digits."""


GOOD = '{"query": "Aare?", "results": ["d1"]}'


DEEP = "[" * 600 + "]" * 600


def read(path: Path, text: str) -> tuple[list[Exchange], argus.TrafficReader]:
    path.write_text(text, encoding="utf-8")
    reader = argus.read_traffic(path)
    return [one for one in reader if isinstance(one, Exchange)], reader


def span(**attributes: Any) -> str:
    kinds = {KIND: "RETRIEVER", "input.value": "Bern?"}
    return json.dumps({"attributes": {**kinds, **attributes}})


def otlp(*values: Any) -> str:
    kinds = {KIND: "RETRIEVER", "input.value": "Bern?"}
    pairs: list[dict[str, Any]] = [
        {"key": name, "value": {"stringValue": one}} for name, one in kinds.items()
    ]
    pairs += [{"key": "retrieval.documents", "value": value} for value in values]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": pairs}]}]}]})


def with_field(name: str, value: Any) -> str:
    return json.dumps({"query": "Bern?", name: value})


@pytest.mark.parametrize(
    ("record", "remark"),
    [
        (f'{{"query": "Bern?", "feedback": {HUGE}}}', NO_FEEDBACK),
        (f'{{"query": "Bern?", "feedback": {DEEP}}}', None),
        (with_field("feedback", "{[1]: 2}"), NO_FEEDBACK),
        (with_field("feedback", f"[{LONG_HEX}]"), NO_FEEDBACK),
        (with_field("results", "[{[]}]"), None),
        (with_field("results", [{"nothing": 1}]), NO_RESULTS),
        (span(**{"retrieval.documents": {"²": {"document.id": "a"}}}), NO_RESULTS),
        (span(**{"retrieval.documents": {"9" * 5_000: {"document.id": "a"}}}), NO_RESULTS),
        (span(**{f"retrieval.documents.{'9' * 5_000}.document.id": "a"}), NO_DOCUMENTS),
        (otlp({"arrayValue": [1]}), NO_DOCUMENTS),
        (otlp({"arrayValue": {"values": 5}}), NO_DOCUMENTS),
        (otlp({"arrayValue": {}}), None),
        (otlp({"kvlistValue": "x"}), NO_DOCUMENTS),
    ],
)
def test_an_odd_value_is_no_value(tmp_path, record, remark):
    exchanges, reader = read(tmp_path / "log.jsonl", f"{record}\n")
    assert [one.query for one in exchanges] == ["Bern?"]
    assert (exchanges[0].good, exchanges[0].bad) == (0, 0)
    assert reader.tally.remarks.total() == 0 if remark is None else reader.tally.remarks[remark]
    assert not reader.tally.skipped


def nested(wrap: Callable[[Any], Any], inside: Any) -> Any:
    """Return something inside more layers than Python calls functions inside functions."""
    for _ in range(5_000):
        inside = wrap(inside)
    return inside


def test_what_is_nested_is_found_however_deep():
    tally = ReadingTally()
    found = {"query": "Aare?"}
    assert list(files.flat(nested(lambda one: [one], found), tally)) == [found]
    assert list(records_in(nested(lambda one: {"hits": {"hits": [one]}}, found))) == [found]
    assert opinion(nested(lambda one: [{"score": one}], "up"), None, tally)[:2] == (1, 0)
    assert not tally.skipped and not tally.remarks


PACKINGS = pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)]
)


@PACKINGS
@pytest.mark.parametrize("longest", [1_000, 1_001, 1_002, 1_003])
def test_a_list_on_one_line_may_be_longer_than_a_line(tmp_path, monkeypatch, ending, pack, longest):
    monkeypatch.setattr(files, "MAX_LINE", longest)
    monkeypatch.setattr(files, "CHUNK", 100)
    rows = [{"query": f"東京🙂 {i}", "results": ["d1"]} for i in range(500)]
    path = tmp_path / f"log.json{ending}"
    path.write_bytes(pack(json.dumps(rows, ensure_ascii=False).encode("utf-8-sig")))
    reader = argus.read_traffic(path)
    asked = [one.query for one in reader if isinstance(one, Exchange)]
    assert asked == [row["query"] for row in rows] and not reader.tally.skipped


@PACKINGS
@pytest.mark.parametrize("character", [" ", "x"])
def test_a_line_without_an_end_is_passed_over_in_bounded_memory(
    tmp_path, monkeypatch, ending, pack, character
):
    monkeypatch.setattr(files, "MAX_LINE", 1 << 16)
    monkeypatch.setattr(files, "CHUNK", 1 << 16)
    path = tmp_path / f"log.jsonl{ending}"
    long = character * (1 << 24)
    path.write_bytes(pack(f"{GOOD}\n{long}\n{GOOD}\n{long}".encode()))
    del long
    reader = argus.read_traffic(path)
    tracemalloc.start()
    try:
        assert len(list(reader)) == 2
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reader.tally.skipped == {TOO_LONG: 2}
    assert peak < 1 << 22


def opened(path: Path, **fields: Any) -> tuple[str, ...]:
    (one,), _ = read(path / "log.jsonl", json.dumps({"query": "Bern?", **fields}))
    return one.clicks


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"clicks": 0}, ()), ({"clicks": "0"}, ()), ({"clicks": 0.0}, ()), ({"clicks": 3}, ("",)),
        ({"clicks": False}, ()), ({"clicked": "false"}, ()), ({"clicked": True}, ("",)),
        ({"clicked": "yes"}, ("",)), ({"clicks": []}, ()), ({"clicks": "[]"}, ()),
        ({"clicks": "['d2']"}, ("d2",)), ({"clicks": ["d2", None, True]}, ("d2",)),
        ({"clicked": [{"id": "d2", "rank": 2}]}, ("d2",)), ({"click": {"doc_id": 7}}, ("7",)),
        ({"clicked": "d2,d1"}, ("d2", "d1")), ({"clicked": "d2,d9"}, ("d2,d9",)),
        ({"clicked": "a,b"}, ("a,b",)), ({"clicked_id": 0}, ("0",)), ({"clicked": 17}, ("17",)),
        ({"clicks": 1, "clicked_ids": ["d1"]}, ("d1",)),
        ({"clicks": 3, "clicked_ids": []}, ("",)), ({"clicks": "null"}, ()),
    ],
)  # fmt: skip
def test_what_was_opened_is_a_count_a_mark_or_ids(tmp_path, fields, expected):
    assert opened(tmp_path, results=["d1", "d2", "a,b"], **fields) == expected
