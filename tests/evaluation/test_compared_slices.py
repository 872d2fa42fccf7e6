"""What is gained and lost, told by what the corpus' fields hold."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from argus.errors import InputError
from argus.evaluation.compared_lists import compare_retrievers

CHUNKS = [
    {"chunk_id": "a1", "text": "tea", "metadata": {"doc": "A", "lang": "de"}},
    {"chunk_id": "a2", "text": "leaves", "metadata": {"doc": "A", "lang": "fr"}},
    {"chunk_id": "b1", "text": "beans", "metadata": {"doc": "B", "lang": "en"}},
    {"chunk_id": "c1", "text": "ska", "metadata": {}},
]
BEFORE = {"q1": {"a1": 2.0, "b1": 1.0}, "q2": {"b1": 1.0}}
AFTER = {"q1": {"a2": 2.0}, "q2": {"c1": 1.0}}
QRELS = {"q1": {"a1": 1, "b1": 1}, "q2": {"c1": 1}}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    path.write_text("".join(json.dumps(chunk) + "\n" for chunk in CHUNKS))
    return path


def shares(folder):
    rows = pq.read_table(folder / "comparison_slices.parquet").to_pylist()
    return {(row["share_of"], row["slice"]): (row["n"], row["share"]) for row in rows}


def test_chunks_and_relevant_ones_are_told_by_slice(corpus, tmp_path):
    result = compare_retrievers(
        runs=[BEFORE, AFTER], qrels=QRELS, corpus=corpus, k=2, by=("lang",), out=tmp_path
    )
    table = shares(tmp_path)
    assert table["documents lost", "de"] == (1, 1.0) and table["documents lost", "fr"] == (1, 0.0)
    assert table["documents gained", "(none)"] == (1, 1.0)
    assert table["relevant documents lost", "en"] == (1, 1.0)
    assert table["relevant documents gained", "(none)"] == (1, 1.0)
    assert ("relevant documents lost", "fr") not in table, "nobody judged a2"
    assert result.summary["slices"]["shares"] == len(table)
    assert any("by lang" in line for line in result.headline())
    assert "Every share by lang" in result.report.read_text("utf-8")


@pytest.mark.parametrize("field", ["lang", "nope"])
def test_slices_need_a_corpus_that_has_the_field(field, corpus, tmp_path):
    with pytest.raises(InputError) as caught:
        compare_retrievers(
            runs=[BEFORE, AFTER], corpus=corpus if field == "nope" else None, by=(field,),
            out=tmp_path / "out",
        )  # fmt: skip
    assert caught.value.where == "--by" and not (tmp_path / "out" / "summary.json").exists()
