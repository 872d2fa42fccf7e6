"""Write and read the table that people fill in: one row per question and document, with a grade.

Any id survives the table, and the spreadsheet that saves it. Control characters, line ends, and
white space at either end of an id are written as `␛`, their number in hexadecimal, and a
semicolon: a tab is `␛9;`. So a row is one line, and no program trims an id. Cells with a quotation
mark are quoted, as in spreadsheets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from argus.data.provenance import file_hash
from argus.data.rows import Row, read_rows, whole_number
from argus.data.tables import as_written, harmless
from argus.data.writing import waiting_for, write_whole
from argus.errors import InputError
from argus.traffic.config import HIGHEST

COLUMNS = ("question_id", "rank", "document_id", "grade", "question", "document")
KEY = ("question_id", "document_id")
BY_MODEL = ("model_grade", "model_name")
"""Columns that there are once a model has judged."""
MARK = "␛"
_UNSEEN = frozenset({"Cc", "Zl", "Zp"})
"""Categories of control characters and ends of lines."""
_ESCAPED = re.compile(rf"{MARK}([0-9a-f]{{1,6}});")
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

    grades: of people. by_model: of models, each with the model's name before it. header: columns in
    order. others: cells of columns that people added. All but header are by document.
    """

    grades: Mapping[Pair, int] = field(default_factory=dict)
    by_model: Mapping[Pair, tuple[str, int]] = field(default_factory=dict)
    header: Sequence[str] = ()
    others: Mapping[Pair, Mapping[str, str]] = field(default_factory=dict)

    @property
    def votes(self) -> dict[Pair, tuple[int, ...]]:
        """The grades of people as the votes of one person."""
        return {pair: (grade,) for pair, grade in self.grades.items()}


def id_cell(id_: str) -> str:
    """Return an id as a cell. `id_in` reads it back."""
    body = id_.strip()
    start = id_.index(body)
    end = start + len(body)
    shown = ""
    for i, c in enumerate(id_):
        is_unseen = c == MARK or unicodedata.category(c) in _UNSEEN
        shown += f"{MARK}{ord(c):x};" if is_unseen or not start <= i < end else c
    return harmless(shown)


def id_in(cell: str) -> str:
    """Return the id in an unquoted cell."""

    def character(escape: re.Match[str]) -> str:
        number = int(escape[1], 16)
        return chr(number) if number <= 0x10FFFF else escape[0]

    return _ESCAPED.sub(character, as_written(cell))


def text_cell(text: str) -> str:
    """Return a text as a cell: on one line, and no formula."""
    return harmless(" ".join(text.split()))


def unquoted(cell: str) -> str:
    """Return a cell as it was before it was quoted: other files with tabs know no quotes."""
    is_quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"') if is_quoted else cell


