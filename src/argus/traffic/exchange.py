"""A record of a log, whatever its format: one question, its results, and people's feedback.

Feedback in numbers is thumbs or marks on a scale, which only the whole field tells. 1 beside 0 or
-1, and nothing else in the field, is a thumb up. Beside 2 or 0.5 it is the worst mark, or the best:
nothing counts then, unless `good_from` says from where marks are good.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from argus.data.fields import FieldPath


@dataclass(frozen=True, slots=True)
class FeedbackMarks:
    """How often 1, 0 and -1 stand in a record's field: what they mean is known at the log's end."""

    field: str
    ones: int = 0
    zeros: int = 0
    minuses: int = 0


@dataclass(slots=True)
class FeedbackScale:
    """Which numbers a field of feedback holds in all of a log."""

    n: int = 0
    ones: int = 0
    zeros: int = 0
    minuses: int = 0
    low: float = math.inf
    high: float = -math.inf

    def add(self, number: float) -> bool:
        """Count a number; return whether it may be a thumb."""
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

    def meant(self, marks: FeedbackMarks) -> tuple[int, int]:
        """Return how often a record's marks approve, and how often not; 0 is neither beside -1."""
        if not self.is_thumbs:
            return 0, 0
        return marks.ones, marks.minuses if self.minuses else marks.zeros

    def remark(self, field: str) -> str | None:
        """Return why the field's marks count in no share; None where they do."""
        if self.is_thumbs:
            return None
        if self.low < -1 or self.high > 1 or self.n > self.ones + self.zeros + self.minuses:
            what = f"from {self.low:g} to {self.high:g}, a scale"
        else:
            only = " or ".join(
                name for name, n in (("-1", self.minuses), ("0", self.zeros), ("1", self.ones)) if n
            )
            what = f"that are all {only}: good or bad cannot be told"
        return f"marks in {field!r} {what}; they count only with --good-from"


@dataclass(frozen=True, slots=True)
class Passage:
    """One result as the log has it. id: empty where it has none; then the text has to tell."""

    id: str
    score: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question that somebody asked, and what came of it.

    query, slices and passages are redacted where they come from `argus.read_traffic`; user,
    session and ref are keyed hashes there.
    """

    query: str
    at: float | None = None
    """Seconds since 1970, UTC; None where the log does not say."""
    results: tuple[Passage, ...] | None = None
    """Best first; None where the log does not say, () where nothing came."""
    good: int = 0
    """Signs of approval, such as a thumb up; numbers without `good_from` are in `marks`."""
    bad: int = 0
    clicks: tuple[str, ...] = ()
    """Ids of results that were opened; "" where one was that the log does not name."""
    user: str = ""
    session: str = ""
    slices: tuple[str | None, ...] = ()
    """What the fields hold that figures are told by, in the order in which they are named."""
    ref: str = ""
    """The log's own id of the question: later records speak of it."""
    marks: FeedbackMarks | None = None
    """Feedback of 1, 0 or -1. Once the log is read, `ReadingTally.meant` tells what it means."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was made of a question, in a record of its own. ref: the question's id in the log."""

    ref: str
    good: int = 0
    bad: int = 0
    click: str = ""
    """Id of the result that was opened."""
    marks: FeedbackMarks | None = None


class Skip(Exception):
    """A record that is no question; the message says why, for the counts."""


@dataclass
class ReadingTally:
    """What became of a log's records, counted as they are read."""

    files: dict[str, str] = field(default_factory=dict)
    """Name of each file to its format."""
    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """Records that are no question, by reason."""
    remarks: Counter[str] = field(default_factory=Counter)
    """What is doubtful about records that are, such as a time that is none."""
    fields: dict[str, Counter[str]] = field(default_factory=dict)
    """What a record holds (question, results, ...) to its fields, each with its records."""
    last: dict[str, str] = field(default_factory=dict)
    """The same of the record that was read last: one field each."""
    unseen: dict[FieldPath, str] = field(default_factory=dict)
    """Fields that were named and no record had so far, each with its option."""
    scales: dict[str, FeedbackScale] = field(default_factory=dict)
    """Name of each field of feedback to the numbers in it."""

    def note(self, role: str, name: str) -> None:
        """Note the field that holds something in the record that is read now."""
        self.last[role] = name
        self.fields.setdefault(role, Counter())[name] += 1

    def meant(self, marks: FeedbackMarks) -> tuple[int, int]:
        """Return how often marks approve, and how often not, by all that was read so far."""
        return self.scales[marks.field].meant(marks)
