"""What records of every format have beside question and results: time, people, slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from argus.traffic.config import LogConfig
from argus.traffic.exchange import Passage, ReadingTally
from argus.traffic.marks import FeedbackMarks
from argus.traffic.readers import fields as f
from argus.traffic.readers.clicks import clicks
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
    marks: FeedbackMarks | None


def beside(
    values: Mapping[str, Any],
    config: LogConfig,
    tally: ReadingTally,
    results: tuple[Passage, ...] | None,
) -> Beside:
    """Read what stands beside question and results, by the names that are given or usual."""
    stamp = f.first_of(values, config.time_field, f.TIMES, tally, "time")
    at = seconds(stamp)
    if at is None and stamp not in (None, ""):
        tally.remarks[NO_TIME] += 1
    feedback = f.first_of(values, config.feedback_field, f.FEEDBACK, tally, "feedback")
    field = tally.last.get("feedback", "")
    good, bad, marks = opinion(feedback, config.good_from, tally, field)
    value = f.first_of(values, None, f.CLICKS, tally, "clicks")
    name = tally.last.get("clicks", "")
    return {
        "at": at,
        "good": good,
        "bad": bad,
        "clicks": clicks(name, value, results) if name else (),
        "user": f.plain(f.first_of(values, config.user_field, f.USERS, tally, "user")) or "",
        "session": f.plain(f.first_of(values, config.session_field, f.SESSIONS, tally, "session"))
        or "",
        "slices": tuple(f.plain(f.at_path(values, name)) for name in config.by),
        "ref": f.plain(f.first_named(values, None, f.REFS)[1]) or "",
        "marks": marks,
    }
