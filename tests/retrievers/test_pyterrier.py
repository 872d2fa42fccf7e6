"""A repaired index as a transformer of the installed PyTerrier: pipelines and experiments."""

from __future__ import annotations

import pytest

from argus.errors import InputError
from argus.retrievers.evaluators import as_pyterrier
from tests.retrievers.conftest import QRELS, QUESTIONS

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed (extra: pyterrier)")
pd = pytest.importorskip("pandas")
TOPICS = pd.DataFrame(QUESTIONS.items(), columns=["qid", "query"])


def test_queries_become_results_best_first(repaired):
    transformer = as_pyterrier(repaired.retriever, k=3)
    assert isinstance(transformer, pt.Transformer)
    results = transformer(TOPICS.assign(lang="en"))
    assert list(results.columns) == ["qid", "query", "lang", "docno", "score", "rank"]
    ranks = results.sort_values("rank").groupby("qid")["docno"].agg(list).to_dict()
    assert ranks == repaired.ranks(3)
    assert list(results[results.qid == "q1"]["rank"]) == [0, 1, 2]
    assert transformer.search("hot leaves").iloc[0].docno == "tea"


def test_a_pipeline_with_a_cutoff_and_an_experiment(repaired):
    transformer = as_pyterrier(repaired.retriever)
    assert (transformer % 1)(TOPICS).groupby("qid").size().tolist() == [1, 1, 1]
    qrels = pd.DataFrame(
        [(q, d, grade) for q, judged in QRELS.items() for d, grade in judged.items()],
        columns=["qid", "docno", "label"],
    )
    table = pt.Experiment([transformer], TOPICS, qrels, ["ndcg_cut_10", "recip_rank"])
    own = repaired.scores("nDCG@10", "RR")
    assert table["ndcg_cut_10"][0] == pytest.approx(own["nDCG@10"], abs=1e-5)
    assert table["recip_rank"][0] == pytest.approx(own["RR"], abs=1e-5)


def test_no_k_and_no_corpus_are_refused(repaired):
    with pytest.raises(InputError):
        as_pyterrier(repaired.retriever, k=0)
    with pytest.raises(InputError, match="no corpus yet"):
        as_pyterrier(lambda documents: repaired.retriever)(TOPICS)
