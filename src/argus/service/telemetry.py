"""Count, time and log the requests of `argus serve`: Prometheus metrics, and a log.

The log is JSON lines without texts of questions and documents, unless you ask for them. With them
`argus traffic` reads it.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argus.data.provenance import utc_now
from argus.service.security import refusal

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
BATCH = (1, 2, 4, 8, 16, 32, 64)
QUIET = ("/healthz", "/readyz", "/metrics")  # counted, but logged only if they fail
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Log:
    """Write events as lines of JSON, without texts of questions and documents unless `with_texts`.

    out: default standard error.
    """

    def __init__(self, with_texts: bool = False, out: TextIO | None = None) -> None:
        self.with_texts, self.out = with_texts, out
        self._lock = threading.Lock()

    def write(self, event: str, texts: dict[str, object] | None = None, **facts: object) -> None:
        """Write an event with its facts. texts: written only if texts are kept."""
        whole = {"time": utc_now(), "event": event, **facts}
        if self.with_texts and texts:
            whole |= texts
        line = json.dumps(whole, ensure_ascii=True, default=str)
        with self._lock:
            print(line, file=self.out or sys.stderr, flush=True)


class Metrics:
    """Counts and durations of one service, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        with_route = ("method", "route")
        self.requests = Counter(
            "argus_requests", "Requests that were answered.", (*with_route, "status"),
            registry=registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "argus_request_seconds", "Seconds until a response was whole.", with_route,
            registry=registry, buckets=SECONDS,
        )  # fmt: skip
        self.under_way = Gauge("argus_requests_under_way", "Requests now.", registry=registry)
        self.batches = Histogram(
            "argus_search_batch", "Questions that were searched at once.",
            registry=registry, buckets=BATCH,
        )  # fmt: skip
        self.waiting = Gauge("argus_search_waiting", "Questions that wait.", registry=registry)

    def text(self) -> bytes:
        """Return all of them, as Prometheus reads them."""
        return generate_latest(self._registry)


class Observed:
    """ASGI middleware that counts, times and logs every request, and answers a fault with 500.

    The path is logged. Its query may hold texts, and is not.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, log: Log) -> None:
        self.app, self.metrics, self.log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note its status."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, status, since = secrets.token_hex(8), 0, time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = number
            await send(message)

        self.metrics.under_way.inc()
        try:
            await self.app(scope, receive, noted)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)[-12:]
            at = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
            kind = type(error).__name__
            self.log.write("fault", {"says": str(error)}, request=number, error=kind, at=at)
            if status:
                raise
            await refusal(500, f"a fault of the service; its log says more under {number}")(
                scope, receive, noted
            )
        finally:
            self.metrics.under_way.dec()
            seconds = time.perf_counter() - since
            route: Any = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in METHODS else "other"
            self.metrics.requests.labels(method, route, str(status)).inc()
            self.metrics.seconds.labels(method, route).observe(seconds)
            if scope["path"] not in QUIET or status >= 500:
                self.log.write(
                    "request", {"path": scope["path"]}, request=number, method=method, route=route,
                    status=status, ms=round(seconds * 1e3, 1),
                    client=(scope.get("client") or ("",))[0],
                )  # fmt: skip
