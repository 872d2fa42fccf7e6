"""Documents and queries, from files and data frames; BEIR folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.data import Document, FieldNames, Query, read_qrels, read_queries, write_beir
from argus.errors import InputError


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def corpus_error(path: Path, fields: FieldNames | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read_corpus(path, fields)
    return str(caught.value)


def test_documents_keep_their_order_and_other_fields(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "corpus.jsonl",
        {"_id": "b", "title": "B", "text": "bee", "url": "u", "year": 7},
        {"_id": "a", "title": None, "text": "ay"},
    )
    assert read_corpus(path) == [
        Document("b", "bee", "B", {"url": "u", "year": 7}),
        Document("a", "ay", "", {}),
    ]


@pytest.mark.parametrize(
    ("fields", "option"),
    [
        (FieldNames(id="nope"), "--id-field"),
        (FieldNames(title="nope"), "--title-field"),
        (FieldNames(text="nope"), "--text-field"),
    ],
)
def test_a_column_that_is_missing_is_named_with_its_option(
    tmp_path: Path, fields: FieldNames, option: str
) -> None:
    path = jsonl(tmp_path / "c.jsonl", {"_id": "1", "title": "T", "text": "t"})
    message = corpus_error(path, fields)
    assert message.startswith(f"{path}, line 1: no ")
    assert "among '_id', 'title', 'text'; expected one of 'nope'" in message
    assert option in message


def test_a_second_use_of_an_id_names_both_lines(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", *({"_id": i, "text": "x"} for i in ("a", "b", "a")))
    message = corpus_error(path)
    assert message.startswith(f"{path}, line 3: id 'a' was already given on line 1")
    assert "expected one document per id" in message


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
