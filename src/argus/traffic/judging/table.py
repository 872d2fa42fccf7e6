"""The table that people fill in: one row per question and document, a grade in each."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from argus.data.artifacts import write_whole
from argus.data.csv_cells import as_written, harmless
from argus.data.locks import waiting_for
from argus.data.rows import Row, read_rows
from argus.data.whole_numbers import whole_number
from argus.errors import InputError
from argus.traffic.judging.config import HIGHEST

COLUMNS = ("question_id", "rank", "document_id", "grade", "question", "document")
KEY = ("question_id", "document_id")
Pair = tuple[str, str]
"""Ids of a question and of a document."""
_WORDS = {"": None, "?": None, "no": 0, "n": 0, "yes": HIGHEST, "y": HIGHEST}
_NOT_THERE = "(not in the corpus)"


@dataclass(frozen=True, slots=True)
class ToGrade:
    """A document as a judge sees it. text: None where the corpus does not have it."""

    question_id: str
    question: str
    rank: int
    document_id: str
    text: str | None

    @property
    def pair(self) -> Pair:
        """What is graded."""
        return self.question_id, self.document_id


def write_table(path: Path, rows: Iterable[ToGrade], grades: Mapping[Pair, int]) -> None:
    """Write the table, tabs between columns, with the grades that there are; whole or not at all.

    A spreadsheet opens it: it begins with a byte order mark, and no cell is a formula.
    """
    out = StringIO()
    write = csv.writer(out, delimiter="\t", lineterminator="\n").writerow
    write(COLUMNS)
    for row in rows:
        text = _NOT_THERE if row.text is None else _one_line(row.text)
        grade = grades.get(row.pair, "")
        question = _one_line(row.question)
        question_id, document_id = harmless(row.question_id), harmless(row.document_id)
        write([question_id, row.rank, document_id, grade, question, text])
    write_whole(path, "\ufeff" + out.getvalue())


def changing_table(path: Path) -> AbstractContextManager[None]:
    """Hold a table while it is read, changed and written again, so that no grade is lost.

    Raises ArgusError where another process holds it for a minute.
    """
    lock = path.with_name(f".{path.name}.lock")
    return waiting_for(lock, busy=f"{path} is being written to by others; try again.")


def read_rows_to_grade(path: Path) -> list[ToGrade]:
    """Return the rows of a table as they were written, grades aside; InputError for another file.

    Texts are as the table has them: on one line, cut to what a judge was shown.
    """
    rows = []
    for row in read_rows(path):
        values = {name: as_written(_cell(row, name)) for name in COLUMNS}
        rank = whole_number(values["rank"])
        if rank is None or rank < 0 or not all(values[name] for name in KEY):
            raise InputError(
                "is no row to grade", expected=", ".join(COLUMNS),
                fix="Save it with tabs between columns (.tsv), its first line as it was.",
                where=row.at(),
            )  # fmt: skip
        rows.append(
            ToGrade(
                values["question_id"], values["question"], rank,
                values["document_id"], values["document"],
            )
        )  # fmt: skip
    return rows


def read_table(path: Path, belonging: Mapping[Pair, ToGrade]) -> dict[Pair, int]:
    """Read the grades of a filled table; a row without one is left out.

    Grades are 0 to 3, or yes and no. Raises InputError, with the line, for a document that was not
    to be judged for that question, one that is graded twice and differently, and any other grade.
    """
    grades: dict[Pair, int] = {}
    lines: dict[Pair, Row] = {}
    for row in read_rows(path):
        pair = _pair(row, belonging)
        grade = _grade(row)
        if grade is None:
            continue
        if pair in grades and grades[pair] != grade:
            raise InputError(
                f"document {pair[1]!r} has grade {grade} for question {pair[0]!r}, and "
                f"{grades[pair]} in {lines[pair].at()}",
                expected="one grade of each; another person's table is a file of its own",
                fix="Correct one of the two.",
                where=row.at("grade"),
            )
        grades[pair], lines[pair] = grade, row
    return grades


def read_tables(
    paths: Sequence[Path], belonging: Mapping[Pair, ToGrade]
) -> dict[Pair, tuple[int, ...]]:
    """Return all grades of each document, a person's table after the other."""
    grades: dict[Pair, tuple[int, ...]] = {}
    for path in paths:
        for pair, grade in read_table(path, belonging).items():
            grades[pair] = (*grades.get(pair, ()), grade)
    return grades


def _pair(row: Row, belonging: Mapping[Pair, ToGrade]) -> Pair:
    lacking = [name for name in (*KEY, "grade") if name not in row.values]
    if lacking:
        raise InputError(
            f"no column {', '.join(map(repr, lacking))} among "
            f"{', '.join(map(repr, row.values)) or 'none'}",
            expected=", ".join(COLUMNS),
            fix="Save it with tabs between columns (.tsv), its first line as it was.",
            where=row.at(),
        )
    question, document = (as_written(_cell(row, name).strip()) for name in KEY)
    if (question, document) not in belonging:
        raise InputError(
            f"document {document!r} for question {question!r}",
            expected="a row of the table that was drawn from this log",
            fix="Take the row out, or give the log that the table was drawn from.",
            where=row.at(KEY[1]),
        )
    return question, document


def _cell(row: Row, name: str) -> str:
    """Return a cell as it was before it was quoted: other files with tabs know no quotes."""
    text = str(row.values.get(name) or "")
    quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return text[1:-1].replace('""', '"') if quoted else text


def _grade(row: Row) -> int | None:
    value = row.values["grade"]
    text = "" if value is None else str(value).strip().casefold()
    if text in _WORDS:
        return _WORDS[text]
    grade = whole_number(text.removesuffix(".0"))  # as spreadsheets save whole numbers
    if grade is not None and 0 <= grade <= HIGHEST:
        return grade
    raise InputError(
        repr(value),
        expected=f"a grade from 0 to {HIGHEST}, yes or no; empty where there is none",
        fix="Correct it.",
        where=row.at("grade"),
    )


def _one_line(text: str) -> str:
    return harmless(" ".join(text.split()))
