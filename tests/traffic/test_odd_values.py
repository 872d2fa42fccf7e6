"""Values that go beyond what Python counts, nests or writes cost no more than their record."""

from __future__ import annotations

import bz2
import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import argus
from argus.errors import InputError
from argus.traffic import files
from argus.traffic.exchange import Exchange, ReadingTally
from argus.traffic.files import TOO_LONG
from argus.traffic.formats import KIND, NO_DOCUMENTS, UNREADABLE, fits_spans, records_in
from argus.traffic.values import NO_FEEDBACK, NO_RESULTS, opinion

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


def asked(name: str, value: Any) -> str:
    return json.dumps({"query": "Bern?", name: value})


@pytest.mark.parametrize(
    ("record", "remark"),
    [
        (f'{{"query": "Bern?", "feedback": {HUGE}}}', NO_FEEDBACK),
        (f'{{"query": "Bern?", "feedback": {DEEP}}}', None),
        (asked("feedback", "{[1]: 2}"), NO_FEEDBACK),
        (asked("feedback", f"[{LONG_HEX}]"), NO_FEEDBACK),
        (asked("results", "[{[]}]"), None),
        (asked("results", [{"nothing": 1}]), NO_RESULTS),
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


@pytest.mark.parametrize("field", ['"id": "d1"', '"text": "a passage"'])
def test_a_score_larger_than_any_float_is_none(tmp_path, field):
    record = f'{{"query": "Bern?", "results": [{{{field}, "score": {HUGE}}}]}}'
    (one,), _ = read(tmp_path / "log.jsonl", record)
    assert one.results is not None and [result.score for result in one.results] == [None]


@pytest.mark.parametrize(
    "record",
    [asked("results", f"[{LONG_HEX}]"), asked("results", f"{{'results': [{LONG_HEX}]}}")],
)
def test_a_record_that_cannot_be_read_is_counted_and_the_next_ones_are_read(tmp_path, record):
    exchanges, reader = read(tmp_path / "log.jsonl", f"{GOOD}\n{record}\n{GOOD}\n")
    assert [one.query for one in exchanges] == ["Aare?", "Aare?"]
    assert reader.tally.skipped == {UNREADABLE: 1} and reader.tally.records == 3


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


@pytest.mark.parametrize(
    "wrap",
    [
        lambda one: {"arrayValue": {"values": [one]}},
        lambda one: {"kvlistValue": {"values": [{"key": "", "value": one}]}},
        lambda one: {"": one},
    ],
)
def test_attributes_are_read_however_deep_others_are(wrap):
    value = nested(wrap, 1)
    for attributes in ([{"key": "a", "value": value}], {"a": value}):
        kind = [{"key": KIND, "value": {"stringValue": "RETRIEVER"}}]
        whole = {**attributes, KIND: "RETRIEVER"} if "a" in attributes else [*kind, *attributes]
        assert fits_spans({"attributes": whole}, argus.LogConfig())


def test_a_table_whose_header_is_broken_says_so(tmp_path):
    with pytest.raises(InputError, match=r"log\.csv: the first line cannot be split into fields"):
        read(tmp_path / "log.csv", "query,b\rc\n1,2\n")
    exchanges, reader = read(tmp_path / "log.csv", "query,results\na,b\rc\nBern?,d1\n")
    assert [one.query for one in exchanges] == ["Bern?"] and reader.tally.skipped.total() == 1


PACKINGS = pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)]
)


@PACKINGS
@pytest.mark.parametrize("longest", [1_000, 1_001, 1_002, 1_003])
def test_a_list_on_one_line_may_be_longer_than_a_line(tmp_path, monkeypatch, ending, pack, longest):
    monkeypatch.setattr(files, "LONGEST", longest)
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
    monkeypatch.setattr(files, "LONGEST", 1 << 16)
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
