"""No password or key of a store is shown: not in its name, not in what its client says."""

from base64 import b64encode

import pytest

from argus.errors import ArgusError
from argus.stores.spec import StoreConfig, open_store, parse_store, reported, secrets, shown
from tests.retrievers.conftest import server  # noqa: F401


@pytest.mark.parametrize(
    "place",
    [
        "http://user:topsecret@127.0.0.1:6333",
        "http://user:top@topsecret@127.0.0.1:6333",
        "http://user:a/topsecret#?@127.0.0.1:6333",
        "postgresql://h/db?user=u&password=topsecret",
        "postgresql://h/db?sslpassword=topsecret&user=u",
        "host=h password='topsecret' dbname=db",
        "http://h:6333?api_key=topsecret",
        "http://h:6333?token=topsecret",
    ],
)
def test_an_address_is_shown_without_secrets(place):
    assert "topsecret" not in shown(place) and "topsecret" in secrets(place)[0]
    assert "topsecret" not in str(parse_store(f"qdrant:{place}/docs"))


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
@pytest.mark.parametrize("kind", ["qdrant", "chroma", "milvus"])
def test_a_server_that_is_down_tells_no_secret(kind, monkeypatch):
    monkeypatch.setenv("KEY", "topkey")
    spec = f"{kind}:http://user:topsecret@127.0.0.1:9/docs"
    with pytest.raises(ArgusError) as error, open_store(spec, StoreConfig(key_env="KEY")):
        pass
    assert "topsecret" not in str(error.value) and "topkey" not in str(error.value)


@pytest.mark.parametrize(
    "place",
    [
        "postgresql://127.0.0.1:9/db?password=topsecret&connect_timeout=1",
        "postgresql//user:topsecret@127.0.0.1:9/db",
        "postgresql://user:topsecret@127.0.0.1:port/db",
    ],
)
def test_what_postgres_says_tells_no_secret(place):
    with pytest.raises(ArgusError) as error, open_store(f"pgvector:{place}/docs"):
        pass
    assert "topsecret" not in str(error.value)


def test_secrets_are_scrubbed_before_a_line_is_cut():
    hidden = secrets("http://user:a%2Fb@h", "topkey")
    with pytest.raises(ArgusError) as error, reported("store", hidden):
        raise ValueError("x" * 197 + "topkey a/b a%2Fb")
    assert "top" not in str(error.value)
    with pytest.raises(ArgusError, match=r"\*\*\* \*\*\*\. Check"), reported("store", hidden):
        raise ValueError("a/b a%2Fb")


def test_user_and_password_of_chroma_are_sent_and_not_shown(server):  # noqa: F811
    server.reply = lambda *_: (401, {}, {"connection": "close"})
    spec = f"chroma:{server.address.replace('//', '//ada:se%40cret@')}/docs"
    with pytest.raises(ArgusError) as refused, open_store(spec):
        pass
    sent = {headers["authorization"] for *_, headers in server.requests}
    assert sent == {f"Basic {b64encode(b'ada:se@cret').decode()}"}
    assert "cret" not in str(refused.value)
