"""Explain documents of runs and of retrievers that are asked."""

from __future__ import annotations

import json

import pytest

from argus.corpora import StoreCorpus
from argus.data.documents import write_beir
from argus.data.runs import ranking, write_run
from argus.data.types import Query
from argus.errors import InputError
from argus.explanation.config import RunConfig
from argus.explanation.evidence import Cause, Verdict
from argus.explanation.run import explain_run, show_corpus
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.lexical import LexicalIndex
from tests.support.retrievable import DOCUMENTS

QUESTION = "Which ska band came from Kingston?"


TEXT = "When did Lothair Ii's mother die?"


@pytest.fixture(scope="module")
def bm25(passages):
    return LexicalIndex.build([d.id for d in passages], [d.content for d in passages])


@pytest.fixture(scope="module")
def config(passages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("passages")
    write_beir(folder, passages, [Query("w2q-000", TEXT)], {})
    return RunConfig(corpus=folder, queries=folder)


@pytest.fixture(scope="module")
def dense(retriever, tmp_path_factory):
    """Write what MiniLM finds among the first passages; return file and scores."""
    run = retriever.search([Query("w2q-000", TEXT)], 100)
    path = tmp_path_factory.mktemp("run") / "dense.trec"
    write_run(path, run)
    return path, run["w2q-000"], TEXT


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


@pytest.mark.parametrize(
    ("query", "doc", "options", "message"),
    [
        ("q9", "tea", {}, "no query has the id 'q9'; expected one of its 2"),
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


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    write_beir(folder, DOCUMENTS, [Query("q1", "hot leaves"), Query("q2", "rain")], {})
    return folder


def test_a_corpus_is_shown_without_its_password() -> None:
    name = "pgvector:postgresql://ada:topsecret@127.0.0.1/db/docs"
    for corpus in (name, StoreCorpus(name)):
        assert show_corpus(corpus) == "pgvector:postgresql://127.0.0.1/db/docs"
    assert show_corpus("docs.jsonl") == "docs.jsonl" and show_corpus(None) == ""
