"""What is kept of requests: figures, a log without texts, spans for the traffic audit."""

import io
import json

import pytest

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
