"""What is kept of requests: a log without texts, or with them for the traffic audit."""

import io
import json

import pytest

from argus.traffic.config import LogConfig
from argus.traffic.reading import read_traffic

QUESTION = "which release checks links in archives"


@pytest.fixture
def lines(served, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(served.service.log, "out", out)
    return lambda: [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_log_holds_no_text(client, lines):
    client.get("/search", params={"query": QUESTION})
    client.post("/search", json={"query": QUESTION})
    client.get("/search", params={"query": "   "})
    events = lines()
    assert [line["event"] for line in events].count("search") == 2
    requests = [line for line in events if line["event"] == "request"]
    assert [line["status"] for line in requests] == [200, 200, 422]
    assert all(line["ms"] >= 0 and line["route"] == "/search" for line in requests)
    assert "links" not in json.dumps(events) and "fix-1b" not in json.dumps(events)


def test_a_fault_is_found_by_its_number_and_what_it_said_is_not_kept(client, served, lines):
    def broken(question):
        raise ZeroDivisionError(QUESTION)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(served.service), "answer", lambda self, question: broken(question))
        answer = client.get("/search", params={"query": QUESTION})
    assert answer.status_code == 500
    (fault,) = [line for line in lines() if line["event"] == "fault"]
    assert fault["error"] == "ZeroDivisionError" and any("broken" in at for at in fault["at"])
    assert fault["request"] in answer.json()["detail"] == answer.json()["detail"]
    assert fault["request"] == answer.headers["x-request-id"]
    assert QUESTION not in json.dumps(fault)


def test_a_log_with_texts_is_read_as_traffic(client, served, monkeypatch, tmp_path):
    log = tmp_path / "searches.jsonl"
    with log.open("w") as out:
        monkeypatch.setattr(served.service.log, "out", out)
        monkeypatch.setattr(served.service.log, "with_texts", True)
        found = client.get("/search", params={"query": QUESTION, "k": 2}).json()["results"]
    (one,) = read_traffic(log, LogConfig(results_field="documents"))
    assert one.query == QUESTION and one.at is not None
    assert [passage.id for passage in one.results] == [hit["id"] for hit in found]
