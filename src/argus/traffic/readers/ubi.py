"""OpenSearch's User Behavior Insights: queries with what came, and events that speak of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argus.traffic.config import LogConfig
from argus.traffic.exchange import Exchange, Feedback, ReadingTally, Skip
from argus.traffic.readers.common import beside
from argus.traffic.readers.fields import FEEDBACK, at_path, first_named, first_of, plain
from argus.traffic.readers.streams import Values
from argus.traffic.readers.values import (
    NO_OPINION,
    Opinion,
    as_number,
    opinion,
    passages,
    question,
    unpacked,
)

HITS = "query_response_hit_ids"
CLICKS = ("click", "item_click", "product_click", "result_click", "view_item", "select_content",
          "add_to_cart", "purchase", "buy")  # fmt: skip
"""Actions on a result; others that name an object, such as a hover, are none."""
FLAT = (*FEEDBACK, *(f"event_attributes.{name}" for name in FEEDBACK))
"""Fields of feedback beside the attributes, and of attributes that are columns."""


def fits(values: Values, config: LogConfig) -> bool:
    """Return whether a record is a query or an event of UBI."""
    return ("user_query" in values and ("client_id" in values or HITS in values)) or (
        "action_name" in values and "query_id" in values
    )


def read(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange | Feedback]:
    """Yield a query, or what an event says of one; raises Skip for other events."""
    if "action_name" in values:
        yield _event(values, config, tally)
        return
    text = question(first_of(values, config.query_field, ("user_query",), tally, "question"))
    served = at_path(values, config.results_field or HITS)
    if served is not None:
        tally.note("results", config.results_field or HITS)
    results = passages(served, tally)
    yield Exchange(text, results=results, **beside(values, config, tally, results))


def _event(values: Values, config: LogConfig, tally: ReadingTally) -> Feedback:
    action = str(values.get("action_name") or "").strip().lower()
    ref = plain(values.get("query_id"))
    if ref is None:
        raise Skip("events that name no query")
    attributes = whole(values)["event_attributes"]
    if action in CLICKS:
        return Feedback(ref, click=_object(values, attributes))
    by_name = opinion(action, None, ReadingTally())
    field, value = _feedback(values, attributes, config)
    if by_name.good or by_name.bad:
        voice = _beside(by_name, value, config.good_from)
    else:
        voice = opinion(value, config.good_from, tally, field)
    if by_name.bad and voice.good:  # "dislike" with true may mean either
        raise Skip(f"events whose feedback contradicts their action ({action})")
    if voice == NO_OPINION:
        raise Skip(f"events of no interest ({action or 'no action'})")
    return Feedback(ref, voice.good, voice.bad, marks=voice.marks)


def whole(values: Values) -> Values:
    """Return a record whose attributes are an object, in whatever shape they came."""
    inner = unpacked(values.get("event_attributes"))
    return {**values, "event_attributes": inner if isinstance(inner, dict) else {}}


def _beside(by_name: Opinion, value: Any, good_from: float | None) -> Opinion:
    """Return what feedback says beside an action whose name says something, too.

    Of a "helpful" with 1 or 0 it is known what they mean. A comment, or stars, leave it to the
    name.
    """
    number = None if isinstance(value, bool) else as_number(value)
    if good_from is None and number not in (None, 0, 1, -1):
        return by_name
    voice = opinion(value, 1 if good_from is None else good_from, ReadingTally())
    return by_name if voice == NO_OPINION else voice


def _feedback(values: Values, attributes: Values, config: LogConfig) -> tuple[str, Any]:
    """Return an event's feedback, which may be false or 0, behind its field; None for none."""
    if config.feedback_field is not None:
        return first_named(whole(values), config.feedback_field, ())
    inner = first_named(attributes, None, FEEDBACK)
    return inner if inner[0] else first_named(values, None, FLAT)


def _object(values: Values, attributes: Values) -> str:
    inside = {**values, "event_attributes": attributes} if attributes else values
    paths = ("event_attributes.object.object_id", "object_id", "object.object_id")
    return next((id_ for path in paths if (id_ := plain(at_path(inside, path)))), "")
