"""Columns, paths into objects, and the values of payloads."""

import json
from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.data import FieldNames
from argus.data.fields import parent_ids, payload_values
from argus.errors import InputError, Location

CHUNKS = [
    {"chunk_id": "a#0", "doc_id": "a", "text": "one", "metadata": {"title": "A", "year": 1990}},
    {"chunk_id": "a#1", "doc_id": "a", "text": "two", "metadata": {"year": 1991}},
]


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (FieldNames(text="metadata.text"), None),
        (FieldNames(id="metadata.year"), "metadata.year"),
        (FieldNames(title="metadata.year"), "metadata.year"),
    ],
)
def test_a_path_that_leads_nowhere_names_the_record(
    tmp_path: Path, fields: FieldNames, field: str | None
) -> None:
    path = jsonl(tmp_path / "c.jsonl", *CHUNKS)
    with pytest.raises(InputError) as caught:
        read_corpus(path, fields)
    assert caught.value.where == Location(path, 1, field)
    if field is None:
        assert "'metadata.year'" in caught.value.got and "metadata." in caught.value.expected


def test_a_path_into_metadata_leads_where_a_column_has_its_name(tmp_path: Path) -> None:
    records = [{"source": "crawl", "metadata": {"source": "a"}}, {"metadata": {"source": "b"}}]
    rows = [{"id": str(i), "text": "t", **one} for i, one in enumerate(records)]
    documents = read_corpus(jsonl(tmp_path / "c.jsonl", *rows))
    assert parent_ids(documents, "metadata.source") == ["a", "b"]
    assert payload_values(documents, "source", "--by") == [["crawl"], ["b"]]
