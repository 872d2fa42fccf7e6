"""What records of every format have beside question and results: time, people, slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from argus.traffic.config import LogConfig
from argus.traffic.exchange import ReadingTally
from argus.traffic.readers import fields as f
from argus.traffic.readers.times import seconds
from argus.traffic.readers.values import opinion

NO_TIME = "a time that is none"


class Beside(TypedDict):
    """Fields of an `Exchange` that every format reads alike."""

    at: float | None
    good: int
    bad: int
    clicks: tuple[str, ...]
    user: str
    session: str
    slices: tuple[str | None, ...]
    ref: str


def beside(values: Mapping[str, Any], config: LogConfig, tally: ReadingTally) -> Beside:
    """Read what stands beside question and results, by the names that are given or usual."""
    stamp = f.first_of(values, config.time_field, f.TIMES)
    at = seconds(stamp)
    if at is None and stamp not in (None, ""):
        tally.remarks[NO_TIME] += 1
    good, bad = opinion(
        f.first_of(values, config.feedback_field, f.FEEDBACK), config.good_from, tally
    )
    clicks = f.first_of(values, None, f.CLICKS)
    return {
        "at": at,
        "good": good,
        "bad": bad,
        "clicks": _ids(clicks) if clicks is not None else (),
        "user": f.plain(f.first_of(values, config.user_field, f.USERS)) or "",
        "session": f.plain(f.first_of(values, config.session_field, f.SESSIONS)) or "",
        "slices": tuple(f.plain(f.at_path(values, name)) for name in config.by),
        "ref": f.plain(f.first_of(values, None, f.REFS)) or "",
    }


def _ids(value: Any) -> tuple[str, ...]:
    """Return the ids of what was opened; a mark that something was, which names none, has none."""
    if isinstance(value, list | tuple):
        return tuple(str(one) for one in value if isinstance(one, str | int))
    if isinstance(value, bool | float | Mapping):
        return ()
    return (str(value),)
