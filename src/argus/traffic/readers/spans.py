"""Spans of retrievers, as OpenInference and OpenTelemetry's GenAI conventions describe them.

Attributes come nested, flat with dotted names, as columns (`attributes.input.value`), or as OTLP's
keys and values; lists of documents as lists, as text, or with their numbers in the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from argus.data.whole_numbers import whole_number
from argus.traffic.config import LogConfig
from argus.traffic.exchange import Exchange, Passage, ReadingTally, Skip
from argus.traffic.readers.common import beside
from argus.traffic.readers.fields import at_path
from argus.traffic.readers.streams import Values
from argus.traffic.readers.values import passages, question, unpacked
from argus.traffic.readers.wrapped import DEEPEST, plain_attributes

KIND, INPUT, DOCUMENTS = "openinference.span.kind", "input.value", "retrieval.documents"
OPERATION, ASKED_TEXT = "gen_ai.operation.name", "gen_ai.retrieval.query.text"
GEN_AI_DOCUMENTS = "gen_ai.retrieval.documents"
NO_DOCUMENTS = "spans of a retriever that say nothing of documents"
OUTER = ("attributes", "span_attributes", "SpanAttributes")
ROOTS = ("openinference", "input", "retrieval", "gen_ai", "session", "user", "metadata")
_NUMBERED = re.compile(r"retrieval\.documents\.(\d{1,18})\.(.+)")


def fits(values: Values, config: LogConfig) -> bool:
    """Return whether a record is a span of either convention, whatever its kind."""
    attributes = _attributes(values)
    return any(name in attributes for name in (KIND, OPERATION, ASKED_TEXT)) or (
        "span_kind" in values and INPUT in attributes
    )


def read(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    """Yield the question of a retriever's span; raises Skip for other spans."""
    attributes = _attributes(values)
    names = (INPUT, DOCUMENTS)
    kind = str(attributes.get(KIND) or values.get("span_kind") or "").upper()
    operation = str(attributes.get(OPERATION) or "")
    if kind == "RETRIEVER":
        text, results = attributes.get(INPUT), _documents(attributes, tally)
    elif operation == "retrieval" or ASKED_TEXT in attributes:
        text = attributes.get(ASKED_TEXT) or attributes.get(INPUT)
        names = (ASKED_TEXT if attributes.get(ASKED_TEXT) else INPUT, GEN_AI_DOCUMENTS)
        results = passages(attributes.get(GEN_AI_DOCUMENTS), tally)
    else:
        raise Skip(f"spans of another kind ({kind or operation or 'none'})")
    inside = whole(values)
    if config.query_field is not None:
        text = at_path(inside, config.query_field)
    if config.results_field is not None:
        results = passages(at_path(inside, config.results_field), tally)
    tally.note("question", config.query_field or names[0])
    if results is None:
        tally.remarks[NO_DOCUMENTS] += 1
    else:
        tally.note("results", config.results_field or names[1])
    inside["trace_id"] = _trace(values)
    yield Exchange(question(text), results=results, **beside(inside, config, tally, results))


def whole(values: Values) -> Values:
    """Return a span with its attributes beside its own fields, by dotted names."""
    return {**_attributes(values), **values}


def _trace(values: Values) -> str:
    context = values.get("context")
    inner = context if isinstance(context, Mapping) else values
    span = inner.get("span_id") or inner.get("spanId") or values.get("context.span_id")
    return str(span or "")


def _attributes(values: Values) -> Values:
    """Return the attributes with dotted names, whatever shape they came in."""
    flat: Values = {}
    for name in OUTER:
        inner = unpacked(values.get(name))
        if isinstance(inner, list):
            inner = plain_attributes(inner)
        if isinstance(inner, Mapping):
            _flatten("", inner, flat)
    for name, value in values.items():
        head, _, rest = name.partition(".")
        if head in OUTER and rest:
            _flatten(rest, value, flat)
        elif head in ROOTS and rest:
            flat[name] = value
    return flat


def _flatten(path: str, value: Any, flat: Values, left: int = DEEPEST) -> None:
    """Put what stands in a value into `flat`, by dotted names; what is too deep as it is."""
    if value is None:
        return
    if left and isinstance(value, Mapping) and path not in (DOCUMENTS, "metadata"):
        for name, inner in value.items():
            _flatten(f"{path}.{name}" if path else str(name), inner, flat, left - 1)
    else:
        flat[path] = value


def _documents(attributes: Mapping[str, Any], tally: ReadingTally) -> tuple[Passage, ...] | None:
    """Return the documents of an OpenInference span; None where it says nothing of any."""
    whole = unpacked(attributes.get(DOCUMENTS))
    if isinstance(whole, Mapping):
        places = [whole_number(str(key)) for key in whole]
        if None not in places:
            in_order = sorted(zip(places, whole.values(), strict=True), key=itemgetter(0))
            whole = [value for _, value in in_order]
    if isinstance(whole, list):
        items = [_opened(one) for one in whole if isinstance(one, Mapping)]
        return passages(items, tally) if len(items) == len(whole) else passages(whole, tally)
    if whole is not None:
        return passages(whole, tally)
    numbered: dict[int, Values] = {}
    for name, value in attributes.items():
        if match := _NUMBERED.fullmatch(name):
            numbered.setdefault(int(match[1]), {})[match[2].removeprefix("document.")] = value
    return passages([numbered[i] for i in sorted(numbered)], tally) if numbered else None


def _opened(item: Mapping[str, Any]) -> Values:
    """Return a document's own fields: those inside `document`, or behind `document.`."""
    inner = item.get("document")
    if isinstance(inner, Mapping):
        return dict(inner)
    return {str(name).removeprefix("document."): value for name, value in item.items()}
