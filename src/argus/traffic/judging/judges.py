"""Who graded what: people, in the table's `grade`, and a model, in columns of its own beside it.

What people say counts; a model's grade counts where there is none of theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from argus.data.artifacts import SUMMARY, ArtifactFolder
from argus.traffic.judging.asking import one_grade
from argus.traffic.judging.table import (
    MODEL_GRADE,
    MODEL_NAME,
    Filled,
    ModelGrade,
    Pair,
    ToGrade,
    read_filled,
)

PEOPLE = "people"


@dataclass(frozen=True)
class Poll:
    """What a model was asked now: its name, which documents, all votes, why others have none."""

    name: str
    pairs: Set[Pair]
    grades: Mapping[Pair, tuple[int, ...]]
    failed: Mapping[Pair, str]


@dataclass(frozen=True)
class Judged:
    """All grades of each document, who gave how many, and why others have none."""

    grades: Mapping[Pair, tuple[int, ...]]
    judges: Mapping[str, int]
    failed: Mapping[Pair, str]

    @property
    def judge(self) -> str:
        """Who judges, in words; with how many documents each, where there are several."""
        if len(self.judges) < 2:
            return next(iter(self.judges), PEOPLE)
        return " and ".join(f"{name} ({n:,} documents)" for name, n in self.judges.items())


def judged_by(
    people: Mapping[Pair, tuple[int, ...]],
    by_model: Mapping[Pair, ModelGrade],
    poll: Poll | None = None,
) -> Judged:
    """Return what people and models come to together. by_model: with what was asked now."""
    grades = {pair: (one.grade,) for pair, one in by_model.items() if one.grade is not None}
    votes = {} if poll is None else poll.grades
    whole = {**grades, **votes, **people}
    judges = Counter(_who(pair, people, by_model) for pair in whole)
    if poll is not None and not judges:
        judges[poll.name] = 0
    ordered = sorted(judges.items(), key=lambda one: (one[0] != PEOPLE, one[0]))
    return Judged(whole, dict(ordered), {} if poll is None else poll.failed)


def _who(
    pair: Pair, people: Mapping[Pair, tuple[int, ...]], by_model: Mapping[Pair, ModelGrade]
) -> str:
    one = by_model.get(pair)
    if pair not in people:
        assert one is not None
        return one.model
    return PEOPLE if one is None or one.grade is not None else f"{one.model}, or people after it"


def with_poll(by_model: Mapping[Pair, ModelGrade], poll: Poll | None) -> dict[Pair, ModelGrade]:
    """Return a model's grades with those of now; what it was asked again is as it says now."""
    if poll is None:
        return dict(by_model)
    before = {pair: one for pair, one in by_model.items() if pair not in poll.pairs}
    now = {pair: ModelGrade(poll.name, one_grade(votes)) for pair, votes in poll.grades.items()}
    return {**before, **now}


def as_votes(grades: Mapping[Pair, int]) -> dict[Pair, tuple[int, ...]]:
    """Return grades as the votes of one person."""
    return {pair: (grade,) for pair, grade in grades.items()}


def read_kept(path: Path, belonging: Mapping[Pair, ToGrade], job: str) -> Filled:
    """Return what the table in a folder of results holds.

    Earlier versions wrote a model's grades among those of people, and into the summary that a
    model judged. Such grades stay; that they are the model's, or of people after it, is noted.
    """
    content = read_filled(path, belonging)
    if MODEL_NAME in content.header or (model := _earlier_model(path.parent, job)) is None:
        return content
    return replace(
        content,
        by_model={pair: ModelGrade(model, None) for pair in content.grades},
        header=(*content.header, MODEL_GRADE, MODEL_NAME),  # who grades all anew is told by them
    )


def _earlier_model(folder: Path, job: str) -> str | None:
    section = ArtifactFolder(folder).read_json(SUMMARY).get(job)
    judge = section.get("judge") if isinstance(section, dict) and "judges" not in section else None
    return judge if isinstance(judge, str) and judge != PEOPLE else None
