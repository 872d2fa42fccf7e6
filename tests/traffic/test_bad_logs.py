"""Logs as they really are: broken, partial, contradictory, in many languages."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from time import process_time
from typing import Any

import pyarrow.parquet as pq
import pytest

import argus
from argus.data.types import Document
from argus.errors import ArgusError, InputError, NothingMeasured
from argus.traffic.book import LogBook
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


def test_a_web_servers_own_log_says_which_files_are_read(tmp_path):
    path = tmp_path / "access.log"
    path.write_text('127.0.0.1 - - [10/Oct/2026:13:55:36 -0700] "GET /search?q=wing" 200 2326\n')
    with pytest.raises(NothingMeasured, match="JSON, JSON lines, CSV, TSV or Parquet"):
        run(path, tmp_path / "out")


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


def test_spans_without_documents_are_asked_for(tmp_path):
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": "Aare?"}
    other = {"attributes": {**attributes, "retrieval.documents": []}}
    path = lines(tmp_path / "spans.jsonl", {"attributes": attributes}, other)
    summary = run(path, tmp_path / "out")
    assert summary["log"]["remarks"] == {"spans of a retriever that say nothing of documents": 1}
    assert (summary["results"]["logged"], summary["results"]["unknown"]) == (1, 1)
    assert summary["results"]["nothing"] is not None and summary["results"]["nothing"]["n"] == 1


def test_spans_of_no_retriever_measure_nothing(tmp_path):
    attributes = {"openinference.span.kind": "LLM", "input.value": "Aare?"}
    path = lines(tmp_path / "spans.jsonl", {"attributes": attributes})
    with pytest.raises(NothingMeasured, match=r"1 spans of another kind \(LLM\)"):
        run(path, tmp_path / "out")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(NothingMeasured, match="it is empty"):
        run(tmp_path / "empty.jsonl", tmp_path / "out")


def test_ids_unknown_to_the_corpus_are_told(tmp_path):
    path = lines(tmp_path / "log.jsonl", {"query": "Aare?", "results": ["x1", "d1", "x2"]})
    result = argus.audit_traffic(path, out=tmp_path / "out", config=FEW, corpus=DOCUMENTS)
    documents = result.summary["documents"]
    assert documents is not None and documents["unknown"] == 2 and documents["never"] == 1
    assert any("is it the one that was indexed?" in line for line in result.headline())


def test_questions_in_several_languages_are_kept_whole_and_clustered(tmp_path):
    texts = [
        "東京の天気はどうですか", "東京の天気を教えて", "Wie wird das Wetter in Zürich?",
        "Wetter in Zürich morgen", "ما هو الطقس في القاهرة", "الطقس في القاهرة اليوم", "🙂?",
    ]  # fmt: skip
    path = lines(tmp_path / "log.jsonl", *({"query": t, "results": []} for t in texts))
    result = argus.audit_traffic(path, out=tmp_path / "out", config=FEW, corpus=DOCUMENTS)
    table = pq.read_table(result.folder / "questions.parquet").to_pylist()
    assert {row["text"] for row in table} == set(texts)
    unmet = result.summary["unmet"]
    assert unmet is not None and unmet["clusters"] == 3
    assert any("zürich" in one["words"] for one in unmet["largest"])


def test_a_question_of_10_000_words(tmp_path):
    long = " ".join(f"word{i}" for i in range(10_000))
    path = lines(tmp_path / "log.jsonl", {"query": long}, {"query": long + " more"}, {"query": "b"})
    result = argus.audit_traffic(
        path, out=tmp_path / "out", config=FEW, corpus=DOCUMENTS,
        retriever=lambda query, k: [("d1", 1.0)],
    )  # fmt: skip
    assert result.summary["questions"]["alike"] == 1  # by their first words
    assert result.summary["results"]["answered"] == 3
    assert result.report.stat().st_size < 6_000_000


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


def test_clocks_that_run_backwards_and_ahead_are_told(tmp_path):
    path = lines(
        tmp_path / "log.jsonl",
        *({"query": "a", "time": t} for t in (1_772_000_000, 1_771_000_000, 4_000_000_000, "soon")),
    )
    log = run(path, tmp_path / "out")["log"]
    assert (log["backwards"], log["future"], log["without_time"]) == (1, 1, 1)
    assert log["remarks"] == {"a time that is none": 1}


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


# what the plan does not name


def test_marks_of_unknown_scale_are_told_not_guessed(tmp_path):
    path = lines(tmp_path / "log.jsonl", *({"query": "a", "rating": n} for n in (5, 4, 2)))
    assert run(path, tmp_path / "out")["feedback"] is None
    summary = run(path, tmp_path / "out2", reading=argus.LogConfig(good_from=4))
    assert summary["feedback"] is not None and summary["feedback"]["bad"] is not None
    assert summary["feedback"]["bad"]["share"] == pytest.approx(1 / 3)


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


def test_fields_of_feedback_are_judged_each_on_its_own(tmp_path):
    marks = [{"thumb": 1}, {"thumb": 0}, {"rating": 1}, {"rating": 5}]
    path = lines(tmp_path / "log.jsonl", *({"query": "a", **mark} for mark in marks))
    summary = run(path, tmp_path / "out")
    assert summary["feedback"] is not None and summary["feedback"]["bad"] is not None
    assert (summary["feedback"]["bad"]["n"], summary["feedback"]["bad"]["share"]) == (2, 0.5)
    assert summary["log"]["remarks"] == {
        f"marks in 'rating' from 1 to 5, {SCALE} count only with --good-from": 2
    }
    reader = argus.read_traffic(path)
    read = [one.marks for one in reader if isinstance(one, argus.Exchange)]
    assert [mark and reader.tally.meant(mark) for mark in read] == [(1, 0), (0, 1), (0, 0), None]


def test_files_of_several_formats_in_one_folder(tmp_path):
    home = tmp_path / "logs"
    home.mkdir()
    lines(home / "a.jsonl", {"query": "Aare?", "results": ["d1"]})
    (home / "b.csv").write_text('question,results\nBern?,d2\n"half')
    (home / "c.json").write_text("")
    (home / "notes.md").write_text("not a log")
    log = run(home, tmp_path / "out")["log"]
    assert log["files"] == {"a.jsonl": "plain", "b.csv": "plain", "c.json": "empty"}
    assert log["asks"] == 2 and sum(log["skipped"].values()) == 1
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="the folder holds no log"):
        run(tmp_path / "none", tmp_path / "out")


def test_one_document_in_several_chunks_counts_once_and_scores_may_be_odd(tmp_path):
    results = [{"id": "d1", "score": 2}, {"id": "d1", "score": "1.5"}, {"id": "d2", "score": None}]
    rows = [{"query": "a", "results": results}, {"query": "b", "results": {"d2": 0.1, "d1": 0.9}},
            {"query": "c", "results": [{"nothing": 1}]}]  # fmt: skip
    result = argus.audit_traffic(lines(tmp_path / "log.jsonl", *rows), out=tmp_path / "out",
                                 config=FEW)  # fmt: skip
    documents = result.summary["documents"]
    assert documents is not None and [hub["asks"] for hub in documents["hubs"]] == [2, 2]
    assert result.summary["log"]["remarks"] == {"results that cannot be read": 1}
    assert result.documents.to_pylist()[0]["first"] == 2  # the best first, whatever the order


def test_lists_are_kept_as_deep_as_k_asks(tmp_path):
    rows = [{"query": f"a {i}", "results": [f"{i} {j}" for j in range(150)]} for i in range(3)]
    path = lines(tmp_path / "log.jsonl", *rows)
    for k, n in ((150, 450), (120, 360), (10, 30)):
        config = argus.TrafficConfig(k=k, resamples=1_000)
        result = argus.audit_traffic(path, out=tmp_path / f"{k}", config=config)
        assert result.documents.num_rows == n


def test_one_word_of_very_many_letters_costs_no_more_than_others(tmp_path):
    """Numbers in questions were looked for in time that grew with the square of a word."""
    rows = [{"query": f"{letter * 400_000} tail"} for letter in "ab"]
    start = process_time()
    summary = run(lines(tmp_path / "log.jsonl", *rows), tmp_path / "out")
    assert summary["questions"]["different"] == 2 and process_time() - start < 30


def test_a_half_character_is_replaced(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"query": "a \\ud83d b", "results": ["d\\ud83d"], "by": "\\ud83d"}\n')
    run(path, tmp_path / "out", reading=argus.LogConfig(by=("by",)))


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


def test_two_stray_quotes_that_look_like_one_field_cost_two_lines(tmp_path):
    rows = [f"{i},apple {i}\n" for i in range(40)]
    text = "".join(["id,query\n", *rows[:10], '9,"5 inch\n', *rows[10:], '9,disk"\n', "9,end\n"])
    queries, skipped = asked(tmp_path / "log.csv", text)
    assert skipped == {STRAY: 1} and [*queries[:40], queries[-1]] == [
        *(f"apple {i}" for i in range(40)), "end",
    ]  # fmt: skip


def test_fields_of_several_lines_are_whole_however_long_they_are(tmp_path):
    long = "\n".join(f"line {i}, and more" for i in range(5_000))
    text = f'id,query,by\n1,"a ""b"",\nc\n",x\n2,"{long}",y\n3,"q" z,w\n4,"5" disk",w\n'
    queries, skipped = asked(tmp_path / "log.csv", text)
    assert queries == ['a "b",\nc', long, "q z", '5 disk"'] and not skipped


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        ("query,answer,feedback", [f"{i},{i},{i}" for i in range(8)]),
        ("query,answer,feedback", ["def f(a, b, c):", *["    g(a, b, c)"] * 8, "    return"]),
        ("query,answer", [f"egg, {i}" for i in range(12)]),
    ],
)
def test_tables_and_code_within_a_field_are_no_records(tmp_path, head, lines):
    rest = ",up" if head.endswith("feedback") else ""
    block = "\n".join(["```", *lines, "```"])
    text = f'{head}\nmake one,"{block}"{rest}\n"{block}",fine{rest}\nnext,fine{rest}\n'
    queries, skipped = asked(tmp_path / "log.csv", text)
    assert queries == ["make one", block, "next"] and not skipped


def test_a_quote_without_an_end_is_held_in_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("argus.traffic.files.MAX_FIELD", 1_000)
    rows = "".join(f"1,apple {i}\n" for i in range(5_000))
    queries, skipped = asked(tmp_path / "log.csv", f'id,query\n1,"5 inch\n{rows}1,"6 inch\n1,end\n')
    assert len(queries) == 5_001 and skipped == {STRAY: 2}
    with pytest.raises(InputError, match=r"first line cannot be split .*a quote is not closed"):
        asked(tmp_path / "log.csv", f'id,"query\n{rows}')


def test_a_place_that_takes_no_table_of_the_log_is_named(tmp_path):
    table = tmp_path / "gone" / "traffic.sqlite"
    place = re.escape(str(table))
    with pytest.raises(ArgusError, match=f"{place}.*unable to open"), LogBook(table):
        pass
    full = tmp_path / "traffic.sqlite"
    with LogBook(full) as book:
        book.do("PRAGMA max_page_count = 1")  # as on a disk that takes no more
        with pytest.raises(ArgusError, match=f"{re.escape(str(full))}.*is full.*space"):
            book.do_all("INSERT INTO labels VALUES (?,?)", [(str(n), "long") for n in range(9999)])
