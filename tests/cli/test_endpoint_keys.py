"""What a person is told whose key an endpoint does not take, by the commands that ask one."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from argus.cli.model_options import LanguageModel


@pytest.fixture
def refusing():
    """An endpoint on loopback that wants to be paid first; its address, and what it was sent."""
    sent = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(402)
            self.end_headers()
            self.wfile.write(b"nothing left to spend")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", sent
        server.shutdown()
        thread.join()


@pytest.fixture
def build(argus, jsonl, tmp_path):
    """Build an index of three documents with an encoder behind an endpoint."""
    rows = [{"_id": str(n), "text": "bears " * n} for n in range(1, 4)]
    corpus = jsonl(tmp_path / "c.jsonl", rows)
    return lambda *given: argus(
        "index", "build", "--corpus", corpus, "--out", "ix", "--encoder", "openai:m", *given
    )


def test_a_refusal_for_all_ends_the_command_with_2_at_once(build, refusing):
    url, sent = refusing
    ran = build("--base-url", url)
    assert (ran.code, ran.out, len(sent)) == (2, "", 1)
    assert "refused with HTTP 402: nothing left to spend" in ran.err
    assert "the key (OPENAI_API_KEY) and the model name ('m')" in ran.err
    assert "run the same command again" in ran.err


def test_openai_without_a_key_ends_the_command_with_2_at_once(build, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    ran = build("--api-key-env", "MY_KEY")
    assert (ran.code, ran.out) == (2, "")
    assert "--api-key-env: MY_KEY is not set" in ran.err


def test_a_models_key_goes_with_the_name_of_its_variable(monkeypatch):
    monkeypatch.setenv("MY_KEY", "k")
    config = LanguageModel(model="m", api_key_env="MY_KEY").config()
    assert (config.api_key, config.api_key_env) == ("k", "MY_KEY")
    assert LanguageModel(model="m").config().api_key_env == "OPENAI_API_KEY"
