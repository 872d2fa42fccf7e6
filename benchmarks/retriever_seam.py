"""What the seam costs: a retriever that takes 5 ms a query, and an endpoint that takes 50 ms.

The same queries are asked in a bare loop and through the seam by turns, each answer kept as it
comes; the endpoint one at a time and sixteen at once. Medians of the rounds.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from argus.data.types import Query
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import opened

ROUNDS, QUERIES, PYTHON_S, HTTP_S, REQUESTS = 3, 2_000, 0.005, 0.05, 160
SEAM_BAR, HTTP_BAR = 1.03, 8.0
ANSWER = [(f"d{i}", 1.0 / (i + 1)) for i in range(10)]
FILE = f"""
import time
ANSWER = {ANSWER!r}

def retrieve(query, k):
    end = time.perf_counter() + {PYTHON_S}
    while time.perf_counter() < end:
        pass
    return ANSWER[:k]
"""


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        python = _python(Path(folder))
        http = _http(Path(folder))
    return {"python": python, "http": http}


def _python(folder: Path) -> dict[str, Any]:
    file = folder / "mine.py"
    file.write_text(FILE, encoding="utf-8")
    space: dict[str, Any] = {}
    exec(FILE, space)
    queries = [Query(f"q{i}", f"question {i}") for i in range(QUERIES)]
    bare, seam = [], []
    for number in range(ROUNDS):
        bare.append(_seconds(lambda: [space["retrieve"](q.text, 10) for q in queries]))
        kept = folder / f"answers-{number}.sqlite"
        with opened(str(file), kept_in=kept) as source:
            seam.append(_seconds(lambda source=source: source.ask(queries, 10)))
    ratio = statistics.median(seam) / statistics.median(bare)
    return {
        "queries": QUERIES,
        "retriever_s": PYTHON_S,
        "times_bare_loop": round(ratio, 4),
        "bar": SEAM_BAR,
        "bare_s": [round(t, 3) for t in bare],
        "seam_s": [round(t, 3) for t in seam],
    }


def _http(folder: Path) -> dict[str, Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = folder / "engine.yaml"
    file.write_text(
        f'url: http://127.0.0.1:{server.server_port}/search\nbody: {{q: "{{query}}", n: "{{k}}"}}\n'
        "answer: {results: 'hits[]', id: id, score: score}\n",
        encoding="utf-8",
    )
    queries = [Query(f"q{i}", f"question {i}") for i in range(REQUESTS)]
    times: dict[int, list[float]] = {1: [], 16: []}
    for _ in range(3):
        for at_once, seconds in times.items():
            with opened(f"http:{file}", config=AskingConfig(at_once=at_once)) as source:
                seconds.append(_seconds(lambda source=source: source.ask(queries, 10)))
    server.shutdown()
    one, many = (statistics.median(seconds) for seconds in times.values())
    return {
        "queries": REQUESTS,
        "server_s": HTTP_S,
        "sixteen_at_once_times_as_fast": round(one / many, 2),
        "bar": HTTP_BAR,
        "seconds": {str(n): [round(t, 2) for t in seconds] for n, seconds in times.items()},
    }


class _Slow(BaseHTTPRequestHandler):
    """Answers after a while, whatever is asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        time.sleep(HTTP_S)
        data = json.dumps({"hits": [{"id": id_, "score": s} for id_, s in ANSWER]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
