"""Records that stand inside others: OTLP's tree of spans, pages of an API, hits of OpenSearch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from argus.traffic.readers.streams import Values

LISTS = (
    "data", "spans", "goldens", "test_cases", "testCases", "samples", "queries", "events", "rows",
)  # fmt: skip
"""Where a page of an API, or a saved data set, holds its records."""
KINDS = ("stringValue", "intValue", "doubleValue", "boolValue")


def records_in(value: Values) -> Iterator[Values]:
    """Yield the records that a value holds: itself, where it wraps none."""
    if "resourceSpans" in value:
        yield from _otlp(value["resourceSpans"])
        return
    hits = value.get("hits")
    if isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
        for hit in hits["hits"]:
            yield from records_in(hit) if isinstance(hit, dict) else ()
        return
    source = value.get("_source")
    if isinstance(source, dict):
        yield source
        return
    for name in LISTS:
        inner = value.get(name)
        if len(value) <= 3 and isinstance(inner, list) and any(isinstance(i, dict) for i in inner):
            yield from (one for one in inner if isinstance(one, dict))
            return
    yield value


def _otlp(resources: Any) -> Iterator[Values]:
    """Yield OTLP's spans with their attributes as one flat object."""
    for resource in _dicts(resources):
        for scope in _dicts(
            resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans")
        ):
            for span in _dicts(scope.get("spans")):
                yield {**span, "attributes": plain_attributes(span.get("attributes"))}


def plain_attributes(attributes: Any) -> Values:
    """Return OTLP's list of keys and values as one object."""
    return {str(one["key"]): _plain(one.get("value")) for one in _dicts(attributes) if "key" in one}


def _plain(value: Any) -> Any:
    """Return a value of OTLP without what says its type."""
    if not isinstance(value, Mapping):
        return value
    for kind in KINDS:
        if kind in value:
            return value[kind]
    if "arrayValue" in value:
        return [_plain(one) for one in (value["arrayValue"] or {}).get("values") or ()]
    if "kvlistValue" in value:
        return plain_attributes((value["kvlistValue"] or {}).get("values"))
    return None


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())
