"""Fields of a record by name, by path, or by the names that are usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

TIMES = (
    "timestamp", "time", "ts", "at", "created_at", "datetime", "date", "@timestamp", "start_time",
    "startTime", "startTimeUnixNano", "start_time_unix_nano", "created", "event_time",
)  # fmt: skip
USERS = ("user", "user_id", "userId", "client_id", "account", "user.id")
SESSIONS = ("session", "session_id", "sessionId", "conversation_id", "thread_id", "session.id")
FEEDBACK = ("feedback", "thumb", "thumbs", "vote", "rating", "user_feedback", "helpful", "reaction")
CLICKS = ("clicked_ids", "clicked_id", "clicks", "clicked", "click")
HOLDING_NOTHING: tuple[Any, ...] = (None, "", [])
"""Values of a field that are passed over for the next of its usual names."""
REFS = ("query_id", "request_id", "qid", "_id", "id", "trace_id")


def at_path(values: Mapping[str, Any], name: str) -> Any:
    """Return what a column holds, or stands where a dotted path leads; None for nothing."""
    if name in values:
        return values[name]
    if "." not in name:
        return None
    inner: Any = values
    for step in name.split("."):
        inner = inner.get(step) if isinstance(inner, Mapping) else None
    return inner


def first_of(values: Mapping[str, Any], own: str | None, usual: Sequence[str]) -> Any:
    """Return the field that was named, or else the first of the usual ones that holds anything."""
    return first_named(values, own, usual)[1]


def first_named(
    values: Mapping[str, Any], own: str | None, usual: Sequence[str]
) -> tuple[str, Any]:
    """Return what `first_of` returns behind the field's name; the name is empty for nothing."""
    if own is not None:
        return own, at_path(values, own)
    for name in usual:
        value = values.get(name)
        if value not in HOLDING_NOTHING:
            return name, value
    return "", None


def plain(value: object) -> str | None:
    """Return a value that figures can be told by, as text; None for nothing and for objects."""
    if value is None or value == "" or isinstance(value, Mapping | list):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
