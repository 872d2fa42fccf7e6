"""Feedback in numbers: thumbs, or marks on a scale; which of them, the whole field tells.

1 beside 0 or -1, and nothing else in the field, is a thumb up. Beside 2 or 0.5 it is the worst
mark, or the best: nothing counts then, unless it is said from where marks are good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


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
