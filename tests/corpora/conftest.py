"""Documents of wiki2 with vectors that MiniLM made of them, and every real store in turn."""

from collections.abc import Sequence

import pytest

from argus.corpora.opening import read_corpus
from argus.data.types import Document, filled
from tests.stores.conftest import postgres as postgres

N = 36
TEMPLATE = "{title}: {text}"


class Asked:
    """An encoder that keeps the texts of documents that somebody wanted embedded, in order."""

    pools_spans = False

    def __init__(self, encoder) -> None:
        self._encoder = encoder
        self.fingerprint, self.dim = encoder.fingerprint, encoder.dim
        self.encode_queries = encoder.encode_queries
        self.asked: list[str] = []

    def encode_documents(self, texts: Sequence[str]):
        self.asked += texts
        return self._encoder.encode_documents(texts)

    def encode_spans(self, texts, spans):
        return self.encode_documents(texts)


@pytest.fixture
def encoder(minilm):
    return Asked(minilm)


@pytest.fixture(scope="session")
def wiki2(shared):
    """How the first documents begin; one has no title."""
    documents = read_corpus(shared("wiki2"), limit=N)
    short = [Document(d.id, d.text[:240], d.title) for d in documents]
    return [*short[:-1], Document("untitled", short[-1].text)]


@pytest.fixture(scope="session")
def vectors(wiki2, minilm):
    """What MiniLM makes of the documents, joined by TEMPLATE."""
    return minilm.encode_documents([filled(TEMPLATE, d.title, d.text) for d in wiki2])
