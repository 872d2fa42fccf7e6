"""Where a record's text and title stand: LangChain, LlamaIndex, Chroma, and shapes of one's own."""

from __future__ import annotations

import json

import numpy as np
import pytest

from argus.corpora import StoreCorpus
from argus.corpora.opening import read_corpus
from argus.corpora.stored import record_document
from argus.data.fields import FieldNames
from argus.errors import InputError
from tests.support.stored_corpora import ListStore

STORE = "qdrant:here/docs"


def read(payload, **fields):
    return record_document("7", payload, FieldNames(**fields), STORE)


@pytest.mark.parametrize(
    "payload",
    [
        {"page_content": "words", "metadata": {"title": "T", "year": 1}},
        {"document": "words", "cmetadata": {"title": "T", "year": 1}},
        {"_node_content": json.dumps({"text": "words", "id_": "x"}), "title": "T", "year": 1},
        {"chunk_text": "words", "label": "T", "year": 1},
        {"chunk": "words", "name": "T", "year": 1},
    ],
)
def test_usual_shapes_are_read(payload):
    document = read(payload)
    assert (document.id, document.title, document.text) == ("7", "T", "words")
    assert document.metadata == {"year": 1}


def test_fields_are_named_by_dotted_paths():
    payload = {"body": {"main": "words"}, "metadata": {"head": "T", "text": "not this", "n": 2}}
    document = read(payload, text="body.main", title="metadata.head")
    assert (document.title, document.text) == ("T", "words")
    assert document.metadata["n"] == 2 and "head" not in document.metadata


def test_a_record_may_lack_what_others_have():
    assert read({"metadata": {}}, title="metadata.head", text="body.main").text == ""
    assert read({"text": None, "title": None}).content == ""


def test_a_field_inside_never_hides_one_beside():
    document = read({"text": "words", "source": "a", "metadata": {"source": "b"}})
    assert document.metadata == {"source": "a", "metadata.source": "b"}


def test_ids_of_the_payload_are_taken_where_they_are_named():
    assert read({"text": "words", "key": "k1"}, id="key").id == "k1"
    assert read({"text": "words", "key": 5}, id="key", coerce_ids=True).id == "5"
    for payload in ({"text": "words"}, {"text": "words", "key": 5}, {"text": "words", "key": ""}):
        with pytest.raises(InputError) as error:
            read(payload, id="key")
        assert error.value.where == f"{STORE}, record 7"


def test_what_is_no_text_is_refused():
    with pytest.raises(InputError) as error:
        read({"body": ["words"]}, text="body")
    assert error.value.where == f"{STORE}, record 7"


def test_records_without_texts_are_refused_with_their_fields():
    payloads = [{"tenant": 1, "blob": {"raw": "x"}}, {"tenant": 2, "url": "u"}]
    corpus = StoreCorpus(ListStore(["a", "b"], np.eye(2), payloads))
    with pytest.raises(InputError) as error:
        read_corpus(corpus)
    assert error.value.where == "mine:docs"
    assert "tenant, blob.raw, url" in error.value.got and "--text-field" in error.value.fix
    documents = read_corpus(corpus, FieldNames(text="blob.raw"))
    assert [document.text for document in documents] == ["x", ""]
