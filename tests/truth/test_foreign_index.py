"""An index of somebody else's: it may name an endpoint, and the caller's word counts."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from argus.encoders import load as loading
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.service.client import Client


@pytest.fixture
def endpoint():
    """Yield the address of a server that embeds, and the texts that it was sent."""
    texts = []

    class Embedder(BaseHTTPRequestHandler):
        def do_POST(self):
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            texts.extend(given)
            rows = [{"index": i, "embedding": [len(t), 1]} for i, t in enumerate(given)]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"data": rows}).encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Embedder) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", texts
        server.shutdown()
        thread.join()


@pytest.fixture
def received(argus, tmp_path, endpoint, monkeypatch):
    """An index that names a server without a key, in the process of whoever was given it."""
    url, texts = endpoint
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ARGUS_KEYS", raising=False)
    rows = [{"_id": str(n), "text": "bears " * n} for n in range(1, 4)]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    built = argus(
        *("index", "build", "--corpus", "c.jsonl", "--out", "ix"),
        *("--encoder", "openai:m", "--base-url", url),
    )
    assert built.code == 0
    monkeypatch.setattr(loading, "_named", set())
    texts.clear()
    return tmp_path / "ix"


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "bears", "--index", "ix"),
        ("explain", "bears", "1", "--index", "ix"),
        ("index", "add", "--index", "ix", "--corpus", "c.jsonl"),
    ],
    ids=" ".join,
)
def test_an_address_that_only_an_index_names_is_sent_nothing(
    argus, received, endpoint, monkeypatch, words
):
    url, texts = endpoint
    ran = argus(*words)
    assert (ran.code, ran.out, texts) == (2, "", [])
    assert url in ran.err and "ARGUS_KEYS" in ran.err
    monkeypatch.setenv("ARGUS_KEYS", f"OPENAI_API_KEY={url}")
    assert argus(*words).code == 0


@pytest.mark.parametrize("place", [".", "ix"])
def test_a_service_over_such_an_index_sends_nothing(received, endpoint, place):
    _, texts = endpoint
    app = create_app(open_workplace([received.parent / place]), ServeConfig())
    with Client(app) as client:
        answer = client.post("/search", json={"query": "bears"})
    assert answer.status_code >= 400 and "ARGUS_KEYS" in answer.text
    assert texts == []
