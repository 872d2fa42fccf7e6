"""Pseudo-queries and summaries: what a generator answers, what is kept, what is embedded."""

import json

import pytest

from argus.data.types import Document
from argus.scenarios.expansions import (
    QUERIES_PROMPT,
    SUMMARY_PROMPT,
    Expansion,
    generate_expansions,
    read_expansions,
    write_expansions,
)

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
    assert all(not e.reason for e in found)
    assert json.loads(found[0].source)["model"].startswith("m@http")
    asked = [(r["messages"][0]["content"], r["messages"][1]["content"]) for r in endpoint.requests]
    texts = [f"[Text Content]\n{d.content}" for d in DOCUMENTS]
    assert sorted(asked) == sorted((p, t) for p in (QUERIES_PROMPT, SUMMARY_PROMPT) for t in texts)
    formats = {r["response_format"]["json_schema"]["name"] for r in endpoint.requests}
    assert formats == {"QueriesAnswer", "SummaryAnswer"}


@pytest.mark.parametrize(
    ("queries", "kept"),
    [
        (["one", "one ", "two", "two"], ("one", "two")),
        (["one", LOOP, " ", "two"], ("one", "two")),
        (["1", "2", "3", "4"], ("1", "2", "3")),
    ],
)
def test_three_queries_that_can_be_used_are_kept(endpoint, model, queries, kept):
    answering(endpoint, queries, "Says how.")
    (found,) = generate_expansions(DOCUMENTS[:1], model())
    assert found.pseudo_queries == kept and not found.reason


def test_a_second_run_asks_nothing_again(endpoint, model):
    answering(endpoint, ["one", "two", "three"], "Says how.")
    first = list(generate_expansions(DOCUMENTS, model()))
    n = len(endpoint.requests)
    assert list(generate_expansions(DOCUMENTS, model())) == first
    assert len(endpoint.requests) == n == 4


def test_expansions_survive_the_file(tmp_path):
    written = [
        Expansion("a", ("एक", "two\nlines"), "$x^2$"),
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
    assert found["d"].state == "failed" and "repeats itself" in found["d"].reason
