"""Places, words and supersessions are those of the run and the corpus; bad input is refused."""

from __future__ import annotations

import json

import pytest

from argus.corpora.opening import read_corpus
from argus.data.runs import ranking, write_run
from argus.data.types import Query
from argus.errors import InputError
from argus.explanation.config import RunConfig
from argus.explanation.run import explain_run
from argus.explanation.types import Cause, Verdict
from argus.indexes.hybrid import fuse_with_bm25
from argus.indexes.lexical import LexicalIndex

QUESTION = "Which ska band came from Kingston?"


@pytest.fixture(scope="session")
def wiki(shared):
    return read_corpus(shared("wiki2"))


@pytest.fixture(scope="session")
def bm25(wiki):
    return LexicalIndex.build([d.id for d in wiki], [d.content for d in wiki])


@pytest.fixture(scope="session")
def config(shared):
    return RunConfig(corpus=shared("wiki2"), queries=shared("wiki2"))


@pytest.fixture(scope="session")
def dense(retriever, tmp_path_factory):
    """Write what MiniLM finds among the first passages; return file and scores."""
    text = "When did Lothair Ii's mother die?"
    run = retriever.search([Query("w2q-000", text)], 100)
    path = tmp_path_factory.mktemp("run") / "dense.trec"
    write_run(path, run)
    return path, run["w2q-000"], text


@pytest.fixture
def small(tmp_path):
    """A corpus of five, questions, and a run that ranks four of the documents."""
    rows = {
        "ska": "The Skatalites are a ska band from Kingston.", "jazz": "A jazz band from Harlem.",
        "port": "Kingston is a port.", "tea": "Tea is a drink.", "void": "",
    }  # fmt: skip
    lines = [json.dumps({"_id": i, "title": i.title(), "text": t}) for i, t in rows.items()]
    lines[-1] = json.dumps({"_id": "void", "text": " "})
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    queries = [{"_id": "q1", "text": QUESTION}, {"_id": "q2", "text": "Tea?"}]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)) + "\n")
    write_run(tmp_path / "run.trec", {"q1": {"jazz": 4.0, "port": 3.0, "tea": 2.5, "gone": 1.0}})
    return tmp_path


def asked(small, doc, query="q1", **options):
    given = {"corpus": small, "queries": small, "k": 2} | options
    return explain_run(query, doc, small / "run.trec", RunConfig(**given))


def test_place_and_gap_are_those_of_the_run(dense, config, of):
    path, scores, text = dense
    ranked = ranking(scores)
    for rank in (1, 10, 11, 60):
        found = explain_run("w2q-000", ranked[rank - 1], path, config)
        assert (found.standing.rank, found.came_back) == (rank, rank <= 10)
        assert found.standing.run.of == 100 and found.query == text
        assert found.standing.kth_score == scores[ranked[9]]
        gap = max(0.0, scores[ranked[9]] - scores[ranked[rank - 1]])
        assert found.standing.gap == pytest.approx(gap)
        assert [a.id for a in found.standing.above] == ranked[: min(10, rank - 1)]
        assert of(found, Cause.CORPUS).state is Verdict.RULED_OUT
        json.dumps(found.as_dict())  # plain values throughout


def test_ranks_by_words_and_fused_are_those_of_bm25(dense, config, bm25):
    path, scores, text = dense
    words = bm25.search([text], 100).run(["q"])["q"]
    both = list(fuse_with_bm25({"q": scores}, {"q": words}, 200)["q"])
    for doc in [*list(words)[:3], ranking(scores)[30]]:
        place = explain_run("w2q-000", doc, path, config).standing
        if doc in words:
            assert place.bm25.rank == list(words).index(doc) + 1
        assert place.fused.rank == both.index(doc) + 1


def test_what_bm25_finds_alone_is_named_with_the_fused_rank(small, of):
    found = asked(small, "ska")
    finding = of(found, Cause.LEXICAL)
    assert found.cause is Cause.LEXICAL and finding.evidence["bm25_rank"] == 1
    assert "the run nowhere" in finding.summary and "'ska'" in finding.summary
    assert finding.decisive == (found.standing.fused.rank <= 2)
    assert found.standing.gap is None and found.standing.kth_score == 3.0
    assert found.verdict.startswith("did not come back (not among the 4 of the run)")


