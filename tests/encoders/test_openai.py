import gzip
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from argus.encoders import EmbeddingStore, EncoderConfig, documents, embed, load_encoder
from argus.encoders.openai import OpenAIConfig, OpenAIEncoder
from argus.errors import EncodingError, EndpointRefusal, InputError


class Endpoint:
    """An embeddings server on loopback: the vector of a text is (its length, 1), times 5."""

    def __init__(self):
        self.requests = []
        self.connections = 0
        self.behave = lambda texts, n: None
        """Called with the texts and the number of the request; None answers as it should.

        Else it says what is different: `status`, `headers`, the whole `content`; `drop`, `drip`
        (the body a byte at a time), `drip_head` (the status line, too).
        """
        self.released = threading.Event()

    @property
    def inputs(self):
        return [body["input"] for _, body in self.requests]


def embeddings(texts):
    """The right answer, last text first: the order is in the index."""
    data = [{"index": i, "embedding": [5 * len(t), 5]} for i, t in enumerate(texts)]
    return {"object": "list", "data": data[::-1]}


class Server(ThreadingHTTPServer):
    daemon_threads = True  # a kept connection may outlive a test

    def handle_error(self, request, client_address):
        pass  # clients that went away are what some tests are about


@contextmanager
def serving(endpoint):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            super().setup()
            endpoint.connections += 1

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.requests.append((dict(self.headers) | {"path": self.path}, body))
            answer = endpoint.behave(body["input"], len(endpoint.requests)) or {}
            if answer.get("drop"):
                self.close_connection = True
                return
            content = answer.get("content", json.dumps(embeddings(body["input"])))
            data = content if isinstance(content, bytes) else content.encode()
            if answer.get("drip_head"):
                self.drip(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            self.send_response(answer.get("status", 200))
            for name, value in answer.get("headers", {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if answer.get("drip"):
                self.drip(data)
            else:
                self.wfile.write(data)

        def drip(self, data):
            for i in range(len(data)):
                self.wfile.write(data[i : i + 1])
                if endpoint.released.wait(0.3):
                    return

        def log_message(self, *_):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        endpoint.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def endpoint():
    endpoint = Endpoint()
    with serving(endpoint) as endpoint.url:
        yield endpoint


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


def behave(*answers):
    """Answer the first requests so, and the others as they should be."""
    return lambda texts, n: answers[n - 1] if n <= len(answers) else None


def test_vectors_are_unit_rows_in_the_order_of_the_texts(encoder):
    vectors = encoder().encode_documents(["aaa", "a", "aa"])
    np.testing.assert_allclose(vectors, rows(3, 1, 2), atol=1e-6)
    assert vectors.dtype == np.float32


def test_the_request_names_the_model_and_carries_the_key(encoder, endpoint):
    encoder(api_key="secret").encode_documents(["a"])
    headers, body = endpoint.requests[0]
    assert headers["path"] == "/v1/embeddings"
    assert headers["Authorization"] == "Bearer secret"
    assert body == {"model": "m", "input": ["a"], "encoding_format": "float"}


def test_the_key_is_no_part_of_the_fingerprint(endpoint, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret")
    loaded = load_encoder(
        EncoderConfig(model="openai:my/model", base_url=endpoint.url, api_key_env="MY_KEY")
    ).encoder
    fingerprint = loaded.fingerprint
    headers, body = endpoint.requests[0]
    assert (headers["Authorization"], body["model"]) == ("Bearer secret", "my/model")
    assert fingerprint == (
        f"openai:my/model@{endpoint.url} dim=2 max_tokens=None precision=provider "
        "pooling=provider normalize=l2 query_prompt='' document_prompt=''"
    )


def test_too_many_requests_is_tried_again_when_the_server_says(encoder, endpoint):
    endpoint.behave = behave({"status": 429, "headers": {"Retry-After": "0.3"}})
    start = time.monotonic()
    vectors = encoder().encode_documents(["aa"])
    assert time.monotonic() - start >= 0.3
    assert endpoint.inputs == [["aa"], ["aa"]]
    np.testing.assert_allclose(vectors, rows(2), atol=1e-6)


@pytest.mark.parametrize(
    "content",
    [
        "<html>hello</html>",
        "[]",
        '{"data": null}',
        '{"data": [{"index": 0}]}',
        '{"data": [{"index": 0, "embedding": "AAAA"}]}',
        '{"data": [{"index": 0, "embedding": [1, [2]]}]}',
    ],
)
def test_garbage_is_shown_beside_what_was_expected(encoder, endpoint, content):
    endpoint.behave = lambda texts, n: {"content": content}
    with pytest.raises(EncodingError, match="gave an answer that is no embeddings") as raised:
        encoder().encode_documents(["aa"])
    assert repr(content) in str(raised.value)
    assert "{'data': [{'index', 'embedding'}, ...]}" in str(raised.value)


def test_a_text_that_is_too_long_fails_alone(encoder, endpoint, tmp_path):
    def reject(texts, n):
        if any(len(text) > 10 for text in texts):
            return {"status": 400, "content": "maximum context length is 10"}
        return None

    endpoint.behave = reject
    with EmbeddingStore(tmp_path, fingerprint="f", dim=2) as store:
        texts = ["a", "a" * 11, "aa", "aaa"]
        embedded = embed(documents(texts), encoder(batch_size=4), store)
    assert list(embedded.failures) == [1]
    assert "HTTP 400: maximum context length is 10" in embedded.failures[1]
    np.testing.assert_allclose(embedded.vectors, rows(1, 2, 3), atol=1e-6)


FOR_ALL = [401, 402, 403, 404, 405, 301, 307]


@pytest.mark.parametrize("status", FOR_ALL)
def test_a_refusal_for_all_stops_at_once_and_fails_no_text(encoder, endpoint, tmp_path, status):
    endpoint.behave = lambda texts, n: {"status": status, "content": "no such key"}
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


def test_a_key_that_the_server_repeats_is_hidden(encoder, endpoint):
    key = "sk-0123456789abcdef0123"
    config = OpenAIConfig(model="m", base_url="http://me:hunter2@h/v1")
    assert "hunter2" not in repr(config)
    assert key not in repr(OpenAIConfig(model="m", base_url="http://h/v1", api_key=key))
    endpoint.behave = lambda texts, n: {"status": 401, "content": "a" * 290 + key}
    with pytest.raises(EndpointRefusal) as raised:
        encoder(api_key=key).encode_documents(["a"])
    assert key[:10] not in str(raised.value)


@pytest.mark.parametrize("shape", ["hunter2", "http://me:hunter2@h/v1", "Basic bWU6aHVudGVyMg=="])
def test_a_password_that_the_server_repeats_is_hidden(endpoint, shape):
    address = endpoint.url.replace("//", "//me:hunter2@")
    endpoint.behave = lambda texts, n: {"status": 401, "content": f"no: {shape}"}
    with pytest.raises(EndpointRefusal) as raised:
        OpenAIEncoder(OpenAIConfig(model="m", base_url=address)).encode_documents(["a"])
    assert "hunter2" not in str(raised.value) and "bWU6" not in str(raised.value)


def padded(texts, size):
    """The right answer with so many spaces before it, compressed."""
    body = " " * size + json.dumps(embeddings(texts))
    return {"content": gzip.compress(body.encode()), "headers": {"Content-Encoding": "gzip"}}


def test_an_answer_beyond_all_reason_is_not_read_to_its_end(encoder, endpoint):
    endpoint.behave = lambda texts, n: padded(texts, 18 * 2**20)
    with pytest.raises(EncodingError, match="longer than 16777216 bytes") as raised:
        encoder(batch_size=100).encode_documents(["a"] * 64)
    assert raised.value.retryable, "no text is at fault"
    assert len(endpoint.requests) == 1
    encoder(batch_size=100).encode_documents(["a"] * 65)
