"""What a field of a record leads to: never to an id, or a column, of another name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from argus.corpora.stored import record_document
from argus.data import Document, FieldNames
from argus.data.documents import documents_in
from argus.data.fields import parent_ids, payload_values
from argus.errors import InputError


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


def test_objects_in_metadata_are_those_not_the_ones_beside(read):
    beside = {"page": {"lang": "de"}, "metadata": {"page": {"lang": "fr"}}}
    documents = read(beside, {"metadata": {"page": {"lang": "en"}}})
    assert payload_values(documents, "metadata.page.lang", "--by") == [["fr"], ["en"]]


def test_a_column_that_is_only_beside_metadata_is_absent_in_it(read):
    documents = read({"source": "crawl", "metadata": {"n": 1}})
    with pytest.raises(InputError) as caught:
        parent_ids(documents, "metadata.source")
    assert caught.value.where == "--parent-field"


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
