import asyncio
import gc
import gzip
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from argus.data.types import Span
from argus.encoders import EmbeddingStore, EncoderConfig, documents, embed, load_encoder
from argus.encoders.embed import BATCH_TEXTS
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
    """Makes encoders of the endpoint, which are closed at the end."""
    made = []

    def make(**options):
        options = {"backoff_s": 0.001, "base_url": endpoint.url} | options
        made.append(OpenAIEncoder(OpenAIConfig(model="m", **options)))
        return made[-1]

    yield make
    for one in made:
        one.close()


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
    loaded.close()
    headers, body = endpoint.requests[0]
    assert (headers["Authorization"], body["model"]) == ("Bearer secret", "my/model")
    assert fingerprint == (
        f"openai:my/model@{endpoint.url} dim=2 max_tokens=None precision=provider "
        "pooling=provider normalize=l2 query_prompt='' document_prompt=''"
    )


def test_prompts_are_put_in_front(encoder, endpoint):
    prompted = encoder(query_prompt="q: ", document_prompt="doc: ")
    prompted.encode_queries(["a"])
    prompted.encode_documents(["a"])
    vectors = prompted.encode_spans(["ab"], [Span(0, 1)])
    assert endpoint.inputs == [["q: a"], ["doc: a"], ["doc: ab"]]
    np.testing.assert_allclose(vectors, rows(7), atol=1e-6)


def test_a_span_has_the_vector_of_its_text_which_is_sent_once(encoder, endpoint):
    spans = [Span(0, 1), Span(0, 1), Span(1, 2)]
    vectors = encoder().encode_spans(["ab", "c", "ab"], spans)
    assert endpoint.inputs == [["ab", "c"]]
    np.testing.assert_allclose(vectors, rows(2, 1, 2), atol=1e-6)


def test_texts_go_in_batches_of_the_size_asked(encoder, endpoint):
    texts = ["a" * n for n in range(1, 8)]
    vectors = encoder(batch_size=3, concurrency=2).encode_documents(texts)
    assert sorted(endpoint.inputs, key=lambda batch: len(batch[0])) == [
        ["a", "aa", "aaa"],
        ["aaaa", "aaaaa", "aaaaaa"],
        ["aaaaaaa"],
    ]
    np.testing.assert_allclose(vectors, rows(*range(1, 8)), atol=1e-6)


def test_as_many_requests_as_allowed_are_under_way_at_once(encoder, endpoint):
    together = threading.Barrier(3)

    def meet(texts, n):
        together.wait(timeout=60)  # breaks, and the request with it, unless three are here

    endpoint.behave = meet
    vectors = encoder(batch_size=1, concurrency=3).encode_documents(["a", "aa", "aaa"] * 2)
    np.testing.assert_allclose(vectors, rows(1, 2, 3, 1, 2, 3), atol=1e-6)


def test_too_many_requests_is_tried_again_when_the_server_says(encoder, endpoint):
    endpoint.behave = behave({"status": 429, "headers": {"Retry-After": "0.3"}})
    start = time.monotonic()
    vectors = encoder().encode_documents(["aa"])
    assert time.monotonic() - start >= 0.3
    assert endpoint.inputs == [["aa"], ["aa"]]
    np.testing.assert_allclose(vectors, rows(2), atol=1e-6)


def test_a_dropped_connection_is_tried_again(encoder, endpoint):
    endpoint.behave = behave({"drop": True}, {"drop": True})
    np.testing.assert_allclose(encoder().encode_documents(["aa"]), rows(2), atol=1e-6)
    assert len(endpoint.requests) == 3


def test_a_lasting_trouble_is_said_with_its_last_cause(encoder, endpoint):
    endpoint.behave = lambda texts, n: {"status": 503, "content": "overloaded"}
    with pytest.raises(EncodingError, match="in 3 attempts; last: HTTP 503: overloaded") as raised:
        encoder(attempts=3).encode_documents(["aa"])
    assert raised.value.retryable
    assert len(endpoint.requests) == 3


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


