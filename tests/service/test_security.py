"""Who may ask, from where, and how much."""

import time

import pytest

from argus.errors import InputError
from argus.service import security
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.security import SESSION_S, VARIABLE
from argus.service.state import Service
from argus.service.workplace import open_workplace
from tests.service.client import Client

TOKEN = "a-token-of-the-test-0123456789"
BEARER = {"authorization": f"Bearer {TOKEN}"}
PAGE = {"accept": "text/html,*/*"}


@pytest.fixture
def make(report, monkeypatch):
    """Return a client of a service with settings; token: of the environment."""
    monkeypatch.delenv(VARIABLE, raising=False)

    def client(token=None, **settings):
        if token:
            monkeypatch.setenv(VARIABLE, token)
        return Client(create_app(open_workplace([report]), ServeConfig(**settings)))

    return client


def test_beyond_loopback_nothing_is_shown_without_the_token(make):
    client = make(TOKEN, host="0.0.0.0")
    for method, path in [
        ("get", "/page/report/overview"), ("get", "/"), ("get", "/search?query=x"),
        ("post", "/search"), ("post", "/resolve"), ("get", "/metrics"), ("get", "/openapi.json"),
        ("get", "/nowhere"),
    ]:  # fmt: skip
        refused = client.request(method, path)
        assert refused.status_code == 401, path
        assert "report" not in refused.text and TOKEN not in refused.text
        wrong = client.request(method, path, headers={"authorization": f"Bearer {TOKEN}x"})
        assert wrong.status_code == 401
    assert client.get("/page/report/overview", headers=BEARER).status_code == 200
    assert client.get("/healthz").json() == {"status": "ok"}


def test_a_token_is_made_beyond_loopback_where_none_is_chosen(make):
    first, second = make(host="0.0.0.0"), make(host="0.0.0.0")
    gates = [c.app.state.service.gate for c in (first, second)]
    assert all(len(gate.token) > 40 and gate.was_made for gate in gates)
    assert gates[0].token != gates[1].token and gates[0].token not in repr(vars(first.app.state))
    assert make().app.state.service.gate.token is None
    assert not ServeConfig(host="::1").needs_token
    assert make(TOKEN).get("/openapi.json").status_code == 401
    with pytest.raises(InputError, match=VARIABLE):
        make("short")


def test_a_person_logs_in_and_is_led_on(make):
    client = make(TOKEN, host="0.0.0.0")
    page = client.get("/page/report/overview", headers=PAGE)
    assert page.url.path == "/login" and 'name="token"' in page.text
    wrong = client.post("/login", data={"token": "no", "to": "/"})
    assert wrong.status_code == 401 and "not the token" in wrong.text
    answer = client.post(
        "/login", data={"token": TOKEN, "to": "/page/report/overview"}, follow_redirects=False
    )
    assert answer.headers["location"] == "/page/report/overview"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie
    assert client.get("/page/report/overview", headers=PAGE).url.path == "/page/report/overview"


@pytest.mark.parametrize(
    "to", ["//evil.example/", "https://evil.example", "/\\evil.example", "/a\r\nset-cookie: x=y"]
)
def test_a_login_leads_nowhere_else(make, to):
    client = make(TOKEN, host="0.0.0.0")
    answer = client.post("/login", data={"token": TOKEN, "to": to}, follow_redirects=False)
    assert answer.headers["location"] == "/" and len(answer.headers.get_list("set-cookie")) == 1


def test_only_a_session_that_began_here_counts_and_it_ends(make, monkeypatch):
    client = make(TOKEN, host="0.0.0.0")
    client.post("/login", data={"token": TOKEN}, follow_redirects=False)
    ((name, value),) = client.cookies.items()
    for session, status in (("", 401), (value[:-1], 401), ("member.1.x.y", 401), (value, 200)):
        client.cookies.clear()
        client.cookies.set(name, session)
        assert client.get("/openapi.json").status_code == status, session
    later = time.time() + SESSION_S + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert client.get("/openapi.json").status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8765", 200), ("localhost", 200), ("[::1]:8765", 200), ("LOCALHOST:1", 200),
        ("evil.example", 400), ("127.0.0.1.evil.example", 400), ("", 400), ("192.168.0.7", 400),
        ("localhost.evil.example:8765", 400), ("[127.0.0.1].evil.example:80", 400),
        ("[::1]evil.example", 400), ("127.0.0.1:80.evil.example", 400), ("[127.0.0.1", 400),
        ("[::1]", 200), ("127.0.0.1:", 200),
    ],
)  # fmt: skip
def test_a_name_that_is_not_ours_is_refused(make, host, status):
    assert make().get("/healthz", headers={"host": host}).status_code == status
    beyond = make(TOKEN, host="0.0.0.0", host_names=("argus.example",))
    for host, status in [("10.0.0.5:8765", 200), ("argus.example", 200), ("evil.example", 400)]:
        assert beyond.get("/healthz", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://["}, {"origin": "http://[::1"},
    ],
)  # fmt: skip
def test_a_page_of_elsewhere_changes_nothing(make, headers):
    for path in ("/search", "/login"):
        assert make().post(path, json={"query": "x"}, headers=headers).status_code == 403
    own = {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-origin"}
    searched = make().post("/search", json={"query": "x"}, headers=own)
    assert searched.status_code == 422  # nothing to search


def test_a_request_is_bounded(make, monkeypatch):
    monkeypatch.setattr(security, "MAX_BODY", 10_000)
    client = make()
    large = client.post("/search", json={"query": "x" * 20_000})
    assert large.status_code == 413

    def drip():
        for _ in range(1000):
            yield b'{"query": "' + b"x" * 1000

    assert client.post("/search", content=drip()).status_code == 413
    monkeypatch.undo()
    deep = make().post("/search", content="[" * 200_000)
    assert deep.status_code in (400, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../../app.py", "/static/..%2f..%2fapp.py", "/static/%2e%2e/%2e%2e/app.py",
        "/static//etc/passwd", "/page/..%2f..%2fetc/overview", "/page/../../etc/passwd",
        "/page/%00/overview",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_folders(make, path):
    answer = make().get(path)
    assert answer.status_code in (404, 422) and "root:" not in answer.text
    assert "import" not in answer.text


@pytest.mark.parametrize(
    "more",
    [
        {"retriever": "evil.py:f"}, {"encoder": "evil/model"}, {"base_url": "http://evil.example"},
        {"index": "/etc"}, {"path": "/etc/passwd"},
        {"corpus": "/etc/passwd"}, {"out": "/tmp/x"},
    ],
)  # fmt: skip
def test_a_request_names_no_file_no_code_and_no_address(make, more):
    client = make()
    for path, body in [
        ("/search", {"query": "x"}), ("/search/batch", {"queries": ["x"]}),
        ("/explain", {"query": "x", "id": "d"}), ("/resolve", {"ids": ["d"]}),
    ]:  # fmt: skip
        refused = client.post(path, json=body | more)
        assert refused.status_code == 422 and "Extra inputs" in refused.text, path


def test_every_answer_carries_the_headers_refusals_and_faults_too(make, monkeypatch):
    monkeypatch.setattr(Service, "answer", lambda self, question: 1 / 0)
    client = make()
    for path, status in [("/search?query=secret-words", 500), ("/nowhere", 404), ("/healthz", 200)]:
        answer = client.get(path)
        assert answer.status_code == status
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "secret-words" not in answer.text and "ZeroDivision" not in answer.text
