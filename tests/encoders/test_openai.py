"""An endpoint of embeddings: what is sent and tried again, and what is shown of errors."""

import gzip
import json
import time

import numpy as np
import pytest

from argus.encoders import EmbeddingStore, EncoderConfig, documents, embed, load_encoder
from argus.encoders.openai import OpenAIConfig, OpenAIEncoder
from argus.errors import EncodingError, EndpointRefusal, InputError
from tests.retrievers.conftest import server  # noqa: F401


def embeddings(texts):
    """The right answer, last text first: the order is in the index. A vector is 5 times (n, 1)."""
    data = [{"index": i, "embedding": [5 * len(t), 5]} for i, t in enumerate(texts)]
    return {"object": "list", "data": data[::-1]}


@pytest.fixture
def endpoint(server):  # noqa: F811
    """An embeddings server: the vector of a text is (its length, 1), times 5."""
    server.reply = lambda path, parameters, body, headers: (200, embeddings(body["input"]))
    server.url = f"{server.address}/v1"
    return server


@pytest.fixture
def encoder(endpoint):
    """Makes encoders of the endpoint."""

    def make(**options):
        options = {"backoff_s": 0.001, "base_url": endpoint.url} | options
        return OpenAIEncoder(OpenAIConfig(model="m", **options))

    return make


def rows(*lengths):
    """Unit rows of texts of these lengths."""
    return [[n / (n * n + 1) ** 0.5, 1 / (n * n + 1) ** 0.5] for n in lengths]


def test_vectors_are_unit_rows_in_order_and_the_key_is_sent_and_no_part_of_the_fingerprint(
    endpoint, monkeypatch
):
    monkeypatch.setenv("MY_KEY", "secret")
    config = EncoderConfig(model="openai:my/m", base_url=endpoint.url, api_key_env="MY_KEY")
    loaded = load_encoder(config)
    vectors = loaded.encode_documents(["aaa", "a", "aa"])
    np.testing.assert_allclose(vectors, rows(3, 1, 2), atol=1e-6)
    assert vectors.dtype == np.float32
    path, _, body, headers = endpoint.requests[-1]
    assert (path, headers["authorization"]) == ("/v1/embeddings", "Bearer secret")
    assert body == {"model": "my/m", "input": ["aaa", "a", "aa"], "encoding_format": "float"}
    assert loaded.fingerprint == (
        f"openai:my/m@{endpoint.url} dim=2 max_tokens=None precision=provider "
        "pooling=provider normalize=l2 query_prompt='' document_prompt=''"
    )


def test_too_many_requests_is_tried_again_when_the_server_says(encoder, endpoint):
    answers = [(429, {}, {"Retry-After": "0.3"}), (200, embeddings(["aa"]))]
    endpoint.reply = lambda *_: answers.pop(0)
    start = time.monotonic()
    vectors = encoder().encode_documents(["aa"])
    assert time.monotonic() - start >= 0.3 and not answers
    np.testing.assert_allclose(vectors, rows(2), atol=1e-6)


@pytest.mark.parametrize(
    "content",
    [
        "<html>hello</html>",
        '{"data": null}',
        '{"data": [{"index": 0}]}',
        '{"data": [{"index": 0, "embedding": "AAAA"}]}',
        '{"data": [{"index": 0, "embedding": [1, [2]]}]}',
    ],
)
def test_garbage_is_shown_beside_what_was_expected(encoder, endpoint, content):
    endpoint.reply = lambda *_: (200, content.encode())
    with pytest.raises(EncodingError, match="gave an answer that is no embeddings") as raised:
        encoder().encode_documents(["aa"])
    assert repr(content) in str(raised.value)
    assert "{'data': [{'index', 'embedding'}, ...]}" in str(raised.value)


def test_a_text_that_is_too_long_fails_alone(encoder, endpoint, tmp_path):
    def reject(path, parameters, body, headers):
        if any(len(text) > 10 for text in body["input"]):
            return 400, b"maximum context length is 10"
        return 200, embeddings(body["input"])

    endpoint.reply = reject
    with EmbeddingStore(tmp_path, fingerprint="f", dim=2) as store:
        texts = ["a", "a" * 11, "aa", "aaa"]
        embedded = embed(documents(texts), encoder(batch_size=4), store)
    assert list(embedded.failures) == [1]
    assert "HTTP 400: maximum context length is 10" in embedded.failures[1]
    np.testing.assert_allclose(embedded.vectors, rows(1, 2, 3), atol=1e-6)


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405, 301, 307])
def test_a_refusal_for_all_stops_at_once_and_fails_no_text(encoder, endpoint, tmp_path, status):
    endpoint.reply = lambda *_: (status, b"no such key")
    with EmbeddingStore(tmp_path, fingerprint="f", dim=2) as store:
        with pytest.raises(EndpointRefusal, match=f"HTTP {status}: no such key") as raised:
            embed(documents(["a", "aa", "aaa"]), encoder(batch_size=3), store)
        assert len(store) == 0
    assert not raised.value.retryable
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("host", ["api.openai.com", "eu.api.openai.com"])
def test_openai_without_a_key_is_refused_before_anything_is_sent(host, monkeypatch):
    monkeypatch.setenv("MY_KEY", "")
    config = EncoderConfig(model="openai:m", base_url=f"https://{host}/v1", api_key_env="MY_KEY")
    with pytest.raises(InputError, match="MY_KEY is not set") as raised:
        load_encoder(config)
    assert raised.value.where == "--api-key-env"
    monkeypatch.setenv("MY_KEY", "k")
    load_encoder(config)


KEY = "sk-0123456789abcdef0123"


@pytest.mark.parametrize(
    "said", ["a" * 290 + KEY, "hunter2", "http://me:hunter2@h/v1", "Basic bWU6aHVudGVyMg=="]
)
def test_a_key_or_password_that_the_server_repeats_is_hidden(endpoint, said):
    own = {"base_url": endpoint.url.replace("//", "//me:hunter2@")}
    if KEY in said:
        own = {"base_url": endpoint.url, "api_key": KEY}
    config = OpenAIConfig(model="m", **own)
    endpoint.reply = lambda *_: (401, f"no: {said}".encode())
    with pytest.raises(EndpointRefusal) as raised:
        OpenAIEncoder(config).encode_documents(["a"])
    for shown in (str(raised.value), repr(config)):
        assert not any(secret in shown for secret in ("hunter2", "bWU6", KEY[:10]))


def test_an_answer_beyond_all_reason_is_not_read_to_its_end(encoder, endpoint):
    def padded(path, parameters, body, headers):
        content = " " * (18 * 2**20) + json.dumps(embeddings(body["input"]))
        return 200, gzip.compress(content.encode()), {"Content-Encoding": "gzip"}

    endpoint.reply = padded
    with pytest.raises(EncodingError, match="longer than 16777216 bytes") as raised:
        encoder(batch_size=100).encode_documents(["a"] * 64)
    assert raised.value.retryable, "no text is at fault"
    assert len(endpoint.requests) == 1
    encoder(batch_size=100).encode_documents(["a"] * 65)
