"""Explain documents of runs and of retrievers that are asked."""

from __future__ import annotations

import pytest

from argus.corpora import StoreCorpus
from argus.data.documents import write_beir
from argus.data.runs import ranking, write_run
from argus.data.types import Document, Query
from argus.errors import InputError
from argus.explanation.config import ExplainConfig, RunConfig
from argus.explanation.evidence import Cause, Verdict
from argus.explanation.run import explain_failed, explain_run, show_corpus
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


DOCUMENTS = [
    Document("tea", "Tea is made of leaves and hot water"),
    Document("ska", "Ska came from Jamaica before reggae"),
    Document("rain", "Rain falls on most days of the week"),
]
ASKED = [Query("q1", "leaves"), Query("q2", "music of the islands"), Query("q3", "days")]
QRELS = {"q1": {"tea": 1}, "q2": {"ska": 1}, "q3": {"rain": 2, "tea": 1}, "q4": {"ska": 1}}


def test_all_questions_that_fail_are_explained_at_once(tmp_path):
    def first(query, k):
        best = "ska" if query == "leaves" else "rain"
        return [(best, 2.0), ("tea", 1.99), ("ska" if best == "rain" else "rain", 0.0)][:k]

    write_beir(tmp_path, DOCUMENTS, ASKED, {})
    config = RunConfig(corpus=tmp_path, k=1)
    found = explain_failed(ASKED, QRELS, retriever=first, of_run=config)
    assert (found.asked, found.failed) == (3, 2), "q3 brings what is judged best"
    causes = {one.query_id: (one.doc_id, one.cause) for one in found.explained}
    assert causes == {"q1": ("tea", Cause.LEXICAL), "q2": ("ska", Cause.LEXICAL)}
    summary = found.as_dict()
    assert summary["causes"] == {"lexical gap": 2}
    assert summary["remedies"] == {"Fuse the search with BM25.": 1}, "it brings tea, as computed"
    lines = list(found.headline())
    assert lines[0] == "2 of 3 questions fail: nothing judged relevant is in their top 1"
    assert lines[-1] == "what reaches most, 1 of 2: Fuse the search with BM25."


def test_failing_questions_of_an_index_have_its_causes(indexed, minilm, tmp_path):
    vectors = minilm.encode_documents([d.content for d in DOCUMENTS])
    found = explain_failed(
        [Query("q1", "hot tea"), Query("q2", "a drink")], {"q1": {"tea": 1}, "q2": {"lost": 1}},
        index=indexed(tmp_path / "ix", DOCUMENTS, vectors, minilm), config=ExplainConfig(k=1),
    )  # fmt: skip
    assert (found.asked, found.failed, found.explained[0].cause) == (2, 1, Cause.ABSENT)
