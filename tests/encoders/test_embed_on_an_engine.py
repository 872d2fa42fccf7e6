"""Batches embedded by the workers of an engine; here the worker is this process."""

from importlib import import_module

import numpy as np
import pytest

from argus.data.types import Span
from argus.encoders import (
    EmbeddingStore,
    Item,
    Role,
    documents,
    embed,
    queries,
)
from argus.encoders.embed import begin_encoding, on_engine
from argus.errors import ArgusError, EncodingError
from tests.support.in_process_engine import InProcessEngine, Lost

DIM = 3


class Letters:
    """Counts a, b and c in a text; rejects any batch with an x in it."""

    fingerprint, dim, pools_spans = "letters", DIM, True

    def encode_documents(self, texts):
        if any("x" in text for text in texts):
            raise EncodingError("no x, please", retryable=False)
        return np.array([[text.count(c) for c in "abc"] for text in texts], np.float32)

    def encode_queries(self, texts):
        return self.encode_documents(texts)[:, ::-1]

    def encode_spans(self, texts, spans):
        return self.encode_documents(
            [text[span.start : span.end] for text, span in zip(texts, spans, strict=True)]
        )


TEXTS = ["a" * (1 + i % 40) + "b" * (i // 40) + "c" * (i % 3) for i in range(400)]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(import_module("argus.encoders.embed"), "BATCH_TEXTS", 32)


@pytest.fixture
def opened(tmp_path):
    def store(name, dim=DIM, fingerprint="letters"):
        return EmbeddingStore(tmp_path / name, fingerprint=fingerprint, dim=dim)

    return store


def test_vectors_do_not_depend_on_the_order_of_batches(opened, small_batches):
    items = [
        *documents(TEXTS),
        *queries(TEXTS),
        *[Item(text, Role.SPAN, Span(0, 1 + len(text) // 2)) for text in TEXTS],
    ]
    with opened("here") as here, opened("there") as there:
        engine = InProcessEngine(ahead=4)
        expected = embed(items, Letters(), here)
        embedded = embed(items, on_engine(Letters(), engine), there)
        assert engine.setups == ["embedding"] and engine.blocks > 20
        assert not np.array_equal(here.vectors, there.vectors)  # stored in another order
    np.testing.assert_array_equal(embedded.vectors, expected.vectors)
    assert embedded.ok.all() and not embedded.failures


def test_an_engine_that_is_lost_costs_what_was_under_way(opened, small_batches):
    items = documents(list(dict.fromkeys(TEXTS)))
    engine = InProcessEngine()
    engine.fail_at = 5
    with opened("there") as there, pytest.raises(Lost):
        embed(items, on_engine(Letters(), engine), there)
    with opened("there") as there:
        assert len(there) == 5 * 32
        again = InProcessEngine()
        embedded = embed(items, on_engine(Letters(), again), there)
        assert again.blocks == -(-(len(items) - 5 * 32) // 32)
    with opened("here") as here:
        np.testing.assert_array_equal(embedded.vectors, embed(items, Letters(), here).vectors)


def test_a_worker_with_another_encoder_is_refused():
    with pytest.raises(ArgusError, match=r"two encoders are never mixed[\s\S]+worker: letters"):
        begin_encoding((Letters(), "letters of another size"))
