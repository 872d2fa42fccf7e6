"""Spans that OpenInference's own library wrote, read back."""

import io

import pytest

import argus

instrumentation = pytest.importorskip(
    "openinference.instrumentation",
    reason="needs openinference-instrumentation, of the dev extra",
    exc_type=ImportError,
)
TEXTS = {
    "d1": "Bern is the capital.",
    "d2": "The Aare is a river.",
    "d3": "Basel lies on the Rhine.",
}
QUESTIONS = ("which river?", "which capital?", "which river?")


@pytest.fixture
def exported():
    """Return what the console exporter printed of three retrievals, each in a chain."""
    from openinference.semconv.trace import (
        DocumentAttributes,
        OpenInferenceSpanKindValues,
        SpanAttributes,
    )
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

    written = io.StringIO()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=written)))
    tracer = instrumentation.OITracer(
        provider.get_tracer("test"), config=instrumentation.TraceConfig()
    )
    kind = SpanAttributes.OPENINFERENCE_SPAN_KIND
    for question in QUESTIONS:
        with (
            tracer.start_as_current_span("chain", openinference_span_kind="chain"),
            tracer.start_as_current_span("retrieve") as span,
        ):
            span.set_attribute(kind, OpenInferenceSpanKindValues.RETRIEVER.value)
            span.set_attribute(SpanAttributes.INPUT_VALUE, question)
            for i, (id_, text) in enumerate(sorted(TEXTS.items(), reverse="river" in question)):
                path = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{i}"
                span.set_attribute(f"{path}.{DocumentAttributes.DOCUMENT_ID}", id_)
                span.set_attribute(f"{path}.{DocumentAttributes.DOCUMENT_CONTENT}", text)
                span.set_attribute(f"{path}.{DocumentAttributes.DOCUMENT_SCORE}", 1 - i / 10)
    provider.shutdown()
    return written.getvalue()


def test_an_export_of_its_own_library_is_read_back(exported, tmp_path):
    path = tmp_path / "spans.json"
    path.write_text(exported)
    reader = argus.traffic.read_traffic(path)
    exchanges = [one for one in reader if isinstance(one, argus.traffic.Exchange)]
    assert [one.query for one in exchanges] == list(QUESTIONS)
    rows = [[(r.id, r.score) for r in one.results or ()] for one in exchanges]
    assert rows[0] == [("d3", 1.0), ("d2", 0.9), ("d1", 0.8)] == rows[2]
    assert rows[1] == [("d1", 1.0), ("d2", 0.9), ("d3", 0.8)]
    assert all(one.at for one in exchanges)
    assert reader.tally.skipped == {"spans of another kind (CHAIN)": 3}