def write_table(path: Path, rows: Iterable[ToGrade], content: Filled) -> None:
    """Write the table with tabs between columns, whole or not at all.

    A spreadsheet opens it: it begins with a byte order mark, and no cell is a formula. Columns that
    people added stay in their places.
    """

    def quoted(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell

    columns = (*COLUMNS, *BY_MODEL) if content.by_model else COLUMNS
    header = [*content.header, *(name for name in columns if name not in content.header)]
    lines = ["\t".join(map(quoted, header))]
    for row in rows:
        grade, text = str(content.grades.get(row.pair, "")), row.text
        document = _NOT_THERE if text is None else text_cell(text)
        ids = id_cell(row.question_id), str(row.rank), id_cell(row.document_id)
        written = (*ids, grade, text_cell(row.question), document)
        cells = dict(zip(COLUMNS, map(quoted, written), strict=True))
        if (one := content.by_model.get(row.pair)) is not None:
            cells |= zip(BY_MODEL, (str(one[1]), quoted(text_cell(one[0]))), strict=True)
        cells |= content.others.get(row.pair, {})
        lines.append("\t".join(cells.get(name, "") for name in header))
    write_whole(path, "\ufeff" + "\n".join(lines) + "\n")


def changing_table(path: Path) -> AbstractContextManager[None]:
    """Hold a table while it is read, changed and written again, so that no grade is lost.

    Raises ArgusError where another process holds it for a minute.
    """
    lock = path.with_name(f".{path.name}.lock")
    return waiting_for(lock, busy=f"{path} is being written to by others; try again.")


def read_rows_to_grade(path: Path) -> list[ToGrade]:
    """Return the rows of a table, without grades. Raises InputError for another file.

    Texts are on one line, and cut, as the table has them.
    """
    rows = []
    for row in _rows(path):
        question, document = (id_in(_cell(row, name)) for name in KEY)
        rank = whole_number(as_written(_cell(row, "rank")))
        if rank is None or rank < 0 or not question or not document:
            raise _bad_shape(row, "is no row to grade")
        texts = (as_written(_cell(row, name)) for name in ("question", "document"))
        rows.append(ToGrade(question, next(texts), rank, document, next(texts)))
    return rows


def _bad_shape(row: Row, problem: str) -> InputError:
    fix = "Save it with tabs between columns (.tsv), its first line as it was."
    return InputError(problem, expected=", ".join(COLUMNS), fix=fix, where=row.at())


def read_filled(path: Path, belonging: Mapping[Pair, ToGrade]) -> Filled:
    """Read a filled table.

    Grades are 0 to 3, or yes and no. Raises InputError, with the line, for a document that was not
    to be judged for that question, one that is graded twice and differently, and any other grade.
    """
    by_model: dict[Pair, tuple[str, int]] = {}
    grades: dict[Pair, int] = {}
    lines: dict[Pair, Row] = {}
    others: dict[Pair, dict[str, str]] = {}
    header: Sequence[str] = ()
    for row in _rows(path):
        pair = _pair(row, belonging)
        header = header or tuple(row.values)
        own = others.setdefault(pair, {})
        added = row.values.keys() - {*COLUMNS, *BY_MODEL}
        for name in (name for name in row.values if name in added and row.values[name]):
            value = row.values[name]
            if own.setdefault(name, str(value)) != str(value):
                got = f"{value!r}, and {own[name]!r} in another line of this document"
                expected = "one line of each document and question"
                fix = "Take one of the two lines out."
                raise InputError(got, expected=expected, fix=fix, where=row.at(name))
        by_now, model = _grade(row, BY_MODEL[0]), as_written(_cell(row, BY_MODEL[1]))
        if model and by_now is not None:
            by_model[pair] = model, by_now
        grade = _grade(row, "grade")
        if grade is None:
            continue
        if grades.setdefault(pair, grade) != grade:
            raise InputError(
                f"document {pair[1]!r} has grade {grade} for question {pair[0]!r}, and "
                f"{grades[pair]} in {lines[pair].at()}",
                expected="one grade of each; another person's table is a file of its own",
                fix="Correct one of the two.",
                where=row.at("grade"),
            )
        lines[pair] = row
    return Filled(grades, by_model, header, others)


def _rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a table, whether or not the names of its columns were quoted."""
    for row in read_rows(path):
        values = {unquoted(name): value for name, value in row.values.items()}
        yield Row(values if len(values) == len(row.values) else row.values, row.file, row.line)


def read_tables(
    paths: Sequence[Path], belonging: Mapping[Pair, ToGrade]
) -> dict[Pair, tuple[int, ...]]:
    """Return all grades of each document, a person's table after the other.

    Raises InputError for a table that is given twice, or is a copy of another one.
    """
    grades: dict[Pair, tuple[int, ...]] = {}
    contents: dict[str, Path] = {}
    for path in paths:
        own = read_filled(path, belonging).grades
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
        named, there = (", ".join(map(repr, names)) for names in (lacking, row.values))
        raise _bad_shape(row, f"no column {named} among {there or 'none'}")
    # as it is written, as it stands (--raw-csv), or with white space that somebody typed
    cells = [_cell(row, name) for name in KEY]
    questions, documents = ((id_in(one), one, id_in(one.strip())) for one in cells)
    for pair in product(questions, documents):
        if pair in belonging:
            return pair
    got = f"document {documents[0]!r} for question {questions[0]!r}"
    expected = "a row of the table that was drawn from this log"
    fix = "Take the row out, or give the log that the table was drawn from."
    raise InputError(got, expected=expected, fix=fix, where=row.at(KEY[1]))


def _cell(row: Row, name: str) -> str:
    return unquoted(str(row.values.get(name) or ""))


def _grade(row: Row, column: str) -> int | None:
    value = row.values.get(column)
    text = "" if value is None else unquoted(str(value)).strip().casefold()
    if text in _WORDS:
        return _WORDS[text]
    grade = whole_number(text.removesuffix(".0"))  # as spreadsheets save whole numbers
    if grade is not None and 0 <= grade <= HIGHEST:
        return grade
    expected = f"a grade from 0 to {HIGHEST}, yes or no; empty where there is none"
    raise InputError(repr(value), expected=expected, fix="Correct it.", where=row.at(column))
