"""A repaired index as a BaseSearch of the installed BEIR, in BEIR's own evaluation."""

from __future__ import annotations

import pytest

from argus.errors import InputError
from argus.retrievers.outward.opening import as_beir
from tests.retrievers.outward.conftest import QRELS, QUESTIONS, TEXTS

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


def test_the_index_of_another_corpus_is_refused(evaluation):
    with pytest.raises(InputError, match="lacks 1 documents, such as 'rum'"):
        evaluation.retrieve(CORPUS | {"rum": {"text": "Sugar cane."}}, QUESTIONS)


def test_a_maker_is_given_each_corpus_once(repaired):
    sizes = []

    def made(documents):
        sizes.append(len(documents))
        return repaired.retriever

    search = as_beir(made)
    for _ in range(2):
        search.search(CORPUS, QUESTIONS, 1, "cos_sim")
    other = dict(list(CORPUS.items())[:2])
    search.search(other, QUESTIONS, 1, "cos_sim")
    assert sizes == [len(TEXTS), 2]


def test_files_of_vectors_are_refused(evaluation):
    with pytest.raises(InputError, match="retrieve in place of encode_and_retrieve"):
        evaluation.encode_and_retrieve(CORPUS, QUESTIONS)
    with pytest.raises(InputError, match="vectors in files"):
        evaluation.retriever.search_from_files("q.pkl", [], 1)
