import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from argus.data.types import Span
from argus.encoders import EmbeddingStore, EncoderConfig, documents, embed, load_encoder
from argus.encoders.openai import OpenAIConfig, OpenAIEncoder
from argus.errors import EncodingError, InputError


class Endpoint:
    """An embeddings server on loopback: the vector of a text is (its length, 1), times 5."""

    def __init__(self):
        self.requests = []
        self.behave = lambda texts, n: None
        """Called with the texts and the number of the request; None answers as it should."""
        self.released = threading.Event()

    @property
    def inputs(self):
        return [body["input"] for _, body in self.requests]


def embeddings(texts):
    """The right answer, last text first: the order is in the index."""
    data = [{"index": i, "embedding": [5 * len(t), 5]} for i, t in enumerate(texts)]
    return {"object": "list", "data": data[::-1]}


@contextmanager
def serving(endpoint):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.requests.append((dict(self.headers) | {"path": self.path}, body))
            answer = endpoint.behave(body["input"], len(endpoint.requests)) or {}
            if answer.get("drop"):
                self.close_connection = True
                return
            content = answer.get("content", json.dumps(embeddings(body["input"])))
            self.send_response(answer.get("status", 200))
            for name, value in answer.get("headers", {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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
        one._client.close()


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


def test_without_a_key_no_authorization_is_sent(encoder, endpoint):
    encoder(base_url=endpoint.url + "/").encode_documents(["a"])
    assert "Authorization" not in endpoint.requests[0][0]


def test_the_key_is_read_from_the_environment_and_kept_out_of_the_fingerprint(
    endpoint, monkeypatch
):
    monkeypatch.setenv("MY_KEY", "secret")
    loaded = load_encoder(
        EncoderConfig(model="openai:my/model", base_url=endpoint.url, api_key_env="MY_KEY")
    ).encoder
    fingerprint = loaded.fingerprint
    loaded._client.close()
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
        together.wait(timeout=10)  # breaks, and the request with it, unless three are here

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


@pytest.mark.parametrize("wait", ["-1", "nan", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"])
def test_a_wait_that_is_no_number_of_seconds_is_passed_over(encoder, endpoint, wait):
    endpoint.behave = behave({"status": 429, "headers": {"Retry-After": wait}})
    np.testing.assert_allclose(encoder().encode_documents(["aa"]), rows(2), atol=1e-6)


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504])
def test_a_passing_trouble_of_the_server_is_tried_again(encoder, endpoint, status):
    endpoint.behave = behave({"status": status, "content": "oops"})
    np.testing.assert_allclose(encoder().encode_documents(["aa"]), rows(2), atol=1e-6)
    assert len(endpoint.requests) == 2


def test_waits_double(encoder, endpoint):
    endpoint.behave = behave({"status": 500}, {"status": 500}, {"status": 500})
    start = time.monotonic()
    encoder(backoff_s=0.05).encode_documents(["aa"])
    assert time.monotonic() - start >= 0.05 + 0.1 + 0.2


def test_a_dropped_connection_is_tried_again(encoder, endpoint):
    endpoint.behave = behave({"drop": True}, {"drop": True})
    np.testing.assert_allclose(encoder().encode_documents(["aa"]), rows(2), atol=1e-6)
    assert len(endpoint.requests) == 3


def test_a_trouble_that_does_not_pass_is_said_with_its_last_cause(encoder, endpoint):
    endpoint.behave = lambda texts, n: {"status": 503, "content": "overloaded"}
    with pytest.raises(EncodingError, match="in 3 attempts; last: HTTP 503: overloaded") as raised:
        encoder(attempts=3).encode_documents(["aa"])
    assert raised.value.retryable
    assert len(endpoint.requests) == 3


def test_a_server_that_stalls_is_left_after_the_time_out(encoder, endpoint):
    endpoint.behave = lambda texts, n: endpoint.released.wait(20) and None
    start = time.monotonic()
    with pytest.raises(EncodingError, match="in 2 attempts; last: ReadTimeout") as raised:
        encoder(timeout_s=0.2, attempts=2).encode_documents(["aa"])
    assert 0.4 <= time.monotonic() - start < 10
    assert raised.value.retryable


def test_a_port_where_nobody_listens_is_an_encoding_error(encoder):
    with serving(Endpoint()) as url:
        pass  # free again now
    with pytest.raises(EncodingError, match="in 2 attempts; last: ConnectError") as raised:
        encoder(base_url=url, attempts=2).encode_documents(["aa"])
    assert raised.value.retryable


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


@pytest.mark.parametrize("n", [1, 3])
def test_another_number_of_vectors_is_refused(encoder, endpoint, n):
    endpoint.behave = lambda texts, _: {"content": json.dumps(embeddings(["a"] * n))}
    with pytest.raises(EncodingError, match=r"indices \[0.* for 2 texts"):
        encoder().encode_documents(["a", "aa"])


def test_an_index_that_comes_twice_is_refused(encoder, endpoint):
    data = [{"index": 1, "embedding": [1, 2]}, {"index": 1, "embedding": [3, 4]}]
    endpoint.behave = lambda texts, n: {"content": json.dumps({"data": data})}
    with pytest.raises(EncodingError, match="gave an answer that is no embeddings"):
        encoder().encode_documents(["a", "aa"])


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


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_stops_at_once_and_fails_no_text(encoder, endpoint, tmp_path, status):
    endpoint.behave = lambda texts, n: {"status": status, "content": "no such key"}
    with EmbeddingStore(tmp_path, fingerprint="f", dim=2) as store:
        with pytest.raises(EncodingError, match=f"HTTP {status}: no such key") as raised:
            embed(documents(["a", "aa"]), encoder(), store)
        assert len(store) == 0
    assert raised.value.retryable
    assert len(endpoint.requests) == 1


def test_an_address_without_http_and_a_key_beyond_ascii_are_refused_at_once():
    with pytest.raises(InputError, match="--base-url: 'nonsense'"):
        OpenAIConfig(model="m", base_url="nonsense")
    with pytest.raises(InputError, match="--api-key-env"):
        OpenAIConfig(model="m", api_key="sé")
