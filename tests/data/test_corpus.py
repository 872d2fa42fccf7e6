from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.corpora.opening import open_corpus, read_corpus
from argus.data import Document, FieldNames, Query, Span, read_queries
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


def test_a_folder_stands_for_the_corpus_file_in_it(tmp_path: Path) -> None:
    (tmp_path / "documents.csv").write_text("id,text\na,one\n")
    assert [d.id for d in read_corpus(tmp_path)] == ["a"]
    jsonl(tmp_path / "corpus.jsonl", {"_id": "b", "text": "two"})
    assert [d.id for d in read_corpus(tmp_path)] == ["b"], "corpus.* before documents.*"


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


def test_a_later_row_without_text_is_refused_by_line(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", {"_id": "a", "text": "one"}, {"_id": "b", "txt": "two"})
    assert corpus_error(path).startswith(f"{path}, line 2: no text field among '_id', 'txt'")


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


def test_numbers_as_ids_in_parquet_are_refused_or_coerced(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"id": [1, 2], "text": ["one", "two"]}), path)
    assert corpus_error(path).startswith(f"{path}, line 1, field 'id': 1 is a number")
    assert [d.id for d in read_corpus(path, FieldNames(coerce_ids=True))] == ["1", "2"]


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_corpus_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(text)
    assert corpus_error(tmp_path).startswith(f"{path}: no document in it; expected at least one")


def test_no_path_and_a_folder_without_corpus_are_told_apart(tmp_path: Path) -> None:
    assert corpus_error(tmp_path / "none").startswith(f"{tmp_path / 'none'}: no such file or")
    message = corpus_error(tmp_path)
    assert message.startswith(f"{tmp_path}: the folder holds no corpus file")
    assert "corpus.jsonl" in message


def test_a_limit_takes_the_first_documents(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", *({"_id": i, "text": "x"} for i in "abc"))
    assert [d.id for d in read_corpus(path, limit=2)] == ["a", "b"]
    assert [d.id for d in read_corpus(path, limit=9)] == ["a", "b", "c"]


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


def test_a_title_that_only_begins_the_first_word_is_kept() -> None:
    assert Document("x", "Artificial limbs.", "Art").content == "Art Artificial limbs."


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 0)])
def test_a_span_is_a_non_empty_range_of_characters(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="needs 0 <= start < end"):
        Span(start, end)


def test_a_span_shifts_with_its_text() -> None:
    assert Span(0, 3).shift(5) == Span(5, 8)
    with pytest.raises(ValueError, match="needs 0 <= start"):
        Span(2, 3).shift(-3)


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


def test_documents_of_a_program_are_a_corpus_too() -> None:
    documents = [Document("a", "x"), Document("b", "y"), Document("a", "again")]
    source = open_corpus(documents, limit=2)
    assert (source.file, source.kb) == (None, None)
    assert source.documents(FieldNames(id="ignored")) == documents[:2]
    with pytest.raises(InputError, match="two documents have the id 'a'"):
        open_corpus(documents)


def test_a_knowledge_base_is_opened_when_it_is_read(tmp_path: Path) -> None:
    write_kb(tmp_path)
    (tmp_path / "entities" / "part-00000.parquet").unlink()
    source = open_corpus(tmp_path)
    assert source.file == tmp_path / "kb.json"
    with pytest.raises(InputError, match="is missing"):
        source.documents(FieldNames())
