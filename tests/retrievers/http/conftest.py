"""A server on the loopback that answers as engines document it, and checks what it is sent."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

Reply = tuple[int, Any] | tuple[int, Any, dict[str, str]]


class Server:
    """Answers requests by `reply(path, parameters, body, headers)`; counts those under way."""

    def __init__(self) -> None:
        self.reply: Callable[..., Reply] = lambda *_: (500, {})
        self.requests: list[tuple[str, dict[str, str], Any, dict[str, str]]] = []
        self.delay_s = 0.0
        self.under_way = self.most_under_way = 0
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else a head waits 40 ms for its body

            def do_POST(self) -> None:
                parts = urlsplit(self.path)
                parameters = {k: v[0] for k, v in parse_qs(parts.query).items()}
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                headers = {k.lower(): v for k, v in self.headers.items()}
                outer.requests.append((parts.path, parameters, body, headers))
                with lock:
                    outer.under_way += 1
                    outer.most_under_way = max(outer.most_under_way, outer.under_way)
                time.sleep(outer.delay_s)
                with lock:
                    outer.under_way -= 1
                status, content, *rest = outer.reply(parts.path, parameters, body, headers)
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in (rest[0] if rest else {}).items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                """Say nothing of a client that went away: tests make some."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()
