"""Chunks and the documents they are of: figures of both, by vectors and by any retriever."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import argus
from argus.corpora.opening import read_corpus
from argus.data import Document, FieldNames, Query
from argus.data.runs import write_run
from tests.support.chunks import wiki_chunks, write_chunks
from tests.support.word_encoder import WordEncoder

FIELDS = FieldNames(title="metadata.title")
QUERIES = [Query("q", "Which queen married a king?")]


def config(k=3, **more):
    return argus.ExposureConfig(k=k, **{"parent_field": "source", **more})


class VectorRetriever:
    """Searches the same vectors, as a store would."""

    def __init__(self, documents):
        self.encoder, self.depths = WordEncoder(), []
        usable = sorted((d for d in documents if d.content.strip()), key=lambda d: d.id)
        self.ids = [d.id for d in usable]
        self.vectors = unit(self.encoder.encode_documents([d.content for d in usable]))

    def search(self, queries, k):
        self.depths.append(k)
        scores = unit(self.encoder.encode_queries([q.text for q in queries])) @ self.vectors.T
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return {
            query.id: {self.ids[row]: float(scores[i, row]) for row in order[i]}
            for i, query in enumerate(queries)
        }


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def chunks(tmp_path_factory, shared):
    shared("wiki2")
    path = tmp_path_factory.mktemp("chunks") / "corpus.jsonl"
    return read_corpus(write_chunks(path, wiki_chunks(60)), FIELDS)


@pytest.fixture(scope="module")
def by_vectors(chunks, tmp_path_factory):
    out = tmp_path_factory.mktemp("vectors")
    return argus.exposure(
        chunks, out=out, encoder=WordEncoder(), config=config(by=("year", "source")),
        queries=QUERIES,
    )  # fmt: skip


def test_both_levels_are_told(by_vectors, chunks):
    summary = by_vectors.summary
    parents = summary["parents"]
    assert summary["documents"]["total"] == len(chunks) == parents["chunks"]
    assert parents["documents"]["total"] == 60 == len({c.metadata["source"] for c in chunks})
    assert parents["title"]["probes"] == 60 < summary["title"]["probes"] == len(chunks)
    assert parents["sentence"]["success_at_1"] > summary["sentence"]["success_at_1"]
    assert parents["never_retrieved"] <= summary["never_retrieved"]


def test_siblings_displace_nobody(by_vectors):
    misses = by_vectors.misses.to_pylist()
    titles = {row["parent"]: row["label"] for row in by_vectors.table.to_pylist()}
    assert misses and all(titles[m["parent"]] not in m["displaced_by"].split("; ") for m in misses)
    missed = [m["parent_rank"] > 3 for m in misses]
    assert missed == sorted(missed, reverse=True) and any(missed) and not all(missed)


def test_a_retriever_is_measured_by_the_same_definition(chunks, by_vectors, tmp_path):
    """Titles ask both for the same: every rank within k agrees, of chunks and of documents."""
    retriever = VectorRetriever(chunks)
    result = argus.exposure(
        chunks, retriever=retriever, out=tmp_path, config=config(), queries=QUERIES
    )
    assert set(retriever.depths) == {3, 15}, "where k chunks are too few documents"
    tables = [pq.read_table(r.folder / "documents.parquet") for r in (result, by_vectors)]
    ranks = [
        [rank if (rank or 99) <= 3 else None for rank in table["title_rank"].to_pylist()]
        for table in tables
    ]
    assert ranks[0] == ranks[1]


HAND = [
    Document("a1", "tea", "", {"doc": "A"}),
    Document("a2", "tea leaves", "", {"doc": "A"}),
    Document("a3", "tea cups", "", {"doc": "A"}),
    Document("b1", "beans", "", {"doc": "B"}),
    Document("c1", "ska", "", {}),
    Document("d1", "", "", {"doc": "D"}),
]


def asked(text, ids, out, k=2):
    """Ask for chunks by one title alone; return the row of its chunk and that of its document."""
    titled = [Document(d.id, d.text, text if d.id == "b1" else "", d.metadata) for d in HAND]
    result = argus.exposure(
        titled, retriever=lambda query, k: ids[:k], out=out, config=config(k, parent_field="doc")
    )
    rows = {row["id"]: row for row in result.table.to_pylist()}
    documents = pq.read_table(out / "documents.parquet").to_pylist()
    return result, rows["b1"], {row["id"]: row for row in documents}


def test_siblings_of_a_rival_take_one_place(tmp_path):
    result, chunk, documents = asked("Beans", ["a1", "a2", "a3", "b1"], tmp_path)
    assert chunk["title_rank"] is None and chunk["retrieved_by_own"] == 0
    assert chunk["parent_by_own"] == 1, "the deeper list holds it"
    assert documents["B"]["title_rank"] == 2 and documents["B"]["chunks"] == 1
    assert documents["c1"]["never_retrieved"], "a chunk without a parent is its own"
    assert documents["A"]["retrieved_by_others"] == 1, "one list, though it holds two chunks"
    assert documents["D"]["state"] == "not applicable" and documents["D"]["chunks"] == 0
    assert documents["D"]["reason"] == "no text"
    (miss,) = result.misses.to_pylist()
    assert miss["displaced_by"] == "a1" and miss["parent_rank"] == 2
    result, _, documents = asked("Beans", ["a1", "a2"], tmp_path / "short")
    assert documents["B"]["title_rank"] is None
    assert result.summary["retriever"]["undecided"] == 1, "the list ends early"


def test_a_run_is_read_as_deep_as_it_goes(tmp_path):
    titled = [Document(d.id, d.text, "Beans" if d.id == "b1" else "", d.metadata) for d in HAND]
    asking = config(2, parent_field="doc")
    argus.retrievability.export_probes(titled, out=tmp_path / "probes", config=asking)
    lines = (tmp_path / "probes" / "queries.jsonl").read_text().splitlines()
    ids = [json.loads(line)["_id"] for line in lines]
    write_run(tmp_path / "run.trec", {id_: {"a1": 3.0, "a2": 2.0, "b1": 1.0} for id_ in ids})
    result = argus.exposure(titled, run=tmp_path / "run.trec", out=tmp_path / "out", config=asking)
    assert result.summary["title"]["success_at_k"] == 0
    assert result.summary["parents"]["title"]["success_at_k"] == 1
