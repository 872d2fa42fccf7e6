"""The table that people fill in: one row per question and document, a grade in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from argus.data.artifacts import write_whole
from argus.data.csv_cells import as_written
from argus.data.locks import waiting_for
from argus.data.parts import file_hash
from argus.data.rows import Row, read_rows
from argus.data.whole_numbers import whole_number
from argus.errors import InputError
from argus.traffic.judging.cells import id_cell, id_in, quoted, text_cell, unquoted
from argus.traffic.judging.config import HIGHEST

COLUMNS = ("question_id", "rank", "document_id", "grade", "question", "document")
KEY = ("question_id", "document_id")
MODEL_GRADE, MODEL_NAME = "model_grade", "model_name"
"""Columns that there are once a model has judged."""
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


@dataclass(frozen=True, slots=True)
class ModelGrade:
    """What a model said of a document.

    grade: None where it stands among the grades of people, and may have been changed by them.
    """

    model: str
    grade: int | None


@dataclass(frozen=True)
class Filled:
    """What a table holds. grades: by people, of each document that has one. by_model: a model's.

    header: its columns as they stand. others: cells of columns that people added, by document.
    """

    grades: Mapping[Pair, int] = field(default_factory=dict)
    by_model: Mapping[Pair, ModelGrade] = field(default_factory=dict)
    header: Sequence[str] = ()
    others: Mapping[Pair, Mapping[str, str]] = field(default_factory=dict)


def write_table(
    path: Path,
    rows: Iterable[ToGrade],
    grades: Mapping[Pair, int],
    *,
    content: Filled | None = None,
) -> None:
    """Write the table, tabs between columns, with the grades that there are; whole or not at all.

    A spreadsheet opens it: it begins with a byte order mark, and no cell is a formula. grades: by
    people. content: what it holds besides: grades of a model, and columns that people added, which
    stay where they are.
    """
    content = content or Filled()
    columns = (*COLUMNS, MODEL_GRADE, MODEL_NAME) if content.by_model else COLUMNS
    header = [*content.header, *(name for name in columns if name not in content.header)]
    lines = ["\t".join(map(quoted, header))]
    for row in rows:
        cells = {name: quoted(cell) for name, cell in _cells(row, grades).items()}
        if (one := content.by_model.get(row.pair)) is not None:
            cells[MODEL_GRADE] = "" if one.grade is None else str(one.grade)
            cells[MODEL_NAME] = quoted(text_cell(one.model))
        cells |= content.others.get(row.pair, {})
        lines.append("\t".join(cells.get(name, "") for name in header))
    write_whole(path, "\ufeff" + "\n".join(lines) + "\n")


def _cells(row: ToGrade, grades: Mapping[Pair, int]) -> dict[str, str]:
    return {
        "question_id": id_cell(row.question_id),
        "rank": str(row.rank),
        "document_id": id_cell(row.document_id),
        "grade": str(grades.get(row.pair, "")),
        "question": text_cell(row.question),
        "document": _NOT_THERE if row.text is None else text_cell(row.text),
    }


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
    for row in _rows(path):
        values = {name: as_written(_cell(row, name)) for name in COLUMNS}
        values |= {name: id_in(_cell(row, name)) for name in KEY}
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
    """Return the grades of a filled table; a row without one is left out. See `read_filled`."""
    return dict(read_filled(path, belonging).grades)


def read_filled(path: Path, belonging: Mapping[Pair, ToGrade]) -> Filled:
    """Return what a filled table holds.

    Grades are 0 to 3, or yes and no. Raises InputError, with the line, for a document that was not
    to be judged for that question, one that is graded twice and differently, and any other grade.
    """
    by_model: dict[Pair, ModelGrade] = {}
    grades: dict[Pair, int] = {}
    lines: dict[Pair, Row] = {}
    others: dict[Pair, dict[str, str]] = {}
    header: Sequence[str] = ()
    for row in _rows(path):
        pair = _pair(row, belonging)
        header = header or tuple(row.values)
        _add_others(others.setdefault(pair, {}), row)
        if (model := as_written(_cell(row, MODEL_NAME))) != "":
            by_model[pair] = ModelGrade(model, _grade(row, MODEL_GRADE))
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
    return Filled(grades, by_model, header, others)


def _rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a table, whether or not the names of its columns were quoted."""
    for row in read_rows(path):
        values = {unquoted(name): value for name, value in row.values.items()}
        yield Row(values if len(values) == len(row.values) else row.values, row.file, row.line)


def _add_others(others: dict[str, str], row: Row) -> None:
    """Add what a row has in columns that people added; it may stand twice, with the same."""
    for name, value in row.values.items():
        if name in (*COLUMNS, MODEL_GRADE, MODEL_NAME) or not value:
            continue
        if others.setdefault(name, str(value)) != str(value):
            raise InputError(
                f"{value!r}, and {others[name]!r} in another line of this document",
                expected="one line of each document and question",
                fix="Take one of the two lines out.",
                where=row.at(name),
            )


def read_tables(
    paths: Sequence[Path], belonging: Mapping[Pair, ToGrade]
) -> dict[Pair, tuple[int, ...]]:
    """Return all grades of each document, a person's table after the other.

    Raises InputError for a table that is given twice, or is a copy of another one.
    """
    grades: dict[Pair, tuple[int, ...]] = {}
    contents: dict[str, Path] = {}
    for path in paths:
        own = read_table(path, belonging)
        content = file_hash(path)
        if own and content in contents:
            raise InputError(
                f"holds the same as {contents[content]}",
                expected="a table of each person: their agreement is told",
                fix="Give each table once. Of two people who judged alike in everything, put a "
                "name into one table, in a column of its own.",
                where=path,
            )
        contents[content] = path
        for pair, grade in own.items():
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
    questions, documents = (_readings(_cell(row, name)) for name in KEY)
    for pair in product(questions, documents):
        if pair in belonging:
            return pair
    raise InputError(
        f"document {documents[0]!r} for question {questions[0]!r}",
        expected="a row of the table that was drawn from this log",
        fix="Take the row out, or give the log that the table was drawn from.",
        where=row.at(KEY[1]),
    )


def _readings(cell: str) -> tuple[str, ...]:
    """Return the ids that a cell may stand for, the likeliest first.

    As it is written today; as it was before, or with --raw-csv; with white space around it that
    somebody typed.
    """
    return id_in(cell), cell, id_in(cell.strip())


def _cell(row: Row, name: str) -> str:
    return unquoted(str(row.values.get(name) or ""))


def _grade(row: Row, column: str = "grade") -> int | None:
    value = row.values.get(column)
    text = "" if value is None else unquoted(str(value)).strip().casefold()
    if text in _WORDS:
        return _WORDS[text]
    grade = whole_number(text.removesuffix(".0"))  # as spreadsheets save whole numbers
    if grade is not None and 0 <= grade <= HIGHEST:
        return grade
    raise InputError(
        repr(value),
        expected=f"a grade from 0 to {HIGHEST}, yes or no; empty where there is none",
        fix="Correct it.",
        where=row.at(column),
    )
