"""Where a record's text and title stand: LangChain, LlamaIndex, Chroma, and shapes of one's own."""

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


def test_records_without_texts_are_refused_with_their_fields():
    payloads = [{"tenant": 1, "blob": {"raw": "x"}}, {"tenant": 2, "url": "u"}]
    corpus = StoreCorpus(ListStore(["a", "b"], np.eye(2), payloads))
    with pytest.raises(InputError) as error:
        read_corpus(corpus)
    assert error.value.where == "mine:docs"
    assert "tenant, blob.raw, url" in error.value.got and "--text-field" in error.value.fix
    documents = read_corpus(corpus, FieldNames(text="blob.raw"))
    assert [document.text for document in documents] == ["x", ""]
