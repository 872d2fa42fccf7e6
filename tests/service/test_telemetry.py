"""What is kept of requests: figures, a log without texts, spans for the traffic audit."""

import io
import json
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

import argus

QUESTION = "which release checks links in archives"


@pytest.fixture
def lines(served, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(served.service.log, "out", out)
    return lambda: [json.loads(line) for line in out.getvalue().splitlines()]


def value(client, name, **labels):
    families = text_string_to_metric_families(client.get("/metrics").text.replace("# EOF\n", ""))
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def test_requests_are_counted_by_route_and_never_by_what_was_asked(client):
    before = value(client, "argus_requests_total", route="/search", status="200")
    client.get("/search", params={"query": QUESTION})
    client.get("/nowhere/at/all")
    assert value(client, "argus_requests_total", route="/search", status="200") == before + 1
    assert value(client, "argus_requests_total", route="other") >= 1
    text = client.get("/metrics").text
    assert "nowhere" not in text and "links" not in text
    assert value(client, "argus_search_batch_count") >= 1


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


def test_the_log_holds_texts_where_they_are_asked_for(client, served, lines, monkeypatch):
    monkeypatch.setattr(served.service.log, "with_texts", True)
    client.get("/search", params={"query": QUESTION})
    (search,) = [line for line in lines() if line["event"] == "search"]
    assert search["question"] == QUESTION and "fix-1b" in search["documents"]


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


def test_spans_are_read_by_the_traffic_audit(client, served):
    question = f"{QUESTION}, once"  # other tests' spans reach the file late, with other results
    answer = client.get("/search", params={"query": question}).json()
    file, until = served.folder / "spans.jsonl", time.monotonic() + 60
    while not (file.is_file() and question in file.read_text()):
        assert time.monotonic() < until
        time.sleep(0.05)
    (exchange,) = [one for one in argus.read_traffic(file) if one.query == question]
    ids = [hit["id"] for hit in answer["results"]]
    assert [passage.id for passage in exchange.results] == ids
    assert answer["results"][0]["text"] not in file.read_text()
