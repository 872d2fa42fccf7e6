"""Count problems in the records of a file: how often, and where first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Any

EXAMPLES = 3
"""Most examples of each kind."""
WIDTH = 80


class Problem(StrEnum):
    """A kind of trouble, and the remedy taken, in words after a count: "3 passages without id".

    N-grams are counted per passage.
    """

    RECORDS = "records that could not be read, left out"
    CHARACTERS = "records with broken characters, replaced by a question mark"
    NO_QUESTION_ID = "questions without id, not looked up in the given judgements or answers"
    ANSWERS = "answers that are no text or have no letter or digit, left out"
    NO_ANSWERS = "questions without answers"
    POSITIVES = "positives that could not be read, left out"
    NO_POSITIVES = "questions without positives"
    NO_PASSAGES = "questions without passages"
    PASSAGES = "passages that could not be read, left out"
    NO_ID = "passages without id, compared by title and text"
    TWICE = "passages listed twice, counted once, at the better rank"
    ORDER = "lists not in the order of their scores, taken in the file's order"
    NO_KEYS = "passages without n-grams"
    KEYS = "n-grams that could not be read, left out"
    KEYS_TWICE = "n-grams listed twice for a passage, their weights added"
    NO_FREQUENCY = "n-grams without frequency"
    FREQUENCIES = "n-grams given with several frequencies, the first kept"
    NUMBERS = "numbers written as text, read as numbers"


Note = Callable[[Problem, str, object], None]
"""Count a problem at a place of one record, where a value stands."""


class Problems:
    """Counts of problems, each with its first examples: record, place in it, and the value there.

    Merging those of several processes gives the same whatever each of them read and in which order,
    as long as a record is read by one.
    """

    def __init__(self) -> None:
        self.counts: Counter[Problem] = Counter()
        self.examples: dict[Problem, list[tuple[int, str, str]]] = {}

    def of_record(self, number: int) -> Note:
        """Return the function that notes problems of a record. number: of it, from 0."""

        def note(kind: Problem, place: str, value: object) -> None:
            self.counts[kind] += 1
            examples = self.examples.setdefault(kind, [])
            if len(examples) < EXAMPLES or number < examples[-1][0]:
                text = value if isinstance(value, str) else repr(value)
                shown = text if len(text) <= WIDTH else text[:WIDTH] + "..."
                self._keep(kind, [(number, place, shown)])

        return note

    def merge(self, other: Problems) -> None:
        """Add the problems of other records."""
        self.counts += other.counts
        for kind, examples in other.examples.items():
            self._keep(kind, examples)

    def listed(self) -> dict[Problem, dict[str, Any]]:
        """Return by kind, in their order, what it is, the count, and the first example."""
        listed = {}
        for kind in filter(self.counts.get, Problem):
            number, place, text = self.examples[kind][0]
            where = f"[{number}].{place}" if place else f"[{number}]"
            listed[kind] = {
                "what": kind.value, "count": self.counts[kind], "first": f"{where}: {text}",
            }  # fmt: skip
        return listed

    def _keep(self, kind: Problem, examples: list[tuple[int, str, str]]) -> None:
        merged = [*self.examples.get(kind, ()), *examples]
        self.examples[kind] = sorted(merged, key=lambda example: example[0])[:EXAMPLES]
