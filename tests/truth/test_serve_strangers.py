"""Strangers learn nothing of the token, guess it slowly, and leave little behind."""

import sqlite3
import time

import pytest

from argus.cli.startable import ArgusCommands
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.security import VARIABLE
from argus.service.workplace import open_workplace
from tests.service.client import Client
from tests.service.conftest import report as report

TOKEN = "a-token-of-the-test-0123456789"
BEARER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def client(report, monkeypatch):
    monkeypatch.setenv(VARIABLE, TOKEN)
    return Client(create_app(open_workplace([report]), ServeConfig(host="0.0.0.0")))


@pytest.mark.parametrize("way", ["header", "login", "header of a page of elsewhere"])
def test_wrong_tokens_close_an_address_to_tokens_for_the_minute(client, way, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)  # no minute ends meanwhile

    def bring(token):
        if way == "login":
            return client.post("/login", data={"token": token}, follow_redirects=False)
        headers = {"authorization": f"Bearer {token}"}
        if way == "header":
            return client.get("/openapi.json", headers=headers)
        return client.post("/login", headers={**headers, "origin": "https://evil.example"})

    member = client.post("/login", data={"token": TOKEN}, follow_redirects=False)
    assert member.status_code == 303
    session = dict(client.cookies)
    client.cookies.clear()
    codes = [bring(f"wrong-{n}").status_code for n in range(30)]
    refused = bring(TOKEN)
    assert codes.count(429) >= 20 and refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    client.cookies.clear()
    client.cookies.update(session)
    assert client.get("/openapi.json").status_code == 200
    client.cookies.clear()
    monkeypatch.setattr(time, "time", lambda: 1_800_000_060.0)
    assert client.get("/openapi.json", headers=BEARER).status_code == 200


def test_who_brings_no_token_sends_little(client):
    large = {"token": TOKEN, "to": "/" + "x" * 100_000}
    assert client.post("/login", data=large).status_code == 413

    def drip():
        for _ in range(1000):
            yield b"x" * 1000

    assert client.post("/login", content=drip()).status_code == 413
    answer = client.post("/search", json={"query": "x" * 100_000}, headers=BEARER)
    assert answer.status_code == 422


def test_methods_that_nobody_knows_are_one_figure(client):
    for n in range(5):
        client.request(f"BREW{n}", "/healthz")
    text = client.get("/metrics", headers=BEARER).text
    assert "BREW" not in text and 'method="other"' in text


def test_a_job_is_forgotten_a_month_after_its_end(report):
    app = create_app(open_workplace([report]), ServeConfig(), ArgusCommands())
    with Client(app) as client:
        options = {"index": str(report), "query": "private", "doc_id": "d"}
        client.post("/jobs", json={"command": "explain", "options": options})
        client.post("/jobs/1/cancel")
        while client.get("/jobs/1").json()["finished_at"] is None:
            time.sleep(0.05)
        assert "private" in client.get("/jobs").text
        with sqlite3.connect(report / ".argus-serve" / "jobs.sqlite") as sql:
            sql.execute("UPDATE jobs SET finished_at = '2020-01-01T00:00:00+00:00'")
    app = create_app(open_workplace([report]), ServeConfig(), ArgusCommands())
    with Client(app) as client:
        assert client.get("/jobs").json()["jobs"] == []
        assert client.get("/jobs/1").status_code == 422
