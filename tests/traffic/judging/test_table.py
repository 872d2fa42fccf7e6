"""The table that people fill in: written, read back, and refused where it does not belong."""

from __future__ import annotations

import pytest

from argus.errors import InputError
from argus.traffic.judging.table import (
    ToGrade,
    read_rows_to_grade,
    read_table,
    read_tables,
    write_table,
)

ROWS = [
    ToGrade("q1", "=what?\n now", 1, "d1", "one\ttext\nof two lines"),
    ToGrade("q1", "=what?\n now", 2, "d2", None),
]
BELONGING = {row.pair: row for row in ROWS}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "to_judge.tsv"
    write_table(path, ROWS, {})
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


def test_an_empty_table_has_no_grades(table):
    assert read_table(table, BELONGING) == {}


@pytest.mark.parametrize(
    ("written", "grade"), [("2", 2), ("2.0", 2), (" 0 ", 0), ("yes", 3), ("NO", 0), ("y", 3)]
)
def test_grades_are_read_as_people_write_them(table, written, grade):
    fill(table, written, "?")
    assert read_table(table, BELONGING) == {("q1", "d1"): grade}


@pytest.mark.parametrize("written", ["4", "-1", "nan", "1.5", "maybe", "¾", "²", "9" * 5_000])
def test_other_grades_are_refused_with_their_line(table, written):
    fill(table, "1", written)
    with pytest.raises(InputError, match=r"to_judge\.tsv, line 3") as refused:
        read_table(table, BELONGING)
    assert "a grade from 0 to 3" in str(refused.value)


@pytest.mark.parametrize("rank", ["", "-1", "first", "²", "9" * 5_000])
def test_a_row_without_a_rank_is_refused_with_its_line(table, rank):
    assert [row.rank for row in read_rows_to_grade(table)] == [1, 2]
    table.write_text(table.read_text(encoding="utf-8").replace("\t2\td2", f"\t{rank}\td2"))
    with pytest.raises(InputError, match=r"to_judge\.tsv, line 3: is no row to grade"):
        read_rows_to_grade(table)


def test_a_grade_that_contradicts_itself_is_refused(table):
    fill(table, "1", "0")
    again = (
        table.read_text(encoding="utf-8").splitlines()[1].replace("\t1\td1\t1\t", "\t1\td1\t0\t")
    )
    with table.open("a", encoding="utf-8") as file:
        file.write(again + "\n")
    with pytest.raises(InputError, match="has grade 0 for question 'q1', and 1 in"):
        read_table(table, BELONGING)


def test_what_was_not_drawn_is_refused(table):
    with pytest.raises(InputError, match="expected a row of the table that was drawn"):
        fill(table, "1", "1")
        read_table(table, {("q2", "d1"): ROWS[0]})


def test_a_table_without_its_columns_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("question_id;grade\nq1;1\n")
    with pytest.raises(InputError, match="no column"):
        read_table(path, BELONGING)


def test_two_people_disagree_and_both_are_kept(table, tmp_path):
    fill(table, "3", "0")
    other = tmp_path / "other.tsv"
    write_table(other, ROWS, {("q1", "d1"): 0})
    assert read_tables([table, other], BELONGING) == {("q1", "d1"): (3, 0), ("q1", "d2"): (0,)}