def test_what_was_embedded_before_a_refusal_is_not_sent_again(encoder, endpoint, tmp_path):
    texts = [f"{n:03}" for n in range(BATCH_TEXTS + 10)]
    endpoint.behave = lambda _, n: {"status": 402} if n > 1 else None
    asking = encoder(batch_size=BATCH_TEXTS)
    with EmbeddingStore(tmp_path, fingerprint="f", dim=2) as store:
        with pytest.raises(EndpointRefusal):
            embed(documents(texts), asking, store)
        assert (len(store), len(endpoint.requests)) == (BATCH_TEXTS, 2)
        endpoint.behave = lambda _, n: None
        assert embed(documents(texts), asking, store).ok.all()
    assert endpoint.inputs[2:] == [texts[BATCH_TEXTS:]]


@pytest.mark.parametrize("status", [401, 403])
def test_a_missing_key_is_named_at_once(endpoint, monkeypatch, status):
    monkeypatch.delenv("MY_KEY", raising=False)
    endpoint.behave = lambda texts, n: {"status": status}
    config = EncoderConfig(model="openai:m", base_url=endpoint.url, api_key_env="MY_KEY")
    loaded = load_encoder(config).encoder
    with pytest.raises(EndpointRefusal, match="MY_KEY is not set"):
        loaded.encode_documents(["a"])
    loaded.close()
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


@pytest.mark.parametrize("part", ["drip", "drip_head"])
def test_a_server_that_drips_bytes_is_left_after_the_same_time(encoder, endpoint, part):
    endpoint.behave = lambda texts, n: {part: True}
    start = time.monotonic()
    with pytest.raises(EncodingError, match="2 attempts; last: no whole answer within"):
        encoder(timeout_s=0.5, attempts=2).encode_documents(["aa"])
    assert 1 <= time.monotonic() - start < 15  # a whole answer takes 20 s and more


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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"data": [{"index": 0, "embedding": []}]}', r"shape \(1, 0\)"),
        ("[" * 200_000 + "]" * 200_000, "RecursionError"),
        ('{"data": [{"index": 0, "embedding": [1' + "0" * 400 + "]}]}", "OverflowError"),
    ],
    ids=["empty", "deep", "large"],
)
def test_numbers_that_make_no_vector_are_garbage(encoder, endpoint, content, reason):
    endpoint.behave = lambda texts, n: {"content": content}
    with pytest.raises(EncodingError, match=f"is no embeddings response .*{reason}") as raised:
        encoder().encode_documents(["aa"])
    assert len(str(raised.value)) < 1000
    with pytest.raises(EncodingError, match=reason):
        _ = encoder().dim


def test_vectors_of_two_lengths_are_refused(encoder, endpoint):
    data = [{"index": 0, "embedding": [1, 2, 3]}]
    endpoint.behave = behave({"content": json.dumps({"data": data})})
    with pytest.raises(EncodingError, match=r"vectors of \[2, 3\] numbers"):
        encoder(batch_size=1, concurrency=1).encode_documents(["a", "aa"])


def embedding_threads():
    return [t for t in threading.enumerate() if t.name == "argus-embeddings"]


def test_connections_are_kept_and_end_with_the_encoder(encoder, endpoint):
    before = set(embedding_threads())
    asking = encoder()
    for _ in range(3):
        asking.encode_documents(["a"])
    assert (len(endpoint.requests), endpoint.connections) == (3, 1)
    asking.close()
    dropped = OpenAIEncoder(replace(asking.config))
    dropped.encode_documents(["a"])
    del dropped
    gc.collect()
    deadline = time.monotonic() + 60
    while (alive := {*embedding_threads()} - before) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive


def test_it_works_inside_a_running_event_loop(encoder):
    async def notebook():
        return encoder().encode_documents(["aa"])

    np.testing.assert_allclose(asyncio.run(notebook()), rows(2), atol=1e-6)
