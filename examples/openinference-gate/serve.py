"""A retriever that writes OpenInference spans, asked what people ask of it."""

import io
import json
import sys
from pathlib import Path

from openinference.instrumentation import OITracer, TraceConfig, using_session
from openinference.semconv.trace import DocumentAttributes as Fields
from openinference.semconv.trace import OpenInferenceSpanKindValues, SpanAttributes
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from search import K, rows, search

KIND = SpanAttributes.OPENINFERENCE_SPAN_KIND
provider = TracerProvider()
written = io.StringIO()
exporter = ConsoleSpanExporter(out=written, formatter=lambda span: span.to_json(indent=None) + "\n")
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = OITracer(provider.get_tracer("handbook"), config=TraceConfig())

lines = Path("../data/questions.jsonl").read_text("utf-8").splitlines()
for number, question in enumerate(map(json.loads, lines)):
    with using_session(f"session-{number}"), tracer.start_as_current_span("retrieve") as span:
        span.set_attribute(KIND, OpenInferenceSpanKindValues.RETRIEVER.value)
        span.set_attribute(SpanAttributes.INPUT_VALUE, question["text"])
        for place, (id_, score) in enumerate(search(question["text"], K)):
            path = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{place}"
            span.set_attribute(f"{path}.{Fields.DOCUMENT_ID}", id_)
            span.set_attribute(f"{path}.{Fields.DOCUMENT_CONTENT}", rows[id_])
            span.set_attribute(f"{path}.{Fields.DOCUMENT_SCORE}", score)
provider.shutdown()
Path(sys.argv[1]).write_text(written.getvalue(), encoding="utf-8")
print(len(lines), "questions,", sys.argv[1])
