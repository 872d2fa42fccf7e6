"""A repaired index as a search model of the installed mteb, in mteb's own evaluation."""

from __future__ import annotations

import pytest

from argus.retrievers.evaluators import as_mteb
from tests.retrievers.conftest import QRELS, QUESTIONS, TEXTS

mteb = pytest.importorskip("mteb", reason="mteb is not installed (extra: mteb)")
datasets = pytest.importorskip("datasets")
METADATA = {
    "name": "TeaRetrieval", "description": "Drinks and music.", "type": "Retrieval",
    "category": "t2t", "eval_splits": ["test"], "eval_langs": ["eng-Latn"],
    "main_score": "ndcg_at_10", "dataset": {"path": "local/tea", "revision": "1"},
}  # fmt: skip


def task(instruction=None, top_ranked=None, texts=TEXTS):
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata

    class TeaRetrieval(AbsTaskRetrieval):
        metadata = TaskMetadata(**METADATA)

        def load_data(self, **_):
            self.data_loaded = True

    one = TeaRetrieval()
    queries = [{"id": id_, "text": text} for id_, text in QUESTIONS.items()]
    if instruction:
        queries = [query | {"instruction": instruction} for query in queries]
    corpus = [{"id": id_, "title": "", "text": text} for id_, text in texts.items()]
    one.dataset = {"default": {"test": {
        "corpus": datasets.Dataset.from_list(corpus),
        "queries": datasets.Dataset.from_list(queries),
        "relevant_docs": QRELS, "top_ranked": top_ranked,
    }}}  # fmt: skip
    return one


def evaluate(model, one):
    result = mteb.evaluate(model, one, cache=None, co2_tracker=False)
    return result.task_results[0].scores["test"][0]


def test_mtebs_scores_are_those_of_argus(repaired):
    scores = evaluate(as_mteb(repaired.retriever), task())
    own = repaired.scores("nDCG@10", "R@1", "RR")
    assert scores["ndcg_at_10"] == pytest.approx(own["nDCG@10"], abs=1e-5)
    assert scores["recall_at_1"] == pytest.approx(own["R@1"], abs=1e-5)
    assert scores["mrr_at_10"] == pytest.approx(own["RR"], abs=1e-5)


def test_instructions_of_queries_come_after_them(repaired):
    texts = []

    class Listening:
        name = "listening"

        def search(self, queries, k):
            texts.extend(query.text for query in queries)
            return {query.id: {} for query in queries}

    data = task(instruction="No tea.").dataset["default"]["test"]
    as_mteb(Listening()).search(data["queries"], top_k=1)
    assert texts[0] == "hot leaves No tea."
