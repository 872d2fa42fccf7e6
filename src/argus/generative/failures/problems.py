"""Count problems in the records of a file: how often, and where first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

EXAMPLES = 3
"""Most examples of each kind."""
WIDTH = 80


class Problem(StrEnum):
    """A kind of trouble. `MESSAGES` names the trouble and the remedy taken."""

    RECORDS = "records_unreadable"
    CHARACTERS = "characters"
    NO_QUESTION_ID = "questions_without_id"
    ANSWERS = "answers_unreadable"
    NO_ANSWERS = "questions_without_answers"
    POSITIVES = "positives_unreadable"
    NO_POSITIVES = "questions_without_positives"
    NO_PASSAGES = "questions_without_passages"
    PASSAGES = "passages_unreadable"
    NO_ID = "passages_without_id"
    TWICE = "passages_twice"
    ORDER = "lists_out_of_order"
    NO_KEYS = "passages_without_ngrams"
    KEYS = "ngrams_unreadable"
    KEYS_TWICE = "ngrams_twice"
    NO_FREQUENCY = "ngrams_without_frequency"
    FREQUENCIES = "ngrams_of_several_frequencies"
    NUMBERS = "numbers_as_text"


MESSAGES = {
    Problem.RECORDS: "records that could not be read, left out",
    Problem.CHARACTERS: "records with broken characters, replaced by a question mark",
    Problem.NO_QUESTION_ID: (
        "questions without id, not looked up in the given judgements or answers"
    ),
    Problem.ANSWERS: "answers that are no text or have no letter or digit, left out",
    Problem.NO_ANSWERS: "questions without answers",
    Problem.POSITIVES: "positives that could not be read, left out",
    Problem.NO_POSITIVES: "questions without positives",
    Problem.NO_PASSAGES: "questions without passages",
    Problem.PASSAGES: "passages that could not be read, left out",
    Problem.NO_ID: "passages without id, compared by title and text",
    Problem.TWICE: "passages listed twice, counted once, at the better rank",
    Problem.ORDER: "lists not in the order of their scores, taken in the file's order",
    Problem.NO_KEYS: "passages without n-grams",
    Problem.KEYS: "n-grams that could not be read, left out",
    Problem.KEYS_TWICE: "n-grams listed twice for a passage, their weights added",
    Problem.NO_FREQUENCY: "n-grams without frequency",
    Problem.FREQUENCIES: "n-grams given with several frequencies, the first kept",
    Problem.NUMBERS: "numbers written as text, read as numbers",
}
"""Words for each, after a count: "3 passages without n-grams". N-grams are counted per passage."""


@dataclass(frozen=True, slots=True)
class Example:
    """Place of a problem. number: of the record, from 0. place: in it. text: the value there."""

    number: int
    place: str
    text: str

    @property
    def where(self) -> str:
        """As `[12].ctxs[3]`."""
        return f"[{self.number}]" + (f".{self.place}" if self.place else "")


class Problems:
    """Counts of problems, each with its first examples.

    Merging those of several processes gives the same whatever each of them read and in which order,
    as long as a record is read by one.
    """

    def __init__(self) -> None:
        self.counts: dict[Problem, int] = {}
        self.examples: dict[Problem, list[Example]] = {}

    def note(self, kind: Problem, number: int, place: str, value: object) -> None:
        """Count a problem of record `number`. The value there is shown as Python writes it."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        examples = self.examples.setdefault(kind, [])
        if len(examples) == EXAMPLES and number >= examples[-1].number:
            return
        text = value if isinstance(value, str) else repr(value)
        shown = text if len(text) <= WIDTH else text[:WIDTH] + "..."
        self._keep(kind, [Example(number, place, shown)])

    def merge(self, other: Problems) -> None:
        """Add the problems of other records."""
        for kind, count in other.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + count
            self._keep(kind, other.examples[kind])

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return name to message, count and examples, in the order of the kinds."""
        return {
            kind.value: {
                "message": MESSAGES[kind],
                "count": self.counts[kind],
                "examples": [{"where": e.where, "found": e.text} for e in self.examples[kind]],
            }
            for kind in Problem
            if kind in self.counts
        }

    def _keep(self, kind: Problem, examples: Iterable[Example]) -> None:
        merged = [*self.examples.get(kind, ()), *examples]
        self.examples[kind] = sorted(merged, key=lambda example: example.number)[:EXAMPLES]


@dataclass(frozen=True, slots=True)
class Notes:
    """The problems of one record."""

    problems: Problems
    number: int

    def __call__(self, kind: Problem, place: str, value: object) -> None:
        """Count a problem at a place of the record."""
        self.problems.note(kind, self.number, place, value)
