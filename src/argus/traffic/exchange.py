"""Define one logged question with its time, results and feedback (an exchange), and parse times.

All formats of logs become exchanges (`argus.traffic.formats`). `ReadingTally` counts the read and
the skipped records, and `seconds` reads a time in any common form.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time

from argus.data.fields import FieldPath


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
    thumbs. clicks: opened results. slices: values of the fields of `--by`. ref: the log's own id of
    the question. From `argus.traffic.read_traffic`, query, slices and passages are redacted, and
    ref is a keyed hash.
    """

    query: str
    at: float | None = None
    results: tuple[Passage, ...] | None = None
    good: int = 0
    bad: int = 0
    clicks: int = 0
    slices: tuple[str | None, ...] = ()
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback on a question in a record of its own. ref: the question's id in the log."""

    ref: str
    good: int = 0
    bad: int = 0
    clicks: int = 0


class Skip(Exception):
    """A record without a question. The message is the reason, for the counts."""


@dataclass
class ReadingTally:
    """Counts of a log's records as they are read.

    files: format by file. skipped: records without a question, by reason. remarks: doubts about
    other records, such as a bad time. fields: how many records had a role (question, results, ...)
    in which field. last: the same of the last record. unseen: named fields that no record had so
    far, with their options.
    """

    files: dict[str, str] = field(default_factory=dict)
    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    fields: dict[str, Counter[str]] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)
    unseen: dict[FieldPath, str] = field(default_factory=dict)

    def note(self, role: str, name: str) -> None:
        """Note the field that has a role in the current record."""
        self.last[role] = name
        self.fields.setdefault(role, Counter())[name] += 1


PATTERNS = ("%d/%b/%Y:%H:%M:%S %z", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S %Z", "%d.%m.%Y")
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Least number that is nano-, micro- or milliseconds, and how many of these make a second."""
BASIC = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Digits of ISO 8601's basic dates to their pattern."""
OLDEST, LATEST = 946_684_800.0, 4_102_444_800.0
"""2000 to 2100: no number of seconds in a log lies outside."""


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
        return moment if moment is not None and 0 < moment < LATEST else None
    return None


def _of_number(number: float) -> float | datetime | None:
    moment = next((number / unit for least, unit in UNITS if number >= least), number)
    if OLDEST <= moment < LATEST:
        return moment
    pattern = BASIC.get(len(digits := f"{number:.0f}"))
    return datetime.strptime(digits, pattern) if pattern else None


def _of_text(text: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    for pattern in PATTERNS:
        with suppress(ValueError):
            return datetime.strptime(text, pattern)
    return None
