"""OpenSearch's User Behavior Insights: queries with what came, and events that speak of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from argus.traffic.config import LogConfig
from argus.traffic.exchange import Exchange, Feedback, ReadingTally, Skip
from argus.traffic.readers.common import beside
from argus.traffic.readers.fields import at_path
from argus.traffic.readers.streams import Values
from argus.traffic.readers.values import opinion, passages, question

HITS = "query_response_hit_ids"
CLICKS = ("click", "item_click", "product_click", "result_click", "view_item", "select_content",
          "add_to_cart", "purchase", "buy")  # fmt: skip
"""Actions on a result; others that name an object, such as a hover, are none."""


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
    text = question(values.get(config.query_field or "user_query"))
    results = passages(values.get(config.results_field or HITS), tally)
    yield Exchange(text, results=results, **beside(values, config, tally, results))


def _event(values: Values, config: LogConfig, tally: ReadingTally) -> Feedback:
    action = str(values.get("action_name") or "").lower()
    ref = values.get("query_id")
    if not isinstance(ref, str) or not ref:
        raise Skip("events that name no query")
    if action in CLICKS:
        return Feedback(ref, click=_object(values))
    attributes = values.get("event_attributes")
    inner: Mapping[str, Any] = attributes if isinstance(attributes, Mapping) else values
    value = at_path(inner, "feedback") or at_path(inner, "thumb") or action
    good, bad = opinion(value, config.good_from, ReadingTally())
    if not good and not bad:
        raise Skip(f"events of no interest ({action or 'no action'})")
    return Feedback(ref, good, bad)


def _object(values: Values) -> str:
    paths = ("event_attributes.object.object_id", "object_id", "object.object_id")
    return str(next((value for path in paths if (value := at_path(values, path))), ""))
