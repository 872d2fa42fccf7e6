"""What clients ask of a service that runs for hours, each kind at its own pace."""

from __future__ import annotations

import json
import random
import re
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from benchmarks.faults.serving import batch, marker

KEPT = 100
"""Records of the stream that are there at a time: each request takes an earlier one away."""
PAGES = (
    "overview", "documents", "documents?sort=title_rank", "documents?q=the&page=2", "questions",
    "repairs", "authority", "compare", "generative", "map", "why-not", "titles?doc=an",
)  # fmt: skip
TOLD = ("healthz", "readyz", "metrics", "records/stale", "records/waiting", "jobs", "openapi.json")
SHAPES = (
    ("/retrieve/langchain", "response"), ("/retrieve/llamaindex", "nodes"),
    ("/v1/vector_stores/any/search", "data"),
)  # fmt: skip
"""Paths, and the key of their results."""
IDLE_S = 20.0
"""Seconds after which the service must have closed a connection without a request."""
RESET = struct.pack("ii", 1, 0)


@dataclass
class Asker:
    """One client, which asks ever new questions. Each method returns "", or what is unexpected."""

    url: str
    run: Path
    texts: list[tuple[str, str]]
    """Ids of documents that stay in the index, and their words."""
    seed: int
    http: httpx.Client = field(init=False)
    draw: random.Random = field(init=False)
    words: list[str] = field(init=False)
    idle: list[socket.socket] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.url, timeout=120)
        self.draw = random.Random(self.seed)
        self.words = sorted({word for _, text in self.texts for word in re.findall(r"\w+", text)})

    def question(self) -> str:
        """Return words in an order that nobody asked before."""
        return " ".join(self.draw.sample(self.words, self.draw.randint(2, 12)))

    def search(self, n: int) -> str:
        """Ask one question, by either method, some as of a date, some to be watched."""
        k = self.draw.randint(1, 20)
        asked: dict[str, Any] = {"query": self.question(), "k": k}
        if n % 5 == 0:
            asked["as_of"] = f"2024-{self.draw.randint(1, 12):02}-15"
        elif n % 7 == 0:  # an answer of then does not go stale
            asked["watch"] = f"answer {n}"
        if n % 2:
            answer = self.http.post("/search", json=asked)
        else:
            answer = self.http.get("/search", params=asked)
        return _unless(answer, lambda told: 1 <= len(told["results"]) <= k)

    def batch(self, n: int) -> str:
        """Ask many questions at once."""
        queries = [self.question() for _ in range(self.draw.randint(2, 32))]
        answer = self.http.post("/search/batch", json={"queries": queries})
        return _unless(answer, lambda told: len(told["answers"]) == len(queries))

    def explain(self, n: int) -> str:
        """Ask why a document does not come back."""
        id_, text = self.draw.choice(self.texts)
        query = self.question() if n % 2 else text[:60]
        return _unless(self.http.get("/explain", params={"query": query, "id": id_}), bool)

    def page(self, n: int) -> str:
        """Open a page, as a browser does."""
        name = PAGES[n % len(PAGES)]
        if name == "why-not" and n % 24 >= len(PAGES):
            id_, text = self.draw.choice(self.texts)
            name = f"why-not?q={quote(text[:40])}&doc={quote(id_)}"
        answer = self.http.get(f"/page/report/{name}", headers={"accept": "text/html"})
        return _unless(answer, lambda _: "<" in answer.text, as_json=False)

    def records(self, n: int) -> str:
        """Stream records: one comes, another goes, so that there are as many as before."""
        wrong = self._send(n)
        ids = {"ids": [marker(n), "flaw-1"]}
        return wrong or _unless(
            self.http.post("/resolve", json=ids),
            lambda told: all(one["known"] for one in told["documents"]),
        )

    def _send(self, n: int) -> str:
        """Send a request of the stream; where it is not answered, see whether it counts."""
        body = "\n".join(map(json.dumps, stream(n)))
        try:
            return _unless(self.http.post("/records", content=body), bool)
        except httpx.TransportError:
            (one,) = self.http.post("/resolve", json={"ids": [marker(n)]}).json()["documents"]
            if not one["known"]:
                self.http.post("/records", content=body).raise_for_status()
            raise

    def shape(self, n: int) -> str:
        """Retrieve as LangChain, LlamaIndex and OpenAI's client do."""
        path = ("/retrieve/langchain", "/retrieve/llamaindex", "/v1/vector_stores/any/search")[
            n % 3
        ]
        key = ("response", "nodes", "data")[n % 3]
        answer = self.http.post(path, json={"query": self.question()})
        return _unless(answer, lambda told: told[key])

    def telling(self, n: int) -> str:
        """Ask how the service is."""
        return _unless(self.http.get(f"/{TOLD[n % len(TOLD)]}"), lambda _: True, as_json=False)

    def bad(self, n: int) -> str:
        """Ask for what must be refused."""
        answer = BAD[n % len(BAD)](self.http)
        if not 400 <= answer.status_code < 500 or "Traceback" in answer.text:
            return f"{answer.request.url.path}: {answer.status_code}: {answer.text[:200]}"
        return ""

    def hang_up(self, n: int) -> str:
        """Begin a request and go, or open a connection and send nothing."""
        with_socket = self._connection()
        query = quote(self.question())
        host = b"Host: 127.0.0.1\r\n"
        sent = (
            b"GET /search?query=" + query.encode() + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /search?que",
            b"POST /search/batch HTTP/1.1\r\n" + host + b'Content-Length: 900\r\n\r\n{"queries": [',
            b"GET /jobs/1/events HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /page/report/documents HTTP/1.1\r\n" + host + b"Accept: text/html\r\n\r\n",
            b"",
        )[n % 6]
        if not sent:
            return self._leave_idle(with_socket)
        with with_socket:
            with_socket.sendall(sent)
            if n % 6 >= 3:
                with_socket.recv(100)
            if n % 12 >= 6:
                with_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        return ""

    def _connection(self) -> socket.socket:
        host, _, port = self.url.removeprefix("http://").partition(":")
        return socket.create_connection((host, int(port)), timeout=120)

    def _leave_idle(self, connection: socket.socket) -> str:
        """Keep a connection that says nothing; the one before it must be closed by now."""
        self.idle.append(connection)
        if len(self.idle) < 2:
            return ""
        before = self.idle.pop(0)
        with before:
            before.settimeout(IDLE_S)
            try:
                return "" if before.recv(1) == b"" else "an idle connection was answered"
            except ConnectionResetError:
                return ""
            except TimeoutError:
                return "an idle connection was not closed"

    def close(self) -> None:
        """Let go of all connections."""
        self.http.close()
        for connection in self.idle:
            connection.close()


