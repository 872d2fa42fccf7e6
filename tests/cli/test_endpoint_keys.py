"""What a person is told whose key an endpoint does not take, by the commands that ask one."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from argus.encoders import EncoderConfig
from argus.encoders import load as loading
from argus.errors import InputError
from argus.llm.config import ModelOptions


class Silent(BaseHTTPRequestHandler):
    def body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, status, content):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextmanager
def serving(Handler):
    """Serve on loopback; yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@pytest.fixture
def refusing():
    """An endpoint on loopback that wants to be paid first; its address, and what it was sent."""
    sent = []

    class Handler(Silent):
        def do_POST(self):
            sent.append(self.body())
            self.answer(402, b"nothing left to spend")

    with serving(Handler) as url:
        yield url, sent


@pytest.fixture
def embedding(monkeypatch):
    """An endpoint on loopback that embeds; its address, and what it was sent as credentials."""
    sent = []

    class Handler(Silent):
        def do_POST(self):
            sent.append(self.headers["Authorization"])
            texts = self.body()["input"]
            rows = [{"index": i, "embedding": [len(text), 1]} for i, text in enumerate(texts)]
            self.answer(200, json.dumps({"data": rows}).encode())

    monkeypatch.setattr(loading, "_named", set())
    with serving(Handler) as url:
        yield url, sent


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


def test_a_models_key_goes_with_the_name_of_its_variable(monkeypatch):
    monkeypatch.setenv("MY_KEY", "k")
    config = ModelOptions.from_options(model="m", api_key_env="MY_KEY")
    assert (config.api_key, config.api_key_env) == ("k", "MY_KEY")
    assert ModelOptions.from_options(model="m").api_key_env == "OPENAI_API_KEY"


@pytest.fixture
def asked(build, embedding, argus, monkeypatch):
    """Search an index of somebody else's that names this endpoint and a variable set here."""
    url, sent = embedding

    def ask(name, *words):
        monkeypatch.delenv(name, raising=False)
        assert build("--base-url", url, "--api-key-env", name).code == 0
        loading._named.clear()  # in the process of whoever was given the index
        sent.clear()
        monkeypatch.setenv(name, "TOPSECRET")
        return argus(*(words or ("explain", "bears", "--index", "ix")))

    return ask


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"])
@pytest.mark.parametrize(
    "words",
    [
        ("explain", "bears", "--index", "ix"),
        ("index", "add", "--index", "ix", "--corpus", "c.jsonl"),
        ("tune", "apply", "blend", "--index", "ix"),
    ],
    ids=" ".join,
)
def test_an_index_alone_has_no_key_sent_anywhere(asked, embedding, name, words):
    url, sent = embedding
    ran = asked(name, *words)
    assert (ran.code, ran.out, sent) == (2, "", [])
    assert f"export ARGUS_TRUST={name}={url}" in ran.err and "TOPSECRET" not in ran.err


def test_pairs_that_the_caller_named_are_asked(asked, embedding, argus, monkeypatch):
    url, sent = embedding
    monkeypatch.setenv("ARGUS_TRUST", f"OTHER=https://other.example/v1 MINE={url}/")
    assert asked("MINE").code == 0 and set(sent) == {"Bearer TOPSECRET"}
    loading._named.clear()
    sent.clear()
    monkeypatch.setenv("ARGUS_TRUST", f"MINE={url}x OTHER={url}")
    assert argus("explain", "lions", "--index", "ix").code == 2 and not sent
    monkeypatch.delenv("MINE")
    assert argus("explain", "lions", "--index", "ix").code == 2 and not sent
    monkeypatch.setenv("ARGUS_TRUST", f"MINE={url}")
    assert argus("explain", "lions", "--index", "ix").code == 0 and set(sent) == {None}


def test_the_usual_variable_goes_to_openai(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr(loading, "_named", set())
    loading.check_named(EncoderConfig(model="openai:m"), Path("index.json"))
    for other in ("https://api.openai.com.evil.example/v1", "http://api.openai.com/v1"):
        with pytest.raises(InputError, match="ARGUS_TRUST"):
            loading.check_named(EncoderConfig(model="openai:m", base_url=other), Path("index.json"))
