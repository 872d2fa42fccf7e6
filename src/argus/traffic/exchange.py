"""Records of a log in any format: a question with its time, results and feedback.

Feedback in numbers is thumbs or marks on a scale, and only the whole field shows which. 1 beside 0
or -1 alone is a thumb up. Beside 2 or 0.5 it is the worst mark, or the best: such marks count only
with `good_from`, the least good mark.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import NamedTuple

from argus.data.fields import FieldPath


class FeedbackMarks(NamedTuple):
    """Counts of 1, 0 and -1 in a record's field. Their meaning is known at the end of the log."""

    field: str
    ones: int = 0
    zeros: int = 0
    minuses: int = 0


@dataclass(slots=True)
class FeedbackScale:
    """Range of the numbers in a field of feedback, over the whole log."""

    n: int = 0
    ones: int = 0
    zeros: int = 0
    minuses: int = 0
    low: float = math.inf
    high: float = -math.inf

    def add(self, number: float) -> bool:
        """Count a number, and return whether it may be a thumb."""
        self.n += 1
        self.ones += number == 1
        self.zeros += number == 0
        self.minuses += number == -1
        self.low, self.high = min(self.low, number), max(self.high, number)
        return number in (1, 0, -1)

    @property
    def is_thumbs(self) -> bool:
        """Whether every number is a thumb, and both kinds of thumbs are there."""
        thumbs = self.ones + self.zeros + self.minuses
        return thumbs == self.n and self.ones > 0 and bool(self.zeros or self.minuses)

    def remark(self, field: str) -> str | None:
        """Return the reason why the field's marks count in no share, or None."""
        if self.is_thumbs:
            return None
        if self.low < -1 or self.high > 1 or self.n > self.ones + self.zeros + self.minuses:
            kind = f"from {self.low:g} to {self.high:g}, a scale"
        else:
            counts = {"-1": self.minuses, "0": self.zeros, "1": self.ones}
            only = " or ".join(name for name, n in counts.items() if n)
            kind = f"that are all {only}: good or bad cannot be told"
        return f"marks in {field!r} {kind}; they count only with --good-from"


@dataclass(frozen=True, slots=True)
class Passage:
    """One result of the log. id: empty for a text without an id."""

    id: str
    score: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question of the log, with its results and feedback.

    at: seconds since 1970, UTC, None without a time. results: best first, None where the log does
    not have them, () for an empty list. good, bad: signs of approval and disapproval, such as
    thumbs. clicks: ids of opened results, "" for one without an id. slices: values of the fields
    of `--by`. ref: the log's own id of the question. marks: feedback of 1, 0 or -1, see
    `ReadingTally.meant`. From `argus.traffic.read_traffic`, query, slices and passages are
    redacted, and
    user, session and ref are keyed hashes.
    """

    query: str
    at: float | None = None
    results: tuple[Passage, ...] | None = None
    good: int = 0
    bad: int = 0
    clicks: tuple[str, ...] = ()
    user: str = ""
    session: str = ""
    slices: tuple[str | None, ...] = ()
    ref: str = ""
    marks: FeedbackMarks | None = None


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback on a question in a record of its own.

    ref: the question's id in the log. click: id of the opened result.
    """

    ref: str
    good: int = 0
    bad: int = 0
    click: str = ""
    marks: FeedbackMarks | None = None


class Skip(Exception):
    """A record without a question. The message is the reason, for the counts."""


@dataclass
class ReadingTally:
    """Counts of a log's records as they are read.

    files: format by file. skipped: records without a question, by reason. remarks: doubts about
    other records, such as a bad time. fields: how many records had a role (question, results, ...)
    in which field. last: the same of the last record. unseen: named fields that no record had so
    far, with their options. scales: numbers by field of feedback.
    """

    files: dict[str, str] = field(default_factory=dict)
    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    fields: dict[str, Counter[str]] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)
    unseen: dict[FieldPath, str] = field(default_factory=dict)
    scales: dict[str, FeedbackScale] = field(default_factory=dict)

    def note(self, role: str, name: str) -> None:
        """Note the field that has a role in the current record."""
        self.last[role] = name
        self.fields.setdefault(role, Counter())[name] += 1

    def meant(self, marks: FeedbackMarks) -> tuple[int, int]:
        """Return how often marks approve and disapprove, by all records so far.

        Beside -1, 0 is neither.
        """
        scale = self.scales[marks.field]
        if not scale.is_thumbs:
            return 0, 0
        return marks.ones, marks.minuses if scale.minuses else marks.zeros


PATTERNS = ("%d/%b/%Y:%H:%M:%S %z", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S %Z", "%d.%m.%Y")
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Least number that is nano-, micro- or milliseconds, and how many of these make a second."""
BASIC = {4: "", 6: "", 8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Digits of ISO 8601's basic dates to their pattern. A year or a month alone is no time."""
OLDEST = 946_684_800.0
"""2000: a number that is earlier as seconds is read as a basic date if it looks like one."""
EARLIEST, LATEST = 0.0, 4_102_444_800.0
"""1970 to 2100: no time of a log lies outside."""


def seconds(value: object) -> float | None:
    """Read a time: ISO 8601, seconds to nanoseconds since 1970, or that of web servers.

    Returns seconds since 1970, or None if the value is no time. Without a zone it is UTC.
    """
    moment: float | datetime | None = None
    with suppress(ValueError, OverflowError):
        if isinstance(value, str):
            text = value.strip()
            is_number = text.replace(".", "", 1).isdecimal()
            moment = _of_number(float(text)) if is_number else _of_text(text)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            moment = _of_number(float(value))
        elif isinstance(value, date):
            moment = value if isinstance(value, datetime) else datetime.combine(value, time.min)
        if isinstance(moment, datetime):
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        return moment if moment is not None and EARLIEST < moment < LATEST else None
    return None


def _of_number(number: float) -> float | datetime | None:
    if not math.isfinite(number):
        return None
    moment = next((number / unit for least, unit in UNITS if number >= least), number)
    digits = f"{number:.0f}"
    is_date = len(digits) in BASIC and digits.startswith(("19", "20")) and number == int(number)
    if OLDEST <= moment < LATEST or not is_date:
        return moment
    pattern = BASIC[len(digits)]
    return datetime.strptime(digits, pattern) if pattern else None


def _of_text(text: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    for pattern in PATTERNS:
        with suppress(ValueError):
            return datetime.strptime(text, pattern)
    return None
