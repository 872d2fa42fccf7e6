"""Documents of wiki2 with vectors that MiniLM made of them, and every real store in turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from argus.corpora.opening import read_corpus
from argus.data.types import Document, filled
from tests.stores.conftest import postgres as postgres

N = 48
TEMPLATE = "{title}: {text}"


class Remembering:
    """An encoder that embeds each text once, and counts those that it was asked for as documents.

    asked: all texts of documents that somebody wanted embedded, in order.
    """

    def __init__(self, encoder) -> None:
        self._encoder, self._known = encoder, {}
        self.fingerprint, self.dim, self.pools_spans = encoder.fingerprint, encoder.dim, False
        self.asked: list[str] = []

    def encode_queries(self, texts: Sequence[str]):
        return self._all("query", texts, self._encoder.encode_queries)

    def encode_documents(self, texts: Sequence[str]):
        self.asked += texts
        return self._all("document", texts, self._encoder.encode_documents)

    def encode_spans(self, texts, spans):
        return self.encode_documents(texts)

    def _all(self, role, texts, encode):
        new = list(dict.fromkeys(t for t in texts if (role, t) not in self._known))
        if new:
            self._known |= {(role, t): v for t, v in zip(new, encode(new), strict=True)}
        return np.stack([self._known[role, text] for text in texts])


@pytest.fixture(scope="session")
def remembering(minilm):
    return Remembering(minilm)


@pytest.fixture
def encoder(remembering):
    remembering.asked.clear()
    return remembering


@pytest.fixture(scope="session")
def wiki2(shared):
    """How the first documents begin; one has no title."""
    documents = read_corpus(shared("wiki2"), limit=N)
    short = [Document(d.id, d.text[:240], d.title) for d in documents]
    return [*short[:-1], Document("untitled", short[-1].text)]


@pytest.fixture(scope="session")
def vectors(wiki2, remembering):
    """What MiniLM makes of the documents, joined by TEMPLATE."""
    return remembering.encode_documents([filled(TEMPLATE, d.title, d.text) for d in wiki2])
