"""The table that people fill in: written, read back, and refused where it does not belong."""

import csv

import pytest

from argus.errors import InputError
from argus.traffic.grades import Filled, ToGrade, read_filled, read_rows_to_grade, write_table

ROWS = [
    ToGrade("q1", "=what?\n now", 1, "d1", "one\ttext\nof two lines"),
    ToGrade("q1", "=what?\n now", 2, "d2", None),
]


def read_grades(path, belonging):
    return dict(read_filled(path, belonging).grades)


BELONGING = {row.pair: row for row in ROWS}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "to_judge.tsv"
    write_table(path, ROWS, Filled())
    return path


def fill(path, *grades):
    first, *lines = path.read_text(encoding="utf-8-sig").splitlines()
    cells = [line.split("\t") for line in lines]
    for cell, grade in zip(cells, grades, strict=True):
        cell[3] = grade
    path.write_text("\n".join([first, *map("\t".join, cells)]) + "\n", encoding="utf-8")


def test_a_row_is_one_line_and_no_formula(table):
    lines = table.read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 3
    assert lines[1].split("\t") == ["q1", "1", "d1", "", "'=what? now", "one text of two lines"]
    assert lines[2].endswith("(not in the corpus)")


@pytest.mark.parametrize(("written", "grade"), [("2.0", 2), (" 0 ", 0), ("yes", 3), ("NO", 0)])
def test_grades_are_read_as_people_write_them(table, written, grade):
    fill(table, written, "?")
    assert read_grades(table, BELONGING) == {("q1", "d1"): grade}


@pytest.mark.parametrize("written", ["4", "-1", "nan", "1.5", "maybe", "²", "9" * 5_000])
def test_other_grades_are_refused_with_their_line(table, written):
    fill(table, "1", written)
    with pytest.raises(InputError, match=r"to_judge\.tsv, line 3") as refused:
        read_grades(table, BELONGING)
    assert "a grade from 0 to 3" in str(refused.value)


ODD_IDS = [
    "x", "\u00a0x", "\u2003", "a\tb", "a\nb", "a\rb", "a\u2028b", "a\x00b", "'x", "'=x", "=x", '"',
    '"x"', 'x"y', "a  b", "C:\\new\\table",
]  # fmt: skip


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_any_id_survives_also_a_spreadsheet_that_trims_and_quotes(tmp_path, quoting):
    path = tmp_path / "to_judge.tsv"
    rows = [ToGrade(f"q{id_}", "why?", i, id_, "text") for i, id_ in enumerate(ODD_IDS)]
    grades = {row.pair: i % 4 for i, row in enumerate(rows)}
    write_table(path, rows, Filled(grades))
    assert read_rows_to_grade(path) == rows
    with path.open(encoding="utf-8-sig", newline="") as file:
        cells = list(csv.reader(file, delimiter="\t"))
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file, delimiter="\t", quoting=quoting).writerow
        for line in cells:
            write([cell.strip() for cell in line])
    assert read_grades(path, {row.pair: row for row in rows}) == grades


def test_columns_that_people_add_stay(table):
    text = table.read_text(encoding="utf-8-sig").splitlines()
    text = [f"{line}\t{cell}" for line, cell in zip(text, ("notes", "=good", ""), strict=True)]
    table.write_text("\n".join(text), encoding="utf-8")
    write_table(table, ROWS, read_filled(table, BELONGING))
    assert table.read_text(encoding="utf-8-sig").splitlines()[1].endswith("\t'=good")
