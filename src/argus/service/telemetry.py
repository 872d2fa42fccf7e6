"""Count, time and log the requests of `argus serve`: Prometheus metrics, a log, retrieval spans.

The log is JSON lines without texts of questions and documents, unless you ask for them. Spans have
OpenInference's attributes, as `argus traffic` reads them:
https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argus.data.provenance import utc_now
from argus.indexes.retriever import Hit
from argus.service.security import refusal

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExportResult

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
BATCH = (1, 2, 4, 8, 16, 32, 64)
QUIET = ("/healthz", "/readyz", "/metrics")  # counted, but logged only if they fail
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
NAME = "argus.serve"
DOCUMENT = "retrieval.documents.{}.document.{}"
SPANS_EVERY_MS = 1000


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


class Tracing:
    """Make a span per retrieval, in a file if one is named, else for the process's own tracer.

    with_texts: the documents' texts stand in them, too. The question always does.
    """

    def __init__(self, file: Path | None, with_texts: bool) -> None:
        from opentelemetry import trace

        self._with_texts = with_texts
        self._own = None if file is None else _writing_to(file)
        self._tracer = (self._own or trace).get_tracer(NAME)

    def close(self) -> None:
        """Write the spans that wait."""
        if self._own is not None:
            self._own.shutdown()

    @contextmanager
    def retrieval(self, question: str) -> Iterator[Callable[[Sequence[Hit]], None]]:
        """Open the span of a question. Call the yielded function with the served documents."""
        with self._tracer.start_as_current_span("retrieve") as span:
            is_recording = span.is_recording()
            if is_recording:
                span.set_attributes(
                    {"openinference.span.kind": "RETRIEVER", "input.value": question}
                )

            def note(hits: Sequence[Hit]) -> None:
                for number, hit in enumerate(hits if is_recording else ()):
                    span.set_attribute(DOCUMENT.format(number, "id"), hit["id"])
                    span.set_attribute(DOCUMENT.format(number, "score"), hit["score"])
                    if self._with_texts:
                        span.set_attribute(DOCUMENT.format(number, "content"), hit["text"])

            yield note


def _writing_to(file: Path) -> TracerProvider:
    """Return a provider that appends a line of JSON per span to a file."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    class FileExporter(SpanExporter):
        lock = threading.Lock()

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            lines = "".join(span.to_json(indent=None) + "\n" for span in spans)
            try:
                with self.lock, file.open("a", encoding="utf-8") as out:
                    out.write(lines)
            except OSError:
                return SpanExportResult.FAILURE
            return SpanExportResult.SUCCESS

    provider = TracerProvider(resource=Resource.create({"service.name": NAME}))
    exporting = BatchSpanProcessor(FileExporter(), schedule_delay_millis=SPANS_EVERY_MS)
    provider.add_span_processor(exporting)
    return provider
