"""Pseudo-queries and summaries: what a generator answers, what is kept, what is embedded."""

import json
import re

import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.scenarios.expansions import (
    QUERIES_PROMPT,
    SUMMARY_PROMPT,
    Baseline,
    Expansion,
    expanded,
    generate_expansions,
    prompts_for,
    read_expansions,
    write_expansions,
)
from argus.scenarios.prompts import MAX_DOCUMENT_CHARS

LOOP = "how to escape a pattern " * 40
DOCUMENTS = [Document("a", "Escapes special characters.", "re.escape"), Document("b", "A cow.")]


def answering(endpoint, queries, summary):
    """Let the endpoint answer each of the two prompts with one object."""

    def behave(text, n):
        system = endpoint.requests[n - 1]["messages"][0]["content"]
        said = {"queries": queries} if system.startswith(QUERIES_PROMPT[:60]) else None
        return {"text": json.dumps(said or {"summary": summary})}

    endpoint.behave = behave


def test_three_queries_and_a_summary_by_two_prompts(endpoint, model):
    answering(endpoint, ["one", "two", "three"], " Says how. ")
    found = list(generate_expansions(DOCUMENTS, model()))
    assert [e.doc_id for e in found] == ["a", "b"]
    assert all(e.pseudo_queries == ("one", "two", "three") for e in found)
    assert all(e.summary == "Says how." and e.state == "ok" for e in found)
    assert all(not e.reason and not e.notes for e in found)
    assert json.loads(found[0].source)["model"].startswith("m@http")
    asked = [(r["messages"][0]["content"], r["messages"][1]["content"]) for r in endpoint.requests]
    texts = [f"[Text Content]\n{d.content}" for d in DOCUMENTS]
    assert sorted(asked) == sorted((p, t) for p in (QUERIES_PROMPT, SUMMARY_PROMPT) for t in texts)
    formats = {r["response_format"]["json_schema"]["name"] for r in endpoint.requests}
    assert formats == {"QueriesAnswer", "SummaryAnswer"}


@pytest.mark.parametrize(
    ("queries", "kept", "note"),
    [
        (["one", " ", "two"], ("one", "two"), "2 pseudo-queries that can be used instead of 3"),
        (["one", "one ", "two", "two"], ("one", "two"), "2 pseudo-queries that can be used"),
        (["one", LOOP, "two"], ("one", "two"), "2 pseudo-queries that can be used"),
        (["1", "2", "3", "4"], ("1", "2", "3"), "only the first 3 of 4 pseudo-queries are used"),
    ],
)
def test_queries_that_can_be_used_are_kept_and_the_rest_is_noted(
    endpoint, model, queries, kept, note
):
    answering(endpoint, queries, "Says how.")
    (found,) = generate_expansions(DOCUMENTS[:1], model())
    assert found.pseudo_queries == kept
    assert len(found.notes) == 1 and found.notes[0].startswith(note)
    assert not found.reason


@pytest.mark.parametrize(
    ("queries", "summary", "left", "reason"),
    [
        ([], "Fine.", "summary", "pseudo-queries: .*no query that can be used"),
        (None, "Fine.", "summary", "pseudo-queries: .*no query that can be used"),
        ([LOOP], "Fine.", "summary", "pseudo-queries: .*no query that can be used"),
        (["fine"], "  ", "queries", "summary: .*at least 1 character"),
        (["fine"], LOOP, "queries", "summary: .*the summary repeats itself"),
        ([3], LOOP, "", "pseudo-queries: .*; summary: .*repeats itself"),
    ],
)
def test_a_part_that_cannot_be_used_is_missing_with_the_reason(
    endpoint, model, queries, summary, left, reason
):
    answering(endpoint, queries, summary)
    (found,) = generate_expansions(DOCUMENTS[:1], model())
    assert bool(found.summary) == (left == "summary")
    assert bool(found.pseudo_queries) == (left == "queries")
    assert found.state == ("ok" if left else "failed")
    assert re.search(reason, found.reason, re.DOTALL), found.reason


def test_truncated_json_fails_that_part_alone(endpoint, model):
    endpoint.behave = lambda text, n: {"text": '{"queries": ["one", "tw'}
    (found,) = generate_expansions(DOCUMENTS[:1], model())
    assert found.state == "failed"
    assert "does not fit QueriesAnswer" in found.reason
    assert "does not fit SummaryAnswer" in found.reason


def test_what_was_not_asked_is_said(endpoint, model):
    (found,) = generate_expansions(DOCUMENTS[:1], model(max_total_tokens=1))
    assert found.state == "failed" and not endpoint.requests
    assert found.reason.startswith("pseudo-queries: not asked: ")


