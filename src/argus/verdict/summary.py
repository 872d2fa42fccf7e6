"""What a verdict holds: counts, what each is worth, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class VerdictLevel(StrEnum):
    """What a count comes to against its bounds."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, kw_only=True, slots=True)
class CountBounds:
    """Where a share of what is found is good and where it is bad; between them it is doubtful.

    good: share from which it is good, inclusive.
    bad: share up to which it is bad, inclusive.
    why: where the bounds come from, in one sentence.
    """

    good: float
    bad: float
    why: str

    def level(self, low: float, high: float) -> VerdictLevel:
        """Return what an interval of the share comes to: sure of a level, or doubtful.

        low, high: of its 95% interval; equal where everything was counted.
        """
        if low >= self.good:
            return VerdictLevel.GOOD
        return VerdictLevel.BAD if high <= self.bad else VerdictLevel.DOUBTFUL

    @property
    def words(self) -> str:
        """The bounds as a person reads them."""
        return f"good: at least {100 * self.good:g}%; bad: at most {100 * self.bad:g}%"


@dataclass(frozen=True, slots=True)
class Validity:
    """What a figure tells of the real questions that fail, and where that was measured.

    kind: measured here, measured elsewhere, or not validated.
    text: what it tells of the real questions that fail.
    """

    kind: Literal["measured here", "measured elsewhere", "not validated"]
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictCount:
    """One line of the verdict: how many of how many.

    name: by_itself, by_its_words, by_need or in_force_served.
    question: what is counted, as a question.
    total: items that it is of, 0 where it is not measured.
    count: how many of them are found.
    unit: what is counted.
    low, high: 95% interval of the share.
    level: good, doubtful, bad or not measured.
    source: command that counted it.
    meaning: what the count says, in words.
    validity: what the figure tells of real questions.
    command: what measures it, where it is not measured.
    """

    name: str
    question: str
    total: int = 0
    count: int = 0
    unit: str = ""
    low: float = 0.0
    high: float = 1.0
    level: VerdictLevel = VerdictLevel.NOT_MEASURED
    bounds: CountBounds | None = None
    source: str = ""
    meaning: str = ""
    validity: tuple[Validity, ...] = ()
    command: str = ""

    @property
    def share(self) -> float | None:
        """The share that is counted; None where nothing was measured."""
        return self.count / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class VerdictAction:
    """One thing to do: a command to copy, what it is expected to bring, and the evidence.

    title: what to do.
    command: command to copy.
    evidence: what speaks for it.
    brings: share of questions, records or documents that it is expected to mend.
    """

    title: str
    command: str
    evidence: str
    brings: float = 0.0


@dataclass(frozen=True, slots=True)
class FolderVerdict:
    """What a folder of results comes to.

    answer: what it comes to, in one sentence.
    explanations: what must be said where two figures seem to contradict each other.
    """

    answer: str
    counts: tuple[VerdictCount, ...]
    explanations: tuple[str, ...]
    actions: tuple[VerdictAction, ...]

    @property
    def is_measured(self) -> bool:
        """Whether any of the counts was measured, or what was tells what to do next."""
        return bool(self.actions) or any(count.total for count in self.counts)
