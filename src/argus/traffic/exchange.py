"""Define one logged question with its time, results and feedback (an exchange).

All formats of logs become exchanges (`argus.traffic.formats`). `ReadingTally` counts the read and
the skipped records.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

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
