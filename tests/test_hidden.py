import json

import pytest

from argus.data import ArtifactFolder
from argus.hidden import LEAST_IN_FILES, remember, scrub, secrets_of, without_known, without_likely


def test_user_and_password_of_an_address_are_secret_in_every_shape():
    hidden = secrets_of("http://me:p%40ss%2Fword@host:80/v1")
    for text in ("p@ss/word", "http://me:p%40ss%2Fword@host", "me:p@ss/word@", "p%40ss%2Fword"):
        assert "ss" not in scrub(text, hidden, 4), text
    assert secrets_of("http://host/v1?a@b") == secrets_of("http://[broken") == set()


def test_a_secret_is_found_among_escapes():
    for text in (r"\u0073k-1%2f2", r"\\u0073\u006B-1/2", "%73%6B-1%2F2", "sk-1/2"):
        assert scrub(f"<{text}>", ["sk-1/2"], 4) == "<***>", text
    assert scrub(r"\ud83d\ude00-key", ["\U0001f600-key"], 4) == "***"


def test_a_short_secret_is_a_word_to_files_and_none_with_its_user():
    remember(keys=["sk-0123456789abcdef", "brief-key", None, ""], addresses=["http://me:pw@h/v1"])
    assert without_known("sk-0123456789abcdef, brief-key") == "***, ***"
    assert without_known("brief-key", LEAST_IN_FILES) == "brief-key"
    assert without_known("http://me:pw@h/v1, pw", LEAST_IN_FILES) == "http://***h/v1, pw"


def test_nothing_that_is_stored_holds_a_secret(tmp_path):
    remember(keys=['sk-"0123456789abcdef'], addresses=["http://me:pw@h/v1"])
    config = {"base_url": "http://me:pw@h/v1", "reason": 'no: sk-"0123456789abcdef'}
    (folder := ArtifactFolder(tmp_path)).open()
    folder.write_section("manifest.json", "suite", config)
    stored = json.loads((tmp_path / "manifest.json").read_text())["suite"]
    assert stored == {"base_url": "http://***h/v1", "reason": "no: ***"}


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("GET http://me:hush@host/x?api_key=sk-1234&k=3", "GET http://***@host/x?api_key=***&k=3"),
        ("{'Authorization': 'Bearer abcdef'}", "{'Authorization': 'Bearer ***'}"),
        ("password: hunter2, user: me", "password: ***, user: me"),
        ("unexpected token: 'Harbour' at http://host:80/a@b", None),
    ],
)
def test_what_looks_like_a_secret_is_hidden_in_what_strangers_raise(text, rest):
    assert without_likely(text) == (text if rest is None else rest)
