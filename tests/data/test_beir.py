from __future__ import annotations

from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.data import Document, Query, read_qrels, read_queries, write_beir

DOCUMENTS = [
    Document("b/2", 'Two lines\nand a "quote", a tab\tand \\ a slash.', "Zwölf & Ölf"),
    Document("a", "", "Only a title"),
    Document("ü", "Only a text \U0001f600 \u2028 here."),
]
QUERIES = [Query("q2", "Wer?\nWann?"), Query("q1", "where")]
QRELS = {"q2": {"b/2": 2, "a": 0}, "q1": {"ü": 1}}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "beir"
    write_beir(folder, DOCUMENTS, QUERIES, QRELS)
    read = read_corpus(folder)
    assert [(d.id, d.title, d.text) for d in read] == [(d.id, d.title, d.text) for d in DOCUMENTS]
    assert read_queries(folder) == QUERIES
    assert read_qrels(folder / "qrels" / "test.tsv") == QRELS


def test_the_folder_has_the_layout_of_beir(tmp_path: Path) -> None:
    write_beir(tmp_path, [Document("a", "ay", "A")], [Query("q", "é?")], {"q": {"a": 1}})
    files = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert files == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    assert (tmp_path / "corpus.jsonl").read_text(encoding="utf-8") == (
        '{"_id": "a", "title": "A", "text": "ay", "metadata": {}}\n'
    )
    assert (tmp_path / "queries.jsonl").read_text(encoding="utf-8") == (
        '{"_id": "q", "text": "é?"}\n'
    )
    assert (tmp_path / "qrels" / "test.tsv").read_text() == (
        "query-id\tcorpus-id\tscore\nq\ta\t1\n"
    )


def test_metadata_survives_a_round_trip(tmp_path: Path) -> None:
    written = [Document("a", "ay", "A", {"year": 1843})]
    write_beir(tmp_path, written, [], {})
    assert read_corpus(tmp_path) == written


@pytest.mark.parametrize("name", ["wiki2", "cranfield", "hotpot100"])
def test_real_collections_survive_a_round_trip(tmp_path: Path, shared, name: str) -> None:
    source = shared(name)
    documents, queries = read_corpus(source), read_queries(source)
    qrels = read_qrels(source / "qrels" / "test.tsv")
    write_beir(tmp_path, documents, queries, qrels)
    read = read_corpus(tmp_path)
    assert [(d.id, d.title, d.text) for d in read] == [(d.id, d.title, d.text) for d in documents]
    assert read_queries(tmp_path) == queries
    assert read_qrels(tmp_path / "qrels" / "test.tsv") == qrels
