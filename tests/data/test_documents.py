"""Documents and queries, from files and data frames; BEIR folders."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
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


ROWS = {
    "_id": ["a", "b", "c"],
    "title": ["Alder", None, "Cedar"],
    "text": ["One tree.", "Another.", "A third."],
    "year": [1999, None, 2001],
}


def frames():
    names = [name for name in ("pandas", "polars") if find_spec(name)]
    return [pa.table(ROWS), *(import_module(name).DataFrame(ROWS) for name in names)]


def test_every_kind_of_frame_gives_the_same_documents():
    first, *others = [read_corpus(frame) for frame in frames()]
    assert [(d.id, d.title, d.text) for d in first] == [
        ("a", "Alder", "One tree."), ("b", "", "Another."), ("c", "Cedar", "A third."),
    ]  # fmt: skip
    for other in others:
        assert [(d.id, d.title, d.text) for d in other] == [(d.id, d.title, d.text) for d in first]
    assert first[0].metadata == {"year": 1999} and first[1].metadata == {}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"_id": ["a", "a"], "text": ["x", "y"]}, "already given on line 1"),
        ({"_id": [1, 2], "text": ["x", "y"]}, "line 1"),
        ({"name": ["a"], "text": ["x"]}, "id"),
        ({"_id": ["a"], "number": [7]}, "text"),
        ({"_id": [], "text": []}, "no document"),
    ],
)
def test_a_frame_that_is_no_corpus_is_refused(rows, message):
    with pytest.raises(InputError, match=message):
        read_corpus(pa.table(rows))


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
