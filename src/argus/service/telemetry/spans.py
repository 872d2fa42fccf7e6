"""Spans of retrievals, with OpenInference's attributes, as `argus traffic` reads them.

https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from argus.service.searching.summary import SearchResults

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExportResult
    from opentelemetry.trace import Span, Tracer

NAME = "argus.serve"
KIND, RETRIEVER = "openinference.span.kind", "RETRIEVER"
INPUT, DOCUMENT = "input.value", "retrieval.documents.{}.document.{}"
EVERY_MS = 1000
"""How long spans wait before they are written together."""


class Tracing:
    """Makes spans: written to a file where one is named, else handed to whatever the process uses.

    with_texts: the documents' texts stand in them, too; the question always does.
    """

    def __init__(self, file: Path | None, with_texts: bool) -> None:
        self._with_texts = with_texts
        self._own = None if file is None else _writing_to(file)
        self._tracer = _tracer(self._own)

    @contextmanager
    def retrieval(self, question: str) -> Iterator[RetrievalSpan]:
        """Yield the span of a question; what comes back is noted in it."""
        with self._tracer.start_as_current_span("retrieve") as span:
            yield RetrievalSpan(span, question, self._with_texts)

    def close(self) -> None:
        """Write what waits."""
        if self._own is not None:
            self._own.shutdown()


class RetrievalSpan:
    """The span of one question. It costs nothing where nobody records."""

    def __init__(self, span: Span, question: str, with_texts: bool) -> None:
        self._span, self._with_texts = span, with_texts
        if span.is_recording():
            span.set_attributes({KIND: RETRIEVER, INPUT: question})

    def note(self, answer: SearchResults) -> None:
        """Note the documents that are served, best first."""
        if not self._span.is_recording():
            return
        for number, hit in enumerate(answer["results"]):
            self._span.set_attribute(DOCUMENT.format(number, "id"), hit["id"])
            self._span.set_attribute(DOCUMENT.format(number, "score"), hit["score"])
            if self._with_texts:
                self._span.set_attribute(DOCUMENT.format(number, "content"), hit["text"])


def _tracer(own: TracerProvider | None) -> Tracer:
    from opentelemetry import trace

    return trace.get_tracer(NAME) if own is None else own.get_tracer(NAME)


def _writing_to(file: Path) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    class FileExporter(SpanExporter):
        """Adds a line per span to the file."""

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
    provider.add_span_processor(BatchSpanProcessor(FileExporter(), schedule_delay_millis=EVERY_MS))
    return provider
