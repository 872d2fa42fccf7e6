"""Chunks that a retriever returns, judged by the documents that they are of."""

import json

import pytest

from argus.data import Query
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate

CHUNKS = [
    {"chunk_id": "a1", "text": "tea", "metadata": {"doc": "A", "lang": "de", "title": "Tea"}},
    {"chunk_id": "a2", "text": "leaves", "metadata": {"doc": "A", "lang": "de"}},
    {"chunk_id": "b1", "text": "beans", "metadata": {"doc": "B", "lang": "en"}},
    {"chunk_id": "c1", "text": "ska", "metadata": {}},
]
QUERIES = [Query("q1", "leaves"), Query("q2", "beans"), Query("q3", "ska")]
QRELS = {"q1": {"A": 1}, "q2": {"b1": 2, "B": 1}, "q3": {"c1": 1}}
RUN = {
    "q1": {"b1": 3.0, "a2": 2.0, "a1": 1.0},
    "q2": {"a1": 3.0, "a2": 2.0, "b1": 1.0},
    "q3": {"c1": 1.0},
}
CONFIG = {"resamples": 1000, "measures": ("RR", "nDCG@5"), "headline": "RR"}


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(chunk) + "\n" for chunk in CHUNKS))
    return path


def test_a_document_ranks_by_its_best_chunk(corpus, tmp_path):
    config = EvaluateConfig(**CONFIG, parent_field="metadata.doc", by=("lang",))
    result = evaluate(QUERIES, QRELS, out=tmp_path, runs=[RUN], corpus=corpus, config=config)
    rows = {row["query_id"]: row for row in result.table.to_pylist()}
    assert [rows[q]["RR"] for q in ("q1", "q2", "q3")] == [0.5, 0.5, 1.0]
    assert [rows[q]["rank"] for q in ("q1", "q2", "q3")] == [2, 2, 1], "siblings take one place"
    assert rows["q2"]["relevant"] == 1, "a judged chunk is its document"
    system = result.summary["systems"][0]
    assert system["documents"] == 3 and system["longest_list"] == 2


def test_slices_need_a_corpus(tmp_path):
    config = EvaluateConfig(resamples=1000, measures=("RR",), by=("lang",))
    with pytest.raises(InputError) as caught:
        evaluate(QUERIES, QRELS, out=tmp_path, runs=[RUN], config=config)
    assert caught.value.where == "--by"
