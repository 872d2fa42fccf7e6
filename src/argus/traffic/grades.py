"""Write and read the table in which people grade documents: a row per question and document.

to_judge.tsv of `argus traffic judge`, which the page of `argus serve` fills in, too. Cells are
separated by tabs and quoted as spreadsheets do it. No cell is a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.reading import check_file, read_lines, reading
from argus.data.rows import whole_number
from argus.data.tables import as_written, harmless
from argus.data.writing import waiting_for, write_whole
from argus.errors import InputError, Location
from argus.traffic.config import HIGHEST

COLUMNS = ("question_id", "rank", "document_id", "grade", "question", "document")
# Columns that there are once a model has judged.
BY_MODEL = ("model_grade", "model_name")
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
        """Ids of question and document."""
        return self.question_id, self.document_id


@dataclass(frozen=True)
class Filled:
    """Content of a table.

    grades: of people. by_model: of models, each with the model's name before it. cells: all cells
    of a row, with those of columns that people added.
    """

    grades: Mapping[Pair, int] = field(default_factory=dict)
    by_model: Mapping[Pair, tuple[str, int]] = field(default_factory=dict)
    cells: Mapping[Pair, Mapping[str, str]] = field(default_factory=dict)

    @property
    def votes(self) -> dict[Pair, tuple[int, ...]]:
        """The grades of people as the votes of one person."""
        return {pair: (grade,) for pair, grade in self.grades.items()}


def write_table(path: Path, rows: Iterable[ToGrade], content: Filled) -> None:
    """Write the table, whole or not at all. Columns that people added stay in their places."""
    columns = (*COLUMNS, *BY_MODEL) if content.by_model else COLUMNS
    header = dict.fromkeys(name for cells in content.cells.values() for name in cells)
    written = io.StringIO()
    table = csv.DictWriter(written, [*(header | dict.fromkeys(columns))], dialect="excel-tab")
    table.writeheader()
    for row in rows:
        text = _NOT_THERE if row.text is None else row.text
        grade = str(content.grades.get(row.pair, ""))
        shown = (" ".join(part.split()) for part in (row.question, text))
        values = (row.question_id, str(row.rank), row.document_id, grade, *shown)
        if (one := content.by_model.get(row.pair)) is not None:
            values += str(one[1]), one[0]
        own = {name: harmless(value) for name, value in zip(columns, values, strict=False)}
        table.writerow({**content.cells.get(row.pair, {}), **own})
    write_whole(path, "\ufeff" + written.getvalue())  # by the mark, spreadsheets tell UTF-8


def changing_table(path: Path) -> AbstractContextManager[None]:
    """Hold a table while it is read, changed and written again, so that no grade is lost.

    Raises ArgusError where another process holds it for a minute.
    """
    lock = path.with_name(f".{path.name}.lock")
    return waiting_for(lock, busy=f"{path} is being written to by others; try again.")


def _rows(path: Path) -> Iterator[tuple[Location, dict[str, str]]]:
    """Yield place and cells of each row. Raises InputError for another table."""
    fix = "Save it with tabs between columns (.tsv), its first line as it was."
    check_file(path, "the table to grade")
    table = csv.DictReader((line for _, line in read_lines(path)), dialect="excel-tab", restval="")
    while True:
        where = Location(path, table.line_num + 1)
        with reading(where, "cannot be split into fields", expected=", ".join(COLUMNS), fix=fix):
            row = next(table, None)
        if row is None:
            return
        if not row.keys() >= {*COLUMNS}:
            there = ", ".join(map(str, row)) or "none"
            raise InputError(
                f"the columns {there}", expected=", ".join(COLUMNS), fix=fix, where=path
            )
        yield where, {str(name): as_written(str(value)) for name, value in row.items()}


def read_rows_to_grade(path: Path) -> list[ToGrade]:
    """Return the rows of a table, without grades. Raises InputError for another file.

    Texts are on one line, and cut, as the table has them.
    """
    rows = []
    for where, cells in _rows(path):
        question, rank, document, _, *texts = (cells[name] for name in COLUMNS)
        number = whole_number(rank)
        if number is None or not question or not document:
            fix = "Save it with tabs between columns (.tsv), its first line as it was."
            got, expected = "is no row to grade", ", ".join(COLUMNS)
            raise InputError(got, expected=expected, fix=fix, where=where)
        rows.append(ToGrade(question, texts[0], number, document, texts[1]))
    return rows


def read_filled(path: Path, belonging: Mapping[Pair, ToGrade]) -> Filled:
    """Read a filled table.

    Grades are 0 to 3, or yes and no. Raises InputError, with the line, for a document that was not
    to be judged for that question, one that is graded twice and differently, and any other grade.
    """
    trimmed = {(one.strip(), other.strip()): (one, other) for one, other in belonging}
    grades: dict[Pair, int] = {}
    by_model: dict[Pair, tuple[str, int]] = {}
    every: dict[Pair, dict[str, str]] = {}
    for where, cells in _rows(path):
        question, document = cells["question_id"], cells["document_id"]
        pair = question, document
        if pair not in belonging:  # a spreadsheet may have trimmed them
            pair = trimmed.get((question.strip(), document.strip()), pair)
        if pair not in belonging:
            got = f"document {document!r} for question {question!r}"
            expected = "a row of the table that was drawn from this log"
            fix = "Take the row out, or give the log that the table was drawn from."
            raise InputError(got, expected=expected, fix=fix, where=where)
        every[pair] = {name: harmless(cell) for name, cell in cells.items()}
        model, by_now = cells.get(BY_MODEL[1], ""), _grade(cells.get(BY_MODEL[0], ""), where)
        if model and by_now is not None:
            by_model[pair] = model, by_now
        grade = _grade(cells["grade"], where)
        if grade is not None and grades.setdefault(pair, grade) != grade:
            got = f"document {document!r} has grades {grades[pair]} and {grade} for {question!r}"
            expected = "one grade of each; another person's table is a file of its own"
            raise InputError(got, expected=expected, fix="Correct one of the two.", where=where)
    return Filled(grades, by_model, every)


def _grade(cell: str, where: Location) -> int | None:
    text = cell.strip().casefold()
    if text in _WORDS:
        return _WORDS[text]
    grade = whole_number(text.removesuffix(".0"))  # as spreadsheets save whole numbers
    if grade is not None and 0 <= grade <= HIGHEST:
        return grade
    expected = f"a grade from 0 to {HIGHEST}, yes or no; empty where there is none"
    raise InputError(repr(cell), expected=expected, fix="Correct it.", where=where)


def read_tables(
    paths: Sequence[Path], belonging: Mapping[Pair, ToGrade]
) -> dict[Pair, tuple[int, ...]]:
    """Return all grades of each document, a person's table after the other."""
    grades: dict[Pair, tuple[int, ...]] = {}
    for path in paths:
        for pair, grade in read_filled(path, belonging).grades.items():
            grades[pair] = (*grades.get(pair, ()), grade)
    return grades
