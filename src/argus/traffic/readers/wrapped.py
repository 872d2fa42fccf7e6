"""Records that stand inside others: OTLP's tree of spans, pages of an API, hits of OpenSearch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from argus.traffic.readers.streams import Values

LISTS = (
    "data", "spans", "goldens", "test_cases", "testCases", "samples", "queries", "events", "rows",
)  # fmt: skip
"""Where a page of an API, or a saved data set, holds its records."""
DEEPEST = 32
"""Values in values, behind which nothing is looked for: no convention nests them as deep."""
KINDS = ("stringValue", "intValue", "doubleValue", "boolValue")
Stays = Callable[[Values, str, list[Values]], bool]
"""Whether a value is a record itself, and the list of a name in it no more than what came."""
LISTED = ("arrayValue", "kvlistValue")


def records_in(value: Values, stays: Stays = lambda *_: False) -> Iterator[Values]:
    """Yield the records that a value holds: itself, where it wraps none, or `stays` says so."""
    waiting = [value]
    while waiting:  # no recursion: a log nests hits as deep as it likes
        one = waiting.pop()
        hits = one.get("hits")
        if isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
            inner = [*_dicts(hits["hits"])]
            if stays(one, "hits", [hit.get("_source", hit) for hit in inner]):
                yield one
            else:
                waiting += reversed(inner)
        else:
            yield from _unwrapped(one, stays)


def _unwrapped(value: Values, stays: Stays) -> Iterator[Values]:
    if "resourceSpans" in value:
        yield from _otlp(value["resourceSpans"])
        return
    source = value.get("_source")
    if isinstance(source, dict):
        yield source
        return
    for name in LISTS:
        inner = [*_dicts(value.get(name))] if len(value) <= 3 else []
        if inner and not stays(value, name, inner):
            yield from inner
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
