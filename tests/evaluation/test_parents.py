"""Chunks that a retriever returns, judged by the documents that they are of."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from argus.data import Document, Query
from argus.errors import InputError
from argus.evaluation.compared_lists import compare_retrievers
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.evaluation.parents import ParentFold

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


def folded(**more):
    return EvaluateConfig(**CONFIG, parent_field="metadata.doc", **more)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    path.write_text("".join(json.dumps(chunk) + "\n" for chunk in CHUNKS))
    return path


@pytest.fixture(scope="module")
def result(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("evaluated")
    config = folded(by=("lang",))
    return evaluate(QUERIES, QRELS, out=out, runs=[RUN], corpus=corpus, config=config)


def test_a_document_ranks_by_its_best_chunk(result):
    rows = {row["query_id"]: row for row in result.table.to_pylist()}
    assert [rows[q]["RR"] for q in ("q1", "q2", "q3")] == [0.5, 0.5, 1.0]
    assert [rows[q]["rank"] for q in ("q1", "q2", "q3")] == [2, 2, 1], "siblings take one place"
    assert rows["q2"]["relevant"] == 1, "a judged chunk is its document"
    system = result.summary["systems"][0]
    assert system["documents"] == 3 and system["missing_judged_documents"]["documents"] == 0
    assert system["longest_list"] == 2


def test_means_are_told_by_slice_of_relevant_documents(result):
    table = pq.read_table(result.folder / "evaluation_slices.parquet").to_pylist()
    means = {row["slice"]: (row["share_of"], row["n"], row["share"]) for row in table}
    assert means == {"de": ("RR", 1, 0.5), "en": ("RR", 1, 0.5), "(none)": ("RR", 1, 1.0)}
    assert result.summary["slices"]["worst"][0]["is_few"]


@pytest.mark.parametrize("field", ["metadata.doc", "nope"])
def test_a_fold_needs_a_corpus_that_tells_it(field, corpus, tmp_path):
    config = EvaluateConfig(**CONFIG, parent_field=field)
    where = corpus if field == "nope" else None
    with pytest.raises(InputError) as caught:
        evaluate(QUERIES, QRELS, out=tmp_path, runs=[RUN], corpus=where, config=config)
    assert caught.value.where == "--parent-field"


@pytest.mark.parametrize("headline", ["RR", "NumRet"])
def test_slices_need_a_corpus_and_a_share(headline, corpus, tmp_path):
    config = EvaluateConfig(resamples=1000, measures=(headline,), headline=headline, by=("lang",))
    where = corpus if headline == "NumRet" else None
    with pytest.raises(InputError) as caught:
        evaluate(QUERIES, QRELS, out=tmp_path, runs=[RUN], corpus=where, config=config)
    assert caught.value.where == "--by"


def test_runs_are_compared_by_document(corpus, tmp_path):
    for name, ids in {"a": ["a1", "b1"], "b": ["a2", "c1"]}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"q1": ids}))
    result = compare_retrievers(
        runs=(tmp_path / "a.json", tmp_path / "b.json"),
        out=tmp_path / "out", corpus=corpus, k=2, parent_field="metadata.doc",
    )  # fmt: skip
    verdicts = {row["id"]: row["verdict"] for row in result.table.to_pylist()}
    assert verdicts == {"A": "same", "B": "lost", "c1": "gained"}


@pytest.mark.parametrize("parent", [["A", "B"], 7.5])
def test_a_chunk_of_no_single_document_is_refused(parent):
    with pytest.raises(InputError) as caught:
        ParentFold.of("doc", [Document("x", "t", "", {"doc": parent})])
    assert caught.value.where == "--parent-field" and "'x'" in caught.value.got
