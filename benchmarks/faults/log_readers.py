"""Formats of logs, as their own documentation writes them, and what models and engines answer."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from argus.errors import ArgusError
from benchmarks.faults.fuzz import Reader
from benchmarks.faults.reading import lines


def _otlp(name: str, value: Any) -> dict[str, Any]:
    """Return an attribute as OTLP writes it."""
    if isinstance(value, list):
        return {"key": name, "value": {"arrayValue": {"values": [_otlp("", v)["value"]
                                                                  for v in value]}}}  # fmt: skip
    if isinstance(value, dict):
        pairs = [_otlp(k, v) for k, v in value.items()]
        return {"key": name, "value": {"kvlistValue": {"values": pairs}}}
    kind = "doubleValue" if isinstance(value, float) else "stringValue"
    return {"key": name, "value": {kind: value}}


OPENINFERENCE = {
    "openinference.span.kind": "RETRIEVER", "input.value": "what is a span?", "session.id": "s1",
    "retrieval.documents.0.document.id": "d2", "retrieval.documents.0.document.score": 0.9,
    "retrieval.documents.1.document.id": "d1", "retrieval.documents.1.document.content": "a text",
}  # fmt: skip
GEN_AI = {
    "gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "how are goods taxed?",
    "gen_ai.retrieval.documents": [{"id": "d7", "score": 0.8}, {"id": "d8", "score": 0.5}],
}  # fmt: skip


def _traces() -> list[bytes]:
    """Return OTLP's trees of spans, spans one by one, and a page of an API."""
    flat = {"name": "retrieve", "start_time": "2026-03-01T10:00:00.123456789Z",
            "attributes": OPENINFERENCE}  # fmt: skip
    trees = []
    for attributes in (OPENINFERENCE, GEN_AI):
        span = {"spanId": "0a", "startTimeUnixNano": "1772359200000000000",
                "attributes": [_otlp(*pair) for pair in attributes.items()]}  # fmt: skip
        trees.append({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    return [lines(*trees), lines(flat, {"name": "chain"}), json.dumps({"data": [flat]}).encode()]


def _ubi() -> list[bytes]:
    query = {"query_id": "1", "client_id": "c", "user_query": "toner", "timestamp": 1772359200000,
             "query_response_hit_ids": ["p1", "p2"], "application": "shop"}  # fmt: skip
    event = {"action_name": "item_click", "query_id": "1", "client_id": "c", "event_attributes": {
        "object": {"object_id": "p3"}, "position": {"ordinal": 3}}}  # fmt: skip
    hits = {"hits": {"hits": [{"_source": query}, {"_source": event}]}}
    return [lines(query, event, {"_source": event}), json.dumps(hits).encode()]


def _ragas() -> list[bytes]:
    turns = [{"type": "human", "content": "q"}, {"type": "ai", "content": "no"}]
    return [
        lines(
            {"user_input": "q", "retrieved_context_ids": ["a", "b"], "response": "r"},
            {"user_input": turns, "retrieved_contexts": ["one text"], "reference": "r"},
            {"question": "q", "contexts": "['one', 'two']", "ground_truth": "x"},
        )
    ]


def _deepeval() -> list[bytes]:
    golden = {"input": "capital?", "actual_output": "Bern", "expected_output": "Bern",
              "retrieval_context": ["Bern is the capital.", "Not ours."]}  # fmt: skip
    return [json.dumps([golden], indent=1).encode(), json.dumps({"goldens": [golden]}).encode()]


def _plain() -> list[bytes]:
    row = {"query": "how?", "ts": "2026-03-01 10:00:00", "hits": "d1, d2", "rating": "5",
           "user": "u@example.org"}  # fmt: skip
    head = ",".join(row)
    cells = ",".join(f'"{value}"' for value in row.values())
    return [f"{head}\n{cells}\n".encode(), head.replace(",", ";").encode() + b"\nhow?;1;d1;5;u\n"]


def _taken_down(path: Path) -> object:
    """Read a log, redacted, and take it down in its book."""
    from argus.traffic.config import LogConfig
    from argus.traffic.exchange import Exchange
    from argus.traffic.log.book import FILE, LogBook
    from argus.traffic.reading import TrafficReader

    log = TrafficReader.of(path, LogConfig())
    with tempfile.TemporaryDirectory() as folder, LogBook(Path(folder) / FILE) as book:
        for one in log:
            book.add(one, log.key(one.query) if isinstance(one, Exchange) else b"")
        book.flush()
        return [*book.rows("SELECT * FROM asks"), *book.rows("SELECT * FROM lists")]


def _judged(path: Path) -> object:
    from argus.scenarios.qa.judge import combine, read_judgement

    return combine([read_judgement(path.read_bytes().decode("utf-8", "replace"))])


def _verdict(path: Path) -> object:
    from argus.generative.failures.judge import Judgement
    from argus.llm.structured import UnusableAnswer, read_object

    try:
        return read_object(path.read_bytes().decode("utf-8", "replace"), Judgement)
    except UnusableAnswer as error:
        raise ArgusError(str(error)) from error


ENGINE = """\
url: {address}/find
body: {{q: "{{query}}", n: "{{k}}", after: "{{page}}"}}
answer: {{results: "found[]", id: meta.doc, score: weight, errors: errors}}
paging: {{next: after, size: 2}}
"""
FOUND = json.dumps(
    {"found": [{"meta": {"doc": "d1"}, "weight": 2.5}, {"meta": {"doc": 7}, "weight": "1e-3"}]}
).encode()


class _Engine(BaseHTTPRequestHandler):
    """Answers with whatever is to be answered."""

    answer = b""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@cache
def _engine() -> Path:
    """Serve on a free port for as long as the process lasts; return a description of it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Engine)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    file = Path(tempfile.mkdtemp()) / "engine.yaml"
    address = f"http://127.0.0.1:{server.server_port}"
    file.write_text(ENGINE.format(address=address), encoding="utf-8")
    return file


@cache
def _asking() -> Any:
    """Return what asks it; its connections last as long."""
    from argus.retrievers.opening import opened

    return opened(f"http:{_engine()}").__enter__()


def _asked(path: Path) -> object:
    from argus.data.types import Query

    _Engine.answer = path.read_bytes()
    return _asking().search([Query("q1", "hot leaves")], 3)


JUDGEMENT = b"<think>a</think>REASON: Right, but 2 of 3.\n**SCORE**: 60/100 (mostly)\n"
VERDICT = b'```json\n{"verdict": "**Yes.**", "explanation": "It says so."}\n```'
READERS: tuple[Reader, ...] = (
    Reader("log spans", ".jsonl", _traces, _taken_down),
    Reader("log ubi", ".jsonl", _ubi, _taken_down),
    Reader("log ragas", ".jsonl", _ragas, _taken_down),
    Reader("log deepeval", ".json", _deepeval, _taken_down),
    Reader("log csv", ".csv", _plain, _taken_down),
    Reader("judge's scores", ".txt", lambda: [JUDGEMENT, b"SCORE:\n60%"], _judged),
    Reader("judge's verdicts", ".json", lambda: [VERDICT], _verdict),
    Reader("answers over HTTP", ".json", lambda: [FOUND], _asked),
)
