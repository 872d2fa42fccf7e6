"""Columns, paths into objects, and the values of payloads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.corpora.stored import record_document
from argus.data import FieldNames
from argus.data.documents import documents_in
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


CHUNKS = [
    {"chunk_id": "a#0", "doc_id": "a", "text": "one", "metadata": {"title": "A", "year": 1990}},
    {"chunk_id": "a#1", "doc_id": "a", "text": "two", "metadata": {"year": 1991}},
]


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


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