def test_words_of_those_above_that_the_document_lacks_are_named(small, of):
    found = asked(small, "tea")
    finding = of(found, Cause.LEXICAL)
    assert finding.state is Verdict.FOUND and not finding.evidence["shared_terms"]
    assert finding.evidence["missing_terms_above"] == {
        "came": 0, "ska": 0, "band": 1, "kingston": 1
    }  # fmt: skip
    assert finding.summary.endswith("1 of the first 2 say 'band'")
    assert [(a.id, a.says) for a in found.standing.above] == [
        ("jazz", ["band"]), ("port", ["kingston"])
    ]  # fmt: skip
    assert found.verdict.startswith("did not come back (rank 3 of 4, 0.5000 short of the top 2)")


def test_a_document_within_k_is_no_failure_of_its_words(small, of):
    found = asked(small, "tea", k=3)
    assert found.came_back and found.cause is None and found.standing.gap == 0
    assert found.verdict == "came back: rank 3 of 4, score 2.5000"
    finding = of(found, Cause.LEXICAL)
    assert finding.state is Verdict.RULED_OUT and finding.summary.startswith("no harm here")


def test_a_document_missing_or_without_text_is_told_apart(small, of):
    near = asked(small, "ske")
    assert near.cause is Cause.CORPUS and "it is not in the corpus" in near.verdict
    assert of(near, Cause.CORPUS).evidence["near_ids"] == ["ska"]
    assert "without text" in asked(small, "void").verdict
    gone = asked(small, "gone")
    assert "it is not in the corpus, though it is in the run" in gone.verdict
    back = asked(small, "gone", k=4)
    assert back.came_back and back.verdict.endswith("yet it is not in the corpus, though it is in "
                                                    "the run")  # fmt: skip


def test_a_superseder_is_the_cause_only_where_it_comes_back(small, of):
    edges = small / "edges.tsv"
    edges.write_text("superseder\tsuperseded\nport\tska\nska\ttea\n")
    found = asked(small, "ska", supersedes=edges)
    assert found.cause is Cause.SUPERSEDED and found.verdict.endswith("port ranks 2")
    low = of(asked(small, "tea", supersedes=edges, k=1), Cause.SUPERSEDED)
    assert low.evidence["superseded_by"] == [
        {"id": "ska", "direct": True, "rank": None}, {"id": "port", "direct": False, "rank": 2}
    ]  # fmt: skip
    assert "ska is not in the run" in low.summary and "explain that one" in low.advice


def test_without_corpus_and_queries_place_and_gap_are_still_told(small, of):
    found = asked(small, "tea", corpus=None, queries=None)
    assert found.standing.rank == 3 and found.query is None and found.standing.bm25 is None
    states = {f.cause: f.state for f in found.findings}
    assert set(states.values()) == {Verdict.UNCHECKED} and len(states) == 4
    assert "no check explains it" in found.verdict
    only = asked(small, "tea", queries=None)
    assert of(only, Cause.LEXICAL).advice == "Give --queries FILE."


@pytest.mark.parametrize(
    ("query", "doc", "options", "message"),
    [
        ("q9", "tea", {}, "queries.jsonl: no query has the id 'q9'; expected one of its 2"),
        ("q9", "tea", {"queries": None}, "run.trec: no query has the id 'q9'.*one of its 1 query"),
        ("q2", "tea", {}, "run.trec: no result for query 'q2', which .* has.*1 other"),
        (" ", "tea", {}, "an empty query id"),
        ("q1", "", {}, "an empty document id"),
        ("q1", "tea", {"k": 0}, "--k: 0;"),
    ],
)
def test_unknown_queries_and_empty_ids_are_refused(small, query, doc, options, message):
    with pytest.raises(InputError, match=message):
        asked(small, doc, query, **options)


def test_another_corpus_and_broken_files_are_refused(small):
    (small / "other.jsonl").write_text('{"_id": "x", "text": "y"}\n')
    with pytest.raises(InputError, match="no document that was found is in it; the first is"):
        asked(small, "tea", corpus=small / "other.jsonl")
    with pytest.raises(InputError, match="no such file or folder"):
        asked(small, "tea", corpus=small / "none.jsonl")
    with pytest.raises(InputError, match="no such file"):
        explain_run("q1", "tea", small / "none.trec")
    (small / "run.trec").write_text("q1 Q0 tea 1 high x\n")
    with pytest.raises(InputError, match="field 'score'"):
        asked(small, "tea")
