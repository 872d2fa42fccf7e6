"""Records that stand inside others: OTLP's tree of spans, pages of an API, hits of OpenSearch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from argus.traffic.readers.streams import Values

LISTS = (
    "data", "spans", "goldens", "test_cases", "testCases", "samples", "queries", "events", "rows",
)  # fmt: skip
"""Where a page of an API, or a saved data set, holds its records."""
DEEPEST = 32
"""Values in values, behind which nothing is looked for: no convention nests them as deep."""
KINDS = ("stringValue", "intValue", "doubleValue", "boolValue")
LISTED = ("arrayValue", "kvlistValue")


def records_in(value: Values) -> Iterator[Values]:
    """Yield the records that a value holds: itself, where it wraps none."""
    waiting = [value]
    while waiting:  # no recursion: a log nests hits as deep as it likes
        one = waiting.pop()
        hits = one.get("hits")
        if isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
            waiting += reversed([*_dicts(hits["hits"])])
        else:
            yield from _unwrapped(one)


def _unwrapped(value: Values) -> Iterator[Values]:
    if "resourceSpans" in value:
        yield from _otlp(value["resourceSpans"])
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


def plain_attributes(attributes: Any, left: int = DEEPEST) -> Values:
    """Return OTLP's list of keys and values as one object."""
    named = (one for one in _dicts(attributes) if isinstance(one.get("key"), str))
    return {one["key"]: _plain(one.get("value"), left) for one in named}


def _plain(value: Any, left: int) -> Any:
    """Return a value of OTLP without what says its type; None for one that is too deep."""
    if not isinstance(value, Mapping):
        return value
    for kind in KINDS:
        if kind in value:
            return value[kind]
    listed = next((name for name in LISTED if name in value), None)
    values = _values(value[listed]) if left and listed else None
    if values is None:
        return None
    if listed == "kvlistValue":
        return plain_attributes(values, left - 1)
    return [_plain(one, left - 1) for one in values]


def _values(value: Any) -> list[Any] | None:
    """Return what one of OTLP's lists holds, which an empty one leaves out; None for no list."""
    inner = value or {}
    values = (inner.get("values") or []) if isinstance(inner, Mapping) else None
    return values if isinstance(values, list) else None


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())
