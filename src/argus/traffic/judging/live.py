"""Judge grade by grade, with estimates at once.

The folder alone is read: what was drawn, the questions with their risk, the table. Neither the
corpus nor the log is opened, so an estimate takes no longer than its arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from argus.data import tables
from argus.data.folders import ArtifactFolder, read_section
from argus.errors import InputError
from argus.traffic.config import HIGHEST, JudgingConfig
from argus.traffic.judging.estimates import Draw, JudgingSummary, judging_summary
from argus.traffic.judging.grading import Judged
from argus.traffic.judging.job import JOB, TABLE
from argus.traffic.judging.sample import ServedQuestion, draw_sample, read_sample
from argus.traffic.judging.table import (
    Filled,
    Pair,
    ToGrade,
    changing_table,
    read_filled,
    read_rows_to_grade,
    write_table,
)

NOT_READ = ("",)
"""Stands for the documents of questions that were not drawn: there were some."""
TABLES_KEPT = 4


@dataclass(frozen=True)
class LiveJudging:
    """What is judged in a folder, as it stands."""

    folder: Path
    draw: Draw
    filled: Filled
    """What the table holds."""
    began: JudgingSummary
    """As the job wrote it last."""

    @cached_property
    def grades(self) -> Mapping[Pair, int]:
        """The grade of each document that has one: that of people, else a model's."""
        models = {pair: one.grade for pair, one in self.filled.by_model.items()}
        return {**models, **self.filled.grades}

    @classmethod
    def of(cls, folder: Path) -> LiveJudging | None:
        """Read a folder; None where nothing was drawn. InputError for damaged files."""
        files = ArtifactFolder(folder)
        drawn, table = read_sample(files), folder / TABLE
        began = read_section(JudgingSummary, folder, JOB)
        if drawn is None or began is None or not table.is_file():
            return None
        rows = read_rows_to_grade(table)
        questions = _questions(folder / f"{JOB}.parquet", rows)
        times = {q.id: q.times for q in questions if q.documents}
        sample = draw_sample(times, drawn["questions"], drawn["seed"])
        there = {row.question_id for row in rows}
        if lost := [id_ for id_ in sample.questions if id_ not in there]:
            raise InputError(
                f"{len(lost)} drawn questions are not in the table, such as {lost[0]!r}",
                expected="all rows that were drawn", fix="Run argus traffic judge again.",
                where=TABLE,
            )  # fmt: skip
        draw = Draw(questions, sample, rows, began.get("notes", ()))
        filled = read_filled(table, {row.pair: row for row in rows})
        return cls(folder, draw, filled, began)

    def rows_of(self, question: str) -> list[ToGrade]:
        """Return the documents of a question that are to be graded, best ranked first."""
        rows = [row for row in self.draw.rows if row.question_id == question]
        return sorted(rows, key=lambda row: row.rank)

    def is_judged(self, question: str) -> bool:
        """Return whether all documents of a drawn question have a grade."""
        return all(row.pair in self.grades for row in self.rows_of(question))

    def next_after(self, question: str) -> str | None:
        """Return the next drawn question that is not judged, from the first again at the end."""
        drawn = self.draw.drawn
        at = drawn.index(question) + 1 if question in drawn else 0
        open_ones = (q for q in [*drawn[at:], *drawn[:at]] if not self.is_judged(q))
        return next(open_ones, None)

    def graded(self, grades: Mapping[Pair, int | None]) -> LiveJudging:
        """Write grades of people into the table, None takes one out; return what is judged then.

        Others may have written meanwhile: their grades stay. Raises InputError for a document that
        is not to be judged, and for no grade.
        """
        belonging = {row.pair: row for row in self.draw.rows}
        for (question, document), grade in grades.items():
            if (question, document) not in belonging:
                raise InputError(
                    f"document {document!r} for question {question!r}",
                    expected="a row of the table that was drawn",
                    fix="Reload the page: another draw may be in the folder.",
                    where=self.folder / TABLE,
                )
            if grade is not None and not 0 <= grade <= HIGHEST:
                raise InputError(
                    repr(grade), expected=f"a grade from 0 to {HIGHEST}", fix="Correct it.",
                    where="grade",
                )  # fmt: skip
        table = self.folder / TABLE
        with changing_table(table):
            rows = read_rows_to_grade(table)
            content = read_filled(table, {row.pair: row for row in rows})
            changed = {**content.grades, **grades}
            given = {pair: grade for pair, grade in changed.items() if grade is not None}
            content = replace(content, grades=given)
            write_table(table, rows, content)
        return replace(self, filled=content)

    def summary(self) -> JudgingSummary:
        """Return what the grades come to now, as `argus traffic judge` would."""
        began = self.began
        config = JudgingConfig(
            budget=began["budget"], k=began["k"], relevant_from=began["relevant_from"]
        )
        judged = Judged.of(self.filled.votes, self.filled.by_model)
        return judging_summary(
            self.draw, config, judged, began["unknown"], began["risk"], self.folder / TABLE
        )


def _questions(path: Path, rows: Sequence[ToGrade]) -> list[ServedQuestion]:
    """Return all questions of the log, with the documents of those that were drawn."""
    state = path.stat()
    texts = {row.question_id: row.question for row in rows}
    documents: dict[str, list[tuple[int, str]]] = {}
    for row in rows:
        documents.setdefault(row.question_id, []).append((row.rank, row.document_id))
    drawn = {id_: tuple(doc for _, doc in sorted(pairs)) for id_, pairs in documents.items()}
    return [
        ServedQuestion(
            id_, texts.get(id_, ""),
            drawn.get(id_, NOT_READ if served else ()), risk, times,
        )
        for id_, times, risk, served in _columns(path, state.st_mtime_ns, state.st_size)
    ]  # fmt: skip


@lru_cache(maxsize=TABLES_KEPT)
def _columns(path: Path, _changed: int, _size: int) -> list[tuple[str, int, float | None, int]]:
    """Return id, asks, risk and what was served of all; kept until the file changes."""
    table = tables.read_table(path, ["query_id", "asks", "risk", "served"])
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
