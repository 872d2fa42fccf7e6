"""Documents and queries, from files and data frames; BEIR folders."""

import json
from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.data import Document, FieldNames, Query, read_qrels, read_queries, write_beir
from argus.errors import InputError


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


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
    ("ids", "fields", "says"),
    [
        ("ab", FieldNames(id="nope"), "line 1: no .*; expected one of 'nope'.*--id-field"),
        ("ab", FieldNames(title="nope"), "line 1: no .* among '_id', 'text'.*--title-field"),
        ("ab", FieldNames(text="nope"), "line 1: no .*--text-field"),
        ("aba", None, "line 3: id 'a' was already given on line 1.*expected one document per id"),
    ],
)
def test_a_missing_column_or_a_second_id_is_refused_with_its_place(
    tmp_path: Path, ids: str, fields: FieldNames | None, says: str
) -> None:
    path = jsonl(tmp_path / "c.jsonl", *({"_id": i, "text": "x"} for i in ids))
    with pytest.raises(InputError, match=f"^{path}, {says}"):
        read_corpus(path, fields)


def test_the_folder_has_the_layout_of_beir(tmp_path: Path) -> None:
    write_beir(tmp_path, [Document("a", "ay", "A")], [Query("q", "é?")], {"q": {"a": 1}})
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {str(path.relative_to(tmp_path)): path.read_text("utf-8") for path in files} == {
        "corpus.jsonl": '{"_id": "a", "title": "A", "text": "ay", "metadata": {}}\n',
        "queries.jsonl": '{"_id": "q", "text": "é?"}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\ta\t1\n",
    }


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
