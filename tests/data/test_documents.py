"""Documents and queries, from files and data frames; BEIR folders."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

from argus.corpora.opening import open_corpus, read_corpus
from argus.data import Document, FieldNames, Query, Span, read_qrels, read_queries, write_beir
from argus.errors import InputError
from tests.support.kb import write_kb


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


@pytest.mark.parametrize("id_field", ["_id", "id", "doc_id", "docid", "docno", "pid"])
@pytest.mark.parametrize("text_field", ["text", "contents", "paragraph", "passage", "body"])
def test_the_usual_column_names_are_found(tmp_path: Path, id_field: str, text_field: str) -> None:
    path = jsonl(tmp_path / "c.jsonl", {id_field: "a", "name": "A", text_field: "one"})
    assert read_corpus(path) == [Document("a", "one", "A", {})]


def test_given_field_names_win_over_the_usual_ones(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "c.jsonl", {"_id": "1", "text": "t", "key": "k", "head": "H", "abstract": "x"}
    )
    fields = FieldNames(id="key", title="head", text="abstract")
    assert read_corpus(path, fields) == [Document("k", "x", "H", {"_id": "1", "text": "t"})]


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


def test_a_later_row_without_an_id_is_refused_by_line_and_field(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", {"_id": "a", "text": "one"}, {"text": "two"})
    assert corpus_error(path).startswith(f"{path}, line 2, field '_id': None is no id")


def test_a_second_use_of_an_id_names_both_lines(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", *({"_id": i, "text": "x"} for i in ("a", "b", "a")))
    message = corpus_error(path)
    assert message.startswith(f"{path}, line 3: id 'a' was already given on line 1")
    assert "expected one document per id" in message


def test_numbers_as_ids_are_refused_and_coerced_on_request(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", {"_id": 7, "text": "x"}, {"_id": "07", "text": "y"})
    assert corpus_error(path).startswith(f"{path}, line 1, field '_id': 7 is a number")
    assert [d.id for d in read_corpus(path, FieldNames(coerce_ids=True))] == ["7", "07"]


def test_coercion_does_not_make_one_id_of_a_number_and_its_text(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", {"_id": 7, "text": "x"}, {"_id": "7", "text": "y"})
    assert "line 2: id '7' was already given on line 1" in corpus_error(
        path, FieldNames(coerce_ids=True)
    )


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_corpus_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(text)
    assert corpus_error(tmp_path).startswith(f"{path}: no document in it; expected at least one")


def test_queries_are_read_from_a_folder_or_a_file(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "queries.jsonl", {"_id": "q", "text": "why?"})
    assert read_queries(tmp_path) == read_queries(path) == [Query("q", "why?")]
    other = tmp_path / "asked.tsv"
    other.write_text("qid\tquestion\n1\twho?\n2\twhen?\n")
    assert read_queries(other) == [Query("1", "who?"), Query("2", "when?")]
    assert read_queries(other, limit=1) == [Query("1", "who?")]
    with pytest.raises(InputError, match="no such file"):
        read_queries(tmp_path / "none")


@pytest.mark.parametrize(
    ("title", "text", "content"),
    [
        ("Ada", "She wrote notes.", "Ada She wrote notes."),
        ("Ada", "Ada wrote notes.", "Ada wrote notes."),
        ("Ada", "Notes by Ada.", "Ada Notes by Ada."),
        ("Ada", "", "Ada"),
        ("", "Notes.", "Notes."),
        ("", "", ""),
        ("Ada", "ada wrote.", "Ada ada wrote."),
    ],
)
def test_content_is_title_and_text_and_no_title_twice(title: str, text: str, content: str) -> None:
    assert Document("x", text, title).content == content


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 0)])
def test_a_span_is_a_non_empty_range_of_characters(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="needs 0 <= start < end"):
        Span(start, end)


def test_titles_are_read_even_where_the_first_record_has_none(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "c.jsonl", {"_id": "a", "text": "one"}, {"_id": "b", "title": "B", "text": "x"}
    )
    assert [d.title for d in read_corpus(path)] == ["", "B"]


def test_what_comes_after_the_limit_is_not_looked_at(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", {"_id": "a", "text": "one"}, {"_id": 7, "text": "two"})
    assert [d.id for d in read_corpus(path, limit=1)] == ["a"]


def test_what_a_corpus_is_is_asked_once(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "corpus.jsonl", {"_id": "a", "text": "rows"})
    source = open_corpus(tmp_path)
    write_kb(tmp_path)
    assert (source.file, source.kb) == (path, None)
    assert [d.id for d in source.documents(FieldNames())] == ["a"]
    base = open_corpus(str(tmp_path), limit=2)
    assert base.file == tmp_path / "kb.json"
    assert base.kb is not None and base.kb is base.kb
    assert [d.id for d in base.documents(FieldNames())] == ["Q1", "Q2"]
    with pytest.raises(InputError) as caught:
        base.documents(FieldNames(id="id"))
    assert caught.value.where == base.file


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