def test_documents_without_text_keep_their_place_unasked(endpoint, model):
    answering(endpoint, ["one", "two", "three"], "Says how.")
    documents = [Document("blank", " "), *DOCUMENTS, Document("none", "")]
    found = list(generate_expansions(documents, model()))
    assert [e.doc_id for e in found] == ["blank", "a", "b", "none"]
    assert [e.reason for e in found] == ["the document has no text", "", "", found[0].reason]
    assert len(endpoint.requests) == 4


def test_the_beginning_of_long_documents_is_shown_and_noted(endpoint, model):
    answering(endpoint, ["one", "two", "three"], "Says how.")
    text = "x" * 200_000
    (found,) = generate_expansions([Document("long", text)], model())
    (note,) = found.notes
    assert note == "only the first 24,000 of 200,000 characters were shown to the generator"
    shown = max(map(len, endpoint.texts))
    assert shown == MAX_DOCUMENT_CHARS + len("[Text Content]\n")


def test_a_second_run_asks_nothing_again(endpoint, model):
    answering(endpoint, ["one", "two", "three"], "Says how.")
    first = list(generate_expansions(DOCUMENTS, model()))
    n = len(endpoint.requests)
    assert list(generate_expansions(DOCUMENTS, model())) == first
    assert len(endpoint.requests) == n == 4


def test_prompts_are_told_in_the_order_of_the_documents():
    prompts = prompts_for([Document("x", ""), *DOCUMENTS], Baseline.SUMMARY, max_chars=9)
    assert [p.text for p in prompts] == ["[Text Content]\nre.escape", "[Text Content]\nA cow."]
    assert {p.system for p in prompts} == {SUMMARY_PROMPT}


def test_additions_stand_on_lines_below_the_document():
    document = DOCUMENTS[0]
    expansion = Expansion("a", ("one", "two"), "Says how.")
    content = "re.escape Escapes special characters."
    assert expanded(document, expansion, Baseline.PSEUDO_QUERIES) == f"{content}\none\ntwo"
    assert expanded(document, expansion, Baseline.SUMMARY) == f"{content}\nSays how."
    assert expanded(document, None, Baseline.SUMMARY) == content
    assert expanded(document, Expansion("a", ("one",)), Baseline.SUMMARY) == content


def test_expansions_survive_the_file(tmp_path):
    written = [
        Expansion("a", ("एक", "two\nlines"), "$x^2$", "", ("2 pseudo-queries that can be used",)),
        Expansion("b", (), "Fine.", "pseudo-queries: no", source='{"model": "m"}'),
        Expansion("c", reason="the document has no text"),
    ]
    path = write_expansions(tmp_path / "expansions.jsonl", written)
    first = json.loads(path.read_text().splitlines()[0])
    assert first["_id"] == "a" and first["pseudo_queries"] == ["एक", "two\nlines"]
    read = read_expansions(tmp_path)
    assert list(read) == ["a", "b", "c"]
    assert read["b"] == written[1] and read["c"] == written[2]
    assert read["a"].pseudo_queries == written[0].pseudo_queries and read["a"].summary == "$x^2$"


def write(tmp_path, *rows):
    path = tmp_path / "e.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_written_by_hand_are_read_and_bad_parts_named(tmp_path):
    path = write(
        tmp_path,
        {"id": "a", "main_topic": "t", "pseudo_queries": ["1", "2", "3"], "summary": "s"},
        {"id": "b", "pseudo_queries": "one string", "summary": "s"},
        {"id": "c", "pseudo_queries": ["1", ""]},
        {"id": "d", "summary": LOOP},
    )
    found = read_expansions(path)
    assert found["a"] == Expansion("a", ("1", "2", "3"), "s")
    assert found["b"].summary == "s" and "pseudo_queries: Input should be" in found["b"].reason
    assert found["c"].pseudo_queries == ("1",) and found["c"].reason == "no summary"
    assert found["c"].notes == ("1 pseudo-queries that can be used instead of 3",)
    assert found["d"].state == "failed" and "repeats itself" in found["d"].reason


def test_files_of_something_else_are_refused(tmp_path):
    twice = write(tmp_path, {"_id": "a", "summary": "s"}, {"_id": "a", "summary": "t"})
    with pytest.raises(InputError, match="'a' comes twice") as caught:
        read_expansions(twice)
    assert "line 2" in str(caught.value)
    with pytest.raises(InputError, match="no expansion that can be used in 1 lines"):
        read_expansions(write(tmp_path, {"_id": "a", "text": "a corpus"}))
    with pytest.raises(InputError, match="no such file"):
        read_expansions(tmp_path / "gone.jsonl")
