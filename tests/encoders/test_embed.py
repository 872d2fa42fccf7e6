"""Texts embedded once each: batches that fail, a run that is killed, workers of an engine."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from argus.data.types import Span
from argus.encoders import EmbeddingStore, Item, Role, documents, embed, queries
from argus.encoders.embed import BATCH_TEXTS, begin_encoding, on_engine
from argus.errors import ArgusError, EncodingError
from tests.support.in_process_engine import InProcessEngine, Lost

DIM = 3


class Letters:
    """Counts a, b and c in a text; queries backwards, spans in the mention alone.

    Rejects a batch with an x in it.
    """

    fingerprint, dim, pools_spans = "letters", DIM, True

    def __init__(self):
        self.asked = []

    def encode_documents(self, texts):
        self.asked.append(list(texts))
        if bad := [text for text in texts if "x" in text]:
            raise EncodingError(f"cannot read {bad[0]!r}", retryable=False)
        return np.array([[text.count(c) for c in "abc"] for text in texts], np.float32)

    def encode_queries(self, texts):
        return self.encode_documents(texts)[:, ::-1]

    def encode_spans(self, texts, spans):
        return self.encode_documents(
            [text[span.start : span.end] for text, span in zip(texts, spans, strict=True)]
        )

    @property
    def encoded(self):
        return [text for batch in self.asked for text in batch]


@pytest.fixture
def opened(tmp_path):
    return lambda name: EmbeddingStore(tmp_path / name, fingerprint="letters", dim=DIM)


@pytest.fixture
def store(opened):
    with opened("store") as store:
        yield store


def test_vectors_are_unit_rows_in_the_order_of_items_and_only_what_is_missing_is_encoded(store):
    encoder = Letters()
    embedded = embed(documents(["aaaabbb", "c", "bbbb"]), encoder, store)
    np.testing.assert_allclose(embedded.vectors, [[0.8, 0.6, 0], [0, 0, 1], [0, 1, 0]], atol=1e-6)
    assert embedded.ok.tolist() == [True, True, True] and embedded.failures == {}
    encoder.asked.clear()
    embedded = embed(documents(["bbbb", "a", "c"]), encoder, store)
    assert encoder.encoded == ["a"]
    assert embedded.vectors.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_a_rejected_item_is_isolated_the_others_are_embedded(store):
    texts = [f"a{i:03}" for i in range(100)]
    texts[37], texts[90] = "x1", "x2"
    encoder = Letters()
    embedded = embed(documents(texts), encoder, store)
    assert embedded.failures == {37: "cannot read 'x1'", 90: "cannot read 'x2'"}
    assert np.flatnonzero(~embedded.ok).tolist() == [37, 90]
    assert embedded.vectors.tolist() == [[1, 0, 0]] * 98
    assert len(store) == 98
    assert len(encoder.asked) < 40  # halving, not one by one


def test_vectors_that_are_zero_or_not_finite_are_failures(store):
    class Broken(Letters):
        def encode_documents(self, texts):
            vectors = super().encode_documents(texts)
            vectors[["nan" in text for text in texts], 1] = np.nan
            vectors[["inf" in text for text in texts], 1] = np.inf
            return vectors

    embedded = embed(documents(["a", "nan", "yz", "inf", "b"]), Broken(), store)
    reason = "the encoder returned a vector that is zero or not finite"
    assert embedded.failures == {1: reason, 2: reason, 3: reason}
    assert embedded.vectors.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert np.isfinite(store.vectors).all()


CHILD = """
import sys, time
from pathlib import Path
import numpy as np
from argus.encoders import EmbeddingStore, documents, embed

class Slow:
    fingerprint, dim = "letters", 3

    def encode_documents(self, texts):
        time.sleep(0.2 if texts[0] < "0768" else 600)  # the fourth batch never comes
        with open(sys.argv[2], "a") as log:
            print(len(texts), file=log)
        return np.array([[int(text), 1, 2] for text in texts], np.float32)

with EmbeddingStore(Path(sys.argv[1]), fingerprint="letters", dim=3) as store:
    embed(documents([f"{i:04}" for i in range(1000)]), Slow(), store)
"""


def test_a_killed_run_loses_at_most_one_batch(tmp_path):
    path, log = tmp_path / "store", tmp_path / "log"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path), str(log)])
    keys, enough = path / "keys.bin", 2 * BATCH_TEXTS * 16
    deadline = time.monotonic() + 120
    while not (keys.exists() and keys.stat().st_size >= enough):
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    child.kill()
    assert child.wait() == -signal.SIGKILL

    class Numbers(Letters):
        def encode_documents(self, texts):
            self.asked.append(list(texts))
            return np.array([[int(text), 1, 2] for text in texts], np.float32)

    texts = [f"{i:04}" for i in range(1000)]
    with EmbeddingStore(path, fingerprint="letters", dim=3) as store:
        n_stored = len(store)
        assert n_stored in (2 * BATCH_TEXTS, 3 * BATCH_TEXTS)
        assert sum(map(int, log.read_text().split())) - n_stored in (0, BATCH_TEXTS)
        encoder = Numbers()
        embedded = embed(documents(texts), encoder, store)
        assert encoder.encoded == texts[n_stored:]
    expected = np.array([[i, 1, 2] for i in range(1000)], float)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(embedded.vectors, expected, atol=1e-6)
    assert json.loads((path / "store.json").read_text()) == {"fingerprint": "letters", "dim": 3}


TEXTS = ["a" * (1 + i % 40) + "b" * (i // 40) + "c" * (i % 3) for i in range(400)]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(sys.modules["argus.encoders.embed"], "BATCH_TEXTS", 32)


def test_vectors_do_not_depend_on_the_order_of_batches(opened, small_batches):
    items = [
        *documents(TEXTS),
        *queries(TEXTS),
        *[Item(text, Role.SPAN, Span(0, 1 + len(text) // 2)) for text in TEXTS],
    ]
    with opened("here") as here, opened("there") as there:
        engine, expected = InProcessEngine(ahead=4), embed(items, Letters(), here)
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
