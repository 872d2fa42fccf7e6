"""Audit, search and lint of an authority relation by what a retriever brings back."""

import json

import pytest

from argus.authority.audit import audit_authority
from argus.authority.config import LintBounds
from argus.authority.lint import lint
from argus.errors import ArgusError, InputError
from tests.support.superseding import story_source, write_story

LISTS = {
    "Path traversal": ["flaw-1", "fix-1b"],
    "An archive": ["flaw-1", "flaw-2", "fix-1b"],
    "Release 2.4": ["fix-1", "fix-1b"],
    "Weak random": ["flaw-3", "flaw-2", "fix-3"],
    "Tokens": ["fix-3", "flaw-3"],
}


def retrieve(query, k):
    """Answer by how a query begins; one text breaks the shard."""
    if query.startswith("Members"):
        raise OSError("the shard is gone")
    return next((ids for start, ids in LISTS.items() if query.startswith(start)), ["flaw-2"])[:k]


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


def test_what_a_retriever_does_not_reach_is_told(story, tmp_path):
    out = tmp_path / "out"
    result = audit_authority(story_source(story), out=out, k=2, retriever=retrieve)
    rows = {row["superseded"]: row for row in result.table.to_pylist()}
    flaw = rows["flaw-1"]
    assert (flaw["title_rank"], flaw["title_reachable"]) == (2, True)
    assert (flaw["text_rank"], flaw["text_reachable"]) == (None, False)
    assert rows["flaw-3"]["title_reachable"] is False and rows["flaw-3"]["text_rank"] == 1
    assert rows["fix-1"]["text_reachable"] is None, "a failed query is no document out of reach"
    assert rows["fix-1"]["state"] == "measured" and "shard" in rows["fix-1"]["reason"]
    title, text = (result.summary["proxies"][p] for p in ("title", "text"))
    assert (title["documents"], title["reachable"]) == (3, 2 / 3)
    assert (text["documents"], text["reachable"], text["first"]) == (2, 1 / 2, 1 / 2)
    assert "median_outranking" not in text and result.summary["retriever"]["failed"] == 1
    assert any("1 queries failed" in line for line in result.headline())
    assert "was asked for 2 results of 6 titles and texts" in result.report.read_text("utf-8")


def test_a_retriever_of_another_corpus_or_down_is_refused(story, tmp_path):
    source = story_source(story)
    with pytest.raises(InputError, match="no document found has a record"):
        audit_authority(source, out=tmp_path / "out", retriever=lambda query: ["x"])

    def down(query):
        raise OSError("refused")

    with pytest.raises(ArgusError, match="failed all 6 queries"):
        audit_authority(source, out=tmp_path / "out", retriever=down)


def test_what_a_retriever_serves_is_linted(story, tmp_path):
    questions = tmp_path / "queries.jsonl"

    def linted(*rows, **options):
        questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
        source = story_source(story)
        return lint(None, source, k=2, queries=questions, retriever=retrieve, **options)

    texts = {"archive": "An archive", "tokens": "Tokens", "broken": "Members"}
    rows = [{"_id": id_, "text": text} for id_, text in texts.items()]
    result = linted(*rows, bounds=LintBounds(violations=0.5), out=tmp_path / "out")
    counts = result.summary["queries"]
    assert (counts["total"], counts["measured"], counts["failed"]) == (3, 2, 1)
    assert {row["query_id"] for row in result.summary["violations"]} == {"archive"}
    assert result.summary["rates"]["violations"]["share"] == 0.5
    assert result.summary["verdict"] == "not measured" and result.exit_code == 2
    assert any("1 queries failed" in line for line in result.headline())
    for bound, verdict in ((0.7, "pass"), (0.3, "fail")):
        result = linted(*rows, bounds=LintBounds(violations=bound))
        assert result.summary["verdict"] == verdict
    result = linted({"_id": "tokens", "text": "Tokens", "anchor": "flaw-3"})
    assert result.summary["queries"]["without_anchor"] == 0
