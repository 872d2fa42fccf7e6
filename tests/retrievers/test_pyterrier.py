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


def test_results_are_ranked_anew_with_what_they_carry(repaired):
    transformer = as_pyterrier(repaired.retriever, k=1)
    candidates = pd.DataFrame(
        [("q1", "hot leaves", "ska", 9.0, 0, "x"), ("q1", "hot leaves", "tea", 1.0, 1, "y")],
        columns=["qid", "query", "docno", "score", "rank", "text"],
    )
    results = transformer(candidates)
    assert list(results["docno"]) == ["tea", "ska"] and list(results["rank"]) == [0, 1]
    assert list(results["text"]) == ["y", "x"] and results["score"][0] > results["score"][1]
    chain = as_pyterrier(repaired.retriever) >> transformer
    assert chain(TOPICS).groupby("qid").head(1)["docno"].tolist() == [
        ranks[0] for ranks in repaired.ranks().values()
    ]


def test_one_qid_of_two_queries_is_refused(repaired):
    transformer = as_pyterrier(repaired.retriever, k=3)
    two = pd.DataFrame({"qid": ["1", "1"], "query": ["hot leaves", "reggae"]})
    for frame in (two, two.assign(query="reggae")):
        with pytest.raises(InputError, match="1 rows are there twice, such as qid '1'"):
            transformer(frame)
    with pytest.raises(InputError, match="1 query ids are given twice, such as '1'"):
        transformer(two.assign(docno=["tea", "reggae"]))


def test_a_candidate_that_is_there_twice_is_refused(repaired):
    twice = pd.DataFrame({"qid": ["1", "1"], "query": ["tea", "tea"], "docno": ["tea", "tea"]})
    with pytest.raises(InputError, match="such as qid '1', docno 'tea'; expected one row per qid"):
        as_pyterrier(repaired.retriever)(twice)


def test_no_k_and_no_corpus_are_refused(repaired):
    with pytest.raises(InputError):
        as_pyterrier(repaired.retriever, k=0)
    with pytest.raises(InputError, match="no corpus yet"):
        as_pyterrier(lambda documents: repaired.retriever)(TOPICS)
