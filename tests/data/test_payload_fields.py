"""Chunks as vector stores and splitters write them: `chunk_id`, and fields inside `metadata`."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.corpora.opening import read_corpus
from argus.data import Document, FieldNames, read_queries
from argus.data.documents import check_columns
from argus.errors import InputError, Location

CHUNKS = [
    {"chunk_id": "a#0", "doc_id": "a", "text": "one", "metadata": {"title": "A", "year": 1990}},
    {"chunk_id": "a#1", "doc_id": "a", "text": "two", "metadata": {"year": 1991}},
]
TITLED = FieldNames(title="metadata.title")


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def test_a_chunk_is_called_by_its_own_id_not_its_document(tmp_path: Path) -> None:
    first, second = read_corpus(jsonl(tmp_path / "c.jsonl", *CHUNKS), TITLED)
    metadata = {"doc_id": "a", "title": "A", "year": 1990}
    assert first == Document("a#0", "one", "A", metadata)
    assert (second.id, second.title, second.metadata["year"]) == ("a#1", "", 1991)


def test_parquet_holds_objects_too(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(CHUNKS), tmp_path / "c.parquet")
    assert [d.title for d in read_corpus(tmp_path / "c.parquet", TITLED)] == ["A", ""]


@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("tsv", "\t")])
def test_a_column_may_have_the_whole_path_for_a_name(
    tmp_path: Path, ending: str, separator: str
) -> None:
    path = tmp_path / f"c.{ending}"
    rows = (("chunk_id", "metadata.title", "text"), ("a#0", "A", "one"))
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    assert read_corpus(path, TITLED) == [Document("a#0", "one", "A", {})]


def test_a_column_of_the_whole_path_comes_before_the_object(tmp_path: Path) -> None:
    record = {"id": "x", "text": "t", "m.title": "flat", "m": {"title": "nested"}}
    (document,) = read_corpus(jsonl(tmp_path / "c.jsonl", record), FieldNames(title="m.title"))
    assert document.title == "flat" and document.metadata == {"m": {"title": "nested"}}


def test_id_and_text_are_read_inside_objects(tmp_path: Path) -> None:
    record = {"payload": {"key": 7, "page": {"body": "inside"}}}
    fields = FieldNames(id="payload.key", text="payload.page.body", coerce_ids=True)
    (document,) = read_corpus(jsonl(tmp_path / "c.jsonl", record), fields)
    assert (document.id, document.text) == ("7", "inside")


@pytest.mark.parametrize(
    ("fields", "line", "field"),
    [
        (FieldNames(text="metadata.text"), 1, None),
        (FieldNames(title="metadata.nothing"), 1, None),
        (FieldNames(id="metadata.year"), 1, "metadata.year"),
        (FieldNames(title="metadata.year"), 1, "metadata.year"),
    ],
)
def test_a_path_that_leads_nowhere_names_the_record(
    tmp_path: Path, fields: FieldNames, line: int, field: str | None
) -> None:
    path = jsonl(tmp_path / "c.jsonl", *CHUNKS)
    with pytest.raises(InputError) as caught:
        read_corpus(path, fields)
    assert caught.value.where == Location(path, line, field)
    if field is None:
        assert "'metadata.year'" in caught.value.got and "metadata." in caught.value.expected


@pytest.mark.parametrize("titled", [0, 1])
def test_a_named_title_may_be_absent_where_others_have_it(tmp_path: Path, titled: int) -> None:
    records = [{"id": str(i), "text": "t"} for i in range(2)]
    records[titled]["heading"] = "H"
    path, fields = jsonl(tmp_path / "c.jsonl", *records), FieldNames(title="heading")
    check_columns(path, fields)
    documents = read_corpus(path, fields)
    assert [d.title for d in documents] == (["H", ""] if titled == 0 else ["", "H"])


def test_a_title_that_no_column_of_a_table_has_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("id,title,text\na,A,one\n")
    with pytest.raises(InputError) as caught:
        check_columns(path, FieldNames(title="heading"))
    assert "--title-field" in caught.value.fix


@pytest.mark.parametrize("field", ["chunk_id", "docid"])
def test_the_ids_of_documents_name_the_column_of_chunks(tmp_path: Path, field: str) -> None:
    records = [{"id": "a", "doc_id": "a", field: f"a#{i}", "text": "t"} for i in range(2)]
    path = jsonl(tmp_path / "c.jsonl", *records)
    with pytest.raises(InputError) as caught:
        read_corpus(path)
    assert f"--id-field {field}" in caught.value.fix
    assert [d.id for d in read_corpus(path, FieldNames(id=field))] == ["a#0", "a#1"]
    same = jsonl(tmp_path / "same.jsonl", records[0], records[0])
    with pytest.raises(InputError) as caught:
        read_corpus(same)
    assert "--id-field" not in caught.value.fix


def test_a_name_inside_does_not_hide_the_column_beside(tmp_path: Path) -> None:
    record = {"id": "x", "text": "t", "source": "web", "metadata": {"source": "crawl", "n": 1}}
    (document,) = read_corpus(jsonl(tmp_path / "c.jsonl", record))
    assert document.metadata == {"source": "web", "metadata.source": "crawl", "n": 1}


def test_a_question_about_a_chunk_keeps_its_own_id(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "q.jsonl", {"query_id": "q1", "chunk_id": "a#0", "text": "what?"})
    assert [q.id for q in read_queries(path)] == ["q1"]
