"""A repaired index as a BaseSearch of the installed BEIR, in BEIR's own evaluation."""

from __future__ import annotations

import pytest

from argus.errors import InputError
from argus.retrievers.evaluators import as_beir
from tests.retrievers.conftest import QRELS, QUESTIONS, TEXTS

pytest.importorskip("beir", reason="beir is not installed (extra: beir)")
CORPUS = {id_: {"title": "", "text": text} for id_, text in TEXTS.items()}


@pytest.fixture
def evaluation(repaired):
    from beir.retrieval.evaluation import EvaluateRetrieval

    return EvaluateRetrieval(as_beir(repaired.retriever), k_values=[1, 3])


def test_beirs_scores_are_those_of_argus(evaluation, repaired):
    from beir.retrieval.search.base import BaseSearch

    assert isinstance(evaluation.retriever, BaseSearch)
    results = evaluation.retrieve(CORPUS, QUESTIONS)
    ranks = repaired.ranks(3)
    assert {query: list(scores) for query, scores in results.items()} == ranks
    ndcg, _, recall, _ = evaluation.evaluate(QRELS, results, [1, 3])
    own = repaired.scores("nDCG@3", "R@1")
    assert ndcg["NDCG@3"] == pytest.approx(own["nDCG@3"], abs=1e-5)
    assert recall["Recall@1"] == pytest.approx(own["R@1"], abs=1e-5)


class Echo:
    """Finds the documents that it was made of, and nothing else."""

    name = "echo"

    def __init__(self, documents):
        self.documents = documents

    def search(self, queries, k):
        scores = {document.id: 1.0 for document in self.documents[:k]}
        return {query.id: scores for query in queries}


@pytest.mark.parametrize(
    ("corpus", "queries", "expected"),
    [
        ({"a": "text"}, QUESTIONS, "document a: 'text'; expected a row with text"),
        (CORPUS, ["hot leaves"], "queries in a list; expected {id: text}"),
        (list(CORPUS.values()), QUESTIONS, "corpus in a list; expected {id: {'text'"),
        (CORPUS, {"q": None}, "query q: None; expected text"),
        (CORPUS, {1: "hot", "1": "leaves"}, "two of them have the id '1'"),
    ],
)
def test_what_is_no_corpus_and_no_queries_is_refused(corpus, queries, expected):
    with pytest.raises(InputError, match=expected):
        as_beir(Echo).search(corpus, queries, 1)
