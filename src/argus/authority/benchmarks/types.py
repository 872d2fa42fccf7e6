"""What a benchmark of controlling-authority retrieval is made of (CAR Def. 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from argus.authority.records import Record
from argus.authority.rules import Edge, Rule


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold chain.

    gold: the controlling documents, front(cl(anchor)). anchor: the documents that the question is
    about. chain: all gold documents, oldest first (ProvRec); anchor and gold where nothing else is
    known. equivalent: documents that say the same as a gold one, to the letter, gold included.
    scope: the entities that it asks about. answer: a*, "" where the benchmark has none. hop: T0 to
    T3, or "".
    """

    id: str
    text: str
    gold: tuple[str, ...]
    anchor: tuple[str, ...]
    chain: tuple[str, ...]
    equivalent: tuple[str, ...] = ()
    scope: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    hop: str = ""

    @property
    def has_derivable_answer(self) -> bool:
        """Whether it has an answer and the scope to derive one in; else Theorem 4 judges."""
        return bool(self.answer and self.scope)


@dataclass(frozen=True)
class Benchmark:
    """Records, questions, and the relation between the records.

    edges: the gold supersessions, by which a served set is judged. rules: what a pipeline may know
    of the relation; empty where only the edges tell. file: that it was read from, if one.
    """

    name: str
    records: Sequence[Record]
    questions: Sequence[Question]
    edges: Sequence[Edge]
    rules: Sequence[Rule] = ()
    hypotheticals: Mapping[str, str] = field(default_factory=dict)
    """Question id to a stored hypothetical document (HyDE)."""
    file: Path | None = field(default=None, compare=False)
