import json
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from argus.data.types import Span
from argus.encoders import EmbeddingStore, Item, Role, documents, embed, queries
from argus.encoders.embed import BATCH_TEXTS
from argus.encoders.protocol import unit_rows
from argus.encoders.rows import usable
from argus.errors import EncodingError

DIM = 3


class Letters:
    """Counts a, b and c in a text; queries backwards, spans in the mention alone."""

    fingerprint, dim = "letters", DIM

    def __init__(self):
        self.asked = []

    def encode_documents(self, texts):
        self.asked.append(list(texts))
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
def store(tmp_path):
    with EmbeddingStore(tmp_path / "store", fingerprint="letters", dim=DIM) as opened:
        yield opened


def test_vectors_are_unit_rows_in_the_order_of_items(store):
    embedded = embed(documents(["aaaabbb", "c", "bbbb"]), Letters(), store)
    np.testing.assert_allclose(embedded.vectors, [[0.8, 0.6, 0], [0, 0, 1], [0, 1, 0]], atol=1e-6)
    assert embedded.ok.tolist() == [True, True, True]
    assert embedded.failures == {}


def test_each_role_goes_to_its_own_method(store):
    items = [*queries(["a"]), *documents(["a"]), Item("ab", Role.SPAN, Span(1, 2))]
    embedded = embed(items, Letters(), store)
    assert embedded.vectors.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


def test_two_mentions_of_one_text_are_two_items(store):
    items = [Item("ab", Role.SPAN, Span(0, 1)), Item("ab", Role.SPAN, Span(1, 2))]
    assert embed(items, Letters(), store).vectors.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_only_what_is_missing_is_encoded(store):
    encoder = Letters()
    embed(documents(["a", "b"]), encoder, store)
    encoder.asked.clear()
    embedded = embed(documents(["b", "c", "a"]), encoder, store)
    assert encoder.encoded == ["c"]
    assert embedded.vectors.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_texts_are_encoded_in_batches_from_short_to_long(store):
    encoder = Letters()
    texts = ["a" * n for n in range(1, BATCH_TEXTS + 11)]
    embed(documents(texts[::-1]), encoder, store)
    assert encoder.asked == [texts[:BATCH_TEXTS], texts[BATCH_TEXTS:]]


class Picky(Letters):
    """Rejects a batch with a "bad" text in it."""

    def encode_documents(self, texts):
        vectors = super().encode_documents(texts)
        if bad := [text for text in texts if "bad" in text]:
            raise EncodingError(f"cannot read {bad[0]!r}", retryable=False)
        return vectors


def test_a_rejected_item_is_isolated_the_others_are_embedded(store):
    texts = [f"a{i:03}" for i in range(100)]
    texts[37], texts[90] = "bad1", "bad2"
    encoder = Picky()
    embedded = embed(documents(texts), encoder, store)
    assert embedded.failures == {37: "cannot read 'bad1'", 90: "cannot read 'bad2'"}
    assert np.flatnonzero(~embedded.ok).tolist() == [37, 90]
    assert embedded.vectors.tolist() == [[1, 0, 0]] * 98
    assert len(store) == 98
    assert len(encoder.asked) < 40  # halving, not one by one


def test_a_failed_item_is_tried_again_in_the_next_run(store):
    embed(documents(["bad", "a"]), Picky(), store)
    encoder = Letters()
    embedded = embed(documents(["bad", "a"]), encoder, store)
    assert encoder.encoded == ["bad"]
    np.testing.assert_allclose(embedded.vectors, [[2**-0.5, 2**-0.5, 0], [1, 0, 0]], atol=1e-6)


def test_vectors_that_are_zero_or_not_finite_are_failures(store):
    class Broken(Letters):
        def encode_documents(self, texts):
            vectors = super().encode_documents(texts)
            vectors[["nan" in text for text in texts], 1] = np.nan
            vectors[["inf" in text for text in texts], 1] = np.inf
            return vectors

    embedded = embed(documents(["a", "nan", "xyz", "inf", "b"]), Broken(), store)
    reason = "the encoder returned a vector that is zero or not finite"
    assert embedded.failures == {1: reason, 2: reason, 3: reason}
    assert embedded.vectors.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert np.isfinite(store.vectors).all()


def test_an_encoder_without_any_vector_names_a_text_and_what_to_do(store):
    class Empty(Letters):
        def encode_documents(self, texts):
            return np.zeros((len(texts), DIM), np.float32)

    with pytest.raises(EncodingError, match=r"none of 2 .*'aa': .* zero or .* Check the model"):
        embed(documents(["aa", "bbb"]), Empty(), store)


def test_rows_beyond_float32_are_scaled_without_a_warning():
    rows = np.array([[3e38, 3e38], [np.inf, 1], [0, 0], [np.nan, 1]], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unit = unit_rows(rows)
    assert usable(unit).tolist() == [True, False, False, False]


def test_an_encoder_in_trouble_raises_and_what_was_stored_stays(store):
    class Tiring(Letters):
        def encode_documents(self, texts):
            if len(self.asked) == 2:
                raise EncodingError("the endpoint is gone")
            return super().encode_documents(texts)

    texts = [f"a{i:04}" for i in range(3 * BATCH_TEXTS)]
    with pytest.raises(EncodingError, match="the endpoint is gone"):
        embed(documents(texts), Tiring(), store)
    assert len(store) == 2 * BATCH_TEXTS
    encoder = Letters()
    assert embed(documents(texts), encoder, store).ok.all()
    assert sorted(encoder.encoded) == texts[2 * BATCH_TEXTS :]


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


def test_all_spans_of_one_text_are_encoded_in_one_call(tmp_path):
    texts = ["abc" + "a" * n for n in range(BATCH_TEXTS + 1)]
    items = [Item(text, Role.SPAN, Span(i, i + 1)) for text in texts for i in range(3)]
    calls = []

    class Counted(Letters):
        def encode_spans(self, texts, spans):
            calls.append(set(texts))
            return super().encode_spans(texts, spans)

    with EmbeddingStore(tmp_path, fingerprint="letters", dim=DIM) as store:
        embedded = embed(items, Counted(), store)
    assert embedded.ok.all() and len(embedded.vectors) == len(items)
    assert calls == [set(texts[:-1]), {texts[-1]}]


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_rows_that_a_disk_lost_are_embedded_again_and_told(tmp_path, caplog, value):
    path, texts = tmp_path / "store", ["a", "ab", "abb", "abbb"]
    with EmbeddingStore(path, fingerprint="letters", dim=DIM) as store:
        before = embed(documents(texts), Letters(), store).vectors
    with (path / "vectors.f32").open("r+b") as file:
        file.seek(4 * DIM)
        file.write(np.full(DIM + 1, value, np.float32).tobytes())  # rows 1 and 2
    encoder = Letters()
    with EmbeddingStore(path, fingerprint="letters", dim=DIM) as store:
        after = embed(documents(texts), encoder, store)
    assert after.ok.all() and sorted(encoder.encoded) == ["ab", "abb"]
    np.testing.assert_array_equal(after.vectors, before)
    (said,) = caplog.messages
    assert f"{path}: 2 of the stored vectors are damaged" in said and "embedded again" in said
    with EmbeddingStore(path, fingerprint="letters", dim=DIM) as store:
        embed(documents(texts), encoder, store)
    assert len(encoder.asked) == 1 and len(caplog.messages) == 1
