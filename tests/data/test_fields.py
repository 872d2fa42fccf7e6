"""Columns, paths into objects, and the values of payloads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.corpora.stored import record_document
from argus.data import Document, FieldNames
from argus.data.documents import check_columns, documents_in
from argus.data.fields import parent_ids, payload_values
from argus.errors import InputError, Location


@pytest.fixture(params=["file", "store"])
def read(request, tmp_path: Path):
    """Read records of a file, or of a store, whose own ids are 1, 2, ..."""

    def from_file(*records):
        path = tmp_path / "c.jsonl"
        rows = [{"chunk_id": str(i), "text": "t", **one} for i, one in enumerate(records, 1)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return documents_in(path, FieldNames())

    def from_store(*records):
        return [
            record_document(str(i), {"text": "t", **one}, FieldNames(), "qdrant:here/docs")
            for i, one in enumerate(records, 1)
        ]

    return from_file if request.param == "file" else from_store


@pytest.mark.parametrize("field", ["doc_id", "_id", "metadata.document_id", "name", "label"])
def test_an_absent_name_like_an_id_is_refused(read, field):
    documents = read({"docid": "a", "title": "T"}, {"docid": "a"})
    with pytest.raises(InputError) as caught:
        parent_ids(documents, field)
    assert caught.value.where == "--parent-field" and "docid" in caught.value.expected
    with pytest.raises(InputError) as caught:
        payload_values(documents, field, "--by")
    assert caught.value.where == "--by"


def test_who_lacks_the_field_is_its_own_parent_and_has_no_value(read):
    documents = read({"doc_id": "a"}, {}, {"doc_id": None})
    assert parent_ids(documents, "doc_id") == ["a", "2", "3"]
    assert payload_values(documents, "doc_id", "--by") == [["a"], [], []]


def test_the_fields_read_as_id_and_title_are_the_documents_own(read):
    documents = read({"label": "T"}, {"label": "U"})
    id_field = documents[0].fields.id
    assert payload_values(documents, id_field, "--by") == [["1"], ["2"]]
    assert payload_values(documents, "label", "--by") == [["T"], ["U"]]
    plain = [Document("x", "t", "T")]
    assert payload_values(plain, "id", "--by") == [["x"]]
    assert payload_values(plain, "title", "--by") == [["T"]]


def test_a_path_into_metadata_leads_to_no_column_beside(read):
    documents = read(
        {"source": "crawl", "metadata": {"source": "a"}},
        {"source": "crawl", "metadata": {}},
        {"source": "crawl", "metadata": {"source": None}},
        {"source": "crawl"},
        {"metadata": {"source": "b"}},
    )
    assert parent_ids(documents, "metadata.source") == ["a", "2", "3", "4", "b"]
    assert payload_values(documents, "source", "--by") == [*[["crawl"]] * 4, ["b"]]


def test_a_payload_as_the_store_holds_it_is_read_alike():
    payload = {"source": "crawl", "metadata": {"source": None, "n": 1}}
    documents = [Document("1", "", "", payload)]
    assert payload_values(documents, "metadata.n", "--by") == [[1]]
    with pytest.raises(InputError):
        payload_values(documents, "metadata.source", "--by")


def test_an_odd_element_of_a_list_names_document_and_option(read):
    documents = read({"a": [{"n": "x"}]}, {"a": [{"n": "x"}, "odd"]})
    with pytest.raises(InputError) as caught:
        payload_values(documents, "a[].n", "--by")
    assert caught.value.where == "--by"
    assert "'2'" in caught.value.got and "'odd'" in caught.value.got


CHUNKS = [
    {"chunk_id": "a#0", "doc_id": "a", "text": "one", "metadata": {"title": "A", "year": 1990}},
    {"chunk_id": "a#1", "doc_id": "a", "text": "two", "metadata": {"year": 1991}},
]
TITLED = FieldNames(title="metadata.title")


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("tsv", "\t")])
def test_a_column_may_have_the_whole_path_for_a_name(
    tmp_path: Path, ending: str, separator: str
) -> None:
    path = tmp_path / f"c.{ending}"
    rows = (("chunk_id", "metadata.title", "text"), ("a#0", "A", "one"))
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    assert read_corpus(path, TITLED) == [Document("a#0", "one", "A", {})]


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
