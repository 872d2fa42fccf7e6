"""Explain documents of runs and of retrievers that are asked."""

from __future__ import annotations

import pytest

from argus.corpora import StoreCorpus
from argus.data.documents import write_beir
from argus.data.runs import ranking, write_run
from argus.data.types import Document, Query
from argus.errors import InputError
from argus.explanation.config import RunConfig
from argus.explanation.evidence import Cause, Verdict
from argus.explanation.run import explain_run, show_corpus
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.lexical import LexicalIndex

TEXT = "When did Lothair Ii's mother die?"


def test_places_are_those_of_the_run_by_words_and_fused(retriever, passages, of, tmp_path):
    run = retriever.search([Query("w2q-000", TEXT)], 100)
    write_run(tmp_path / "dense.trec", run)
    write_beir(tmp_path, passages, [Query("w2q-000", TEXT)], {})
    config = RunConfig(corpus=tmp_path, queries=tmp_path)
    scores, ranked = run["w2q-000"], ranking(run["w2q-000"])
    bm25 = LexicalIndex.build([d.id for d in passages], [d.content for d in passages])
    words = bm25.search([TEXT], 100).run(["w2q-000"])
    by_words, fused = list(words["w2q-000"]), list(fuse_with_bm25(run, words, 200)["w2q-000"])
    kth, shared = scores[ranked[9]], [doc for doc in by_words if doc in scores]
    for doc in [ranked[0], ranked[9], ranked[10], ranked[59], *shared[:3]]:
        rank = ranked.index(doc) + 1
        found = explain_run("w2q-000", doc, tmp_path / "dense.trec", config)
        place = found.standing
        assert (place.rank, found.came_back, found.query) == (rank, rank <= 10, TEXT)
        assert place.run.of == 100 and place.kth_score == kth
        assert place.gap == pytest.approx(max(0.0, kth - scores[doc]))
        assert [a.id for a in place.above] == ranked[: min(10, rank - 1)]
        assert of(found, Cause.CORPUS).state is Verdict.RULED_OUT
        assert place.fused.rank == fused.index(doc) + 1
        if doc in by_words:
            assert place.bm25.rank == by_words.index(doc) + 1


@pytest.mark.parametrize(
    ("query", "doc", "options", "message"),
    [
        ("q9", "tea", {}, "no query has the id 'q9'; expected one of its 2"),
        ("q9", "tea", {"queries": None}, "run.trec: no query has the id 'q9'.*one of its 1 query"),
        ("q2", "tea", {}, "run.trec: no result for query 'q2', which .* has.*1 other"),
        (" ", "tea", {}, "an empty query id"),
        ("q1", "", {}, "an empty document id"),
    ],
)
def test_unknown_queries_and_empty_ids_are_refused(tmp_path, query, doc, options, message):
    documents = [Document("tea", "Tea is a drink."), Document("jazz", "A jazz band.")]
    write_beir(tmp_path, documents, [Query("q1", "Ska?"), Query("q2", "Tea?")], {})
    write_run(tmp_path / "run.trec", {"q1": {"jazz": 4.0}})
    config = RunConfig(**({"corpus": tmp_path, "queries": tmp_path} | options))
    with pytest.raises(InputError, match=message):
        explain_run(query, doc, tmp_path / "run.trec", config)


def test_a_corpus_is_shown_without_its_password() -> None:
    name = "pgvector:postgresql://ada:topsecret@127.0.0.1/db/docs"
    for corpus in (name, StoreCorpus(name)):
        assert show_corpus(corpus) == "pgvector:postgresql://127.0.0.1/db/docs"
    assert show_corpus("docs.jsonl") == "docs.jsonl" and show_corpus(None) == ""
