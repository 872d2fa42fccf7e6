"""Passages with their vectors, indexed, for `argus explain`."""

import json

import pytest

from argus.corpora.opening import read_corpus
from argus.data import Document, View
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex

FIRST, CHARACTERS = 100, 240


@pytest.fixture(scope="session")
def passages(shared):
    """How the first passages of wiki2 begin: what is embedded many times is short."""
    whole = read_corpus(shared("wiki2"), limit=FIRST)
    return [Document(d.id, d.text[:CHARACTERS], d.title) for d in whole]


@pytest.fixture(scope="session")
def vectors(passages, minilm):
    return minilm.encode_documents([d.content for d in passages])


@pytest.fixture(scope="session")
def indexed():
    """Make an index as a program makes one: a view of its own text per document."""

    def index(path, documents, vectors, encoder):
        index = ViewIndex.create(path, fingerprint=encoder.fingerprint, dim=encoder.dim)
        index.add([View(d.id, d.id, "original", d.content) for d in documents], vectors)
        return IndexRetriever(index, encoder)

    return index


@pytest.fixture(scope="session")
def retriever(indexed, passages, vectors, minilm, tmp_path_factory):
    return indexed(tmp_path_factory.mktemp("explain") / "wiki", passages, vectors, minilm)


@pytest.fixture(scope="session")
def of():
    """Return the one finding of a cause, of an explanation that is plain JSON."""

    def finding(explanation, cause):
        json.dumps(explanation.as_dict())
        (found,) = [f for f in explanation.findings if f.cause is cause]
        return found

    return finding
