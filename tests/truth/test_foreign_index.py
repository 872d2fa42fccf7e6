"""An index of somebody else's: it may name an endpoint, and the caller's word counts."""

import pytest

from argus.encoders import load as loading
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.cli.conftest import jsonl as jsonl
from tests.cli.test_endpoint_keys import build as build
from tests.cli.test_endpoint_keys import embedding as embedding
from tests.service.client import Client


@pytest.fixture
def received(build, tmp_path, embedding, monkeypatch):
    """An index that names a server without a key, in the process of whoever was given it."""
    url, sent = embedding
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ARGUS_TRUST", raising=False)
    assert build("--base-url", url).code == 0
    loading._named.clear()
    sent.clear()
    return tmp_path / "ix"


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "bears", "1", "--index", "ix"),
        ("index", "add", "--index", "ix", "--corpus", "c.jsonl"),
    ],
    ids=" ".join,
)
def test_an_address_that_only_an_index_names_is_sent_nothing(
    argus, received, embedding, monkeypatch, words
):
    url, sent = embedding
    ran = argus(*words)
    assert (ran.code, ran.out, sent) == (2, "", [])
    assert url in ran.err and "ARGUS_TRUST" in ran.err
    monkeypatch.setenv("ARGUS_TRUST", f"OPENAI_API_KEY={url}")
    assert argus(*words).code == 0


@pytest.mark.parametrize("place", [".", "ix"])
def test_a_service_over_such_an_index_sends_nothing(received, embedding, place):
    _, sent = embedding
    app = create_app(open_workplace([received.parent / place]), ServeConfig())
    with Client(app) as client:
        answer = client.post("/search", json={"query": "bears"})
    assert answer.status_code >= 400 and "ARGUS_TRUST" in answer.text
    assert sent == []
