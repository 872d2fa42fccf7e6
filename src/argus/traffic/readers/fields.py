"""Fields of a record by name, by path, or by the names that are usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from argus.data.field_paths import FieldPath
from argus.traffic.exchange import ReadingTally

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
    """Return what stands at a path, see `FieldPath.look`."""
    return values[name] if name in values else FieldPath.named(name, name).look(values)


def first_of(
    values: Mapping[str, Any], own: str | None, usual: Sequence[str], tally: ReadingTally, role: str
) -> Any:
    """Return what the named field holds, else the first of the usual ones that holds anything.

    tally: notes which field that is. role: of what the record holds, such as "time".
    """
    name, value = first_named(values, own, usual)
    if value not in HOLDING_NOTHING:
        tally.note(role, name)
    return value


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