def stream(n: int) -> list[dict[str, Any]]:
    """Return the n-th request of a stream that never grows: what came goes again."""
    rows = batch(n)
    if n >= KEPT and (n - KEPT) % 3:  # every third is taken away by `batch`
        rows.append({"op": "delete", "_id": marker(n - KEPT)})
    return rows


Kind = tuple[str, float, Callable[[Asker, int], str]]
KINDS: tuple[Kind, ...] = (
    ("search", 3.0, Asker.search), ("batch", 0.2, Asker.batch), ("explain", 0.1, Asker.explain),
    ("page", 0.6, Asker.page), ("records", 0.3, Asker.records), ("shape", 0.4, Asker.shape),
    ("telling", 0.4, Asker.telling), ("bad", 0.4, Asker.bad), ("hang up", 0.2, Asker.hang_up),
)  # fmt: skip
"""What is asked, and how often in a second."""


def _unless(answer: httpx.Response, holds: Callable[[Any], object], *, as_json: bool = True) -> str:
    """Return "" for a good answer, else what it was."""
    if answer.status_code == 200 and holds(answer.json() if as_json else None):
        return ""
    return f"{answer.request.url.path}: {answer.status_code}: {answer.text[:200]}"


def _body(path: str, content: bytes) -> Callable[[httpx.Client], httpx.Response]:
    return lambda http: http.post(
        path, content=content, headers={"content-type": "application/json"}
    )


def _job(**options: Any) -> Callable[[httpx.Client], httpx.Response]:
    request = {"command": "exposure", "options": options}
    return lambda http: http.post("/jobs", json=request)


BAD: tuple[Callable[[httpx.Client], httpx.Response], ...] = (
    _body("/search", b'{"query": '), _body("/search", b'{"query": "a", "k": 0}'),
    _body("/search", b'{"query": "a", "encoder": "other"}'), _body("/search", b"[" * 5_000),
    _body("/search/batch", b'{"queries": []}'), _body("/records", b'{"type": "patch"}'),
    _body("/records", b"\xff\xfe"), _body("/resolve", b'{"ids": [7]}'),
    lambda http: http.get("/explain", params={"query": "a", "id": "b", "k": 0}),
    lambda http: http.get("/nothing/here"), lambda http: http.delete("/search"),
    lambda http: http.get("/page/nowhere/overview", headers={"accept": "text/html"}),
    lambda http: http.get("/healthz", headers={"host": "elsewhere.example"}),
    lambda http: http.get("/search?query="), lambda http: http.get("/jobs/999999999"),
    _job(corpus="/etc/passwd", out="/"), _job(corpus="x", out="y", encoder="other"),
    lambda http: http.post("/search", content=b" " * (11 << 20)),
)  # fmt: skip
"""Requests that must be refused, none of which may harm the service."""
