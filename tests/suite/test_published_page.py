"""The page of published tables holds what was measured, in its tables and in its words."""

from __future__ import annotations

import re

import pytest

from argus.suite.recipes import names, read_recipe
from benchmarks import reproduce_tables
from benchmarks.pages import body, put
from benchmarks.shared import stored

PAGE = reproduce_tables.PAGE
RECORDS = stored(reproduce_tables.NAME)["recipes"]
PAIR = re.compile(r"(\d[\d,]*\.\d+)%? \((\d[\d,]*\.\d+)%?\)")


def test_the_table_of_recipes_is_what_was_measured():
    assert body(PAGE, reproduce_tables.BEGIN) == list(reproduce_tables.table(RECORDS))


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_of_the_recipe_as_it_is(name, tmp_path):
    recipe = read_recipe(name, {"data": tmp_path, "stdlib": tmp_path})
    published = {(cell.row, cell.column): cell.published for cell in recipe.cells}
    assert RECORDS[name]["cells"] == len(recipe.cells)
    for row in RECORDS[name].get("rows", []):
        assert published[row["row"], row["column"]] == row["published"]


def recipes_of(words: str) -> list[str]:
    """Return the recipes that the first cell of a row is about: "CAR 2, ..." is car-2."""
    paper, _, numbers = words.partition(" ")
    figure = "figure-" if "figure" in numbers else ""
    return [f"{paper.lower()}-{figure}{n}" for n in re.findall(r"\d+", numbers.split(", ")[0])]


def words_of_page() -> list[tuple[str, str]]:
    told = PAGE.read_text("utf-8").partition("What came of them")[2].partition("\n\n**")[0]
    rows = (line.strip("| ").partition(" | ") for line in told.splitlines())
    return [(first, rest) for first, _, rest in rows if rest and recipes_of(first)]


def test_figures_beside_published_ones_in_the_words_are_measured_ones():
    pairs = 0
    for first, rest in words_of_page():
        named = recipes_of(first)[0]
        assert named in names()
        if named not in RECORDS:
            continue
        known = {
            (round(row["measured"], digits), row["published"])
            for row in RECORDS[named].get("rows", [])
            for digits in (1, 3)
            if row["measured"] is not None
        }
        for measured, published in PAIR.findall(rest):
            assert (float(measured), float(published)) in known, f"{first}: {measured} {published}"
            pairs += 1
    assert pairs > 15


def test_what_came_of_a_recipe_is_its_farthest_cell_and_the_mean():
    def cell(row, measured, published, state="measured"):
        return {"row": row, "column": "c", "measured": measured, "published": published,
                "state": state, "reason": ""}  # fmt: skip

    cells = [cell("a", 1.0, 1.5), cell("b", 3.0, 1.0), cell("c", 4.0, None),
             cell("d", None, 2.0, "not run"), cell("e", None, 2.0, "failed")]  # fmt: skip
    summary = {"cells": cells, "measured": 3, "failed": 1, "note": ""}
    record = reproduce_tables.compared(summary)
    assert record["difference"] == {
        "cells": 2, "mean": 1.25, "largest": 2.0, "row": "b", "column": "c"
    }  # fmt: skip
    assert len(record["rows"]) == 4
    record |= {"cells": 5, "seconds": 61.4, "processor_seconds": 8.0}
    lines = list(reproduce_tables.table({"car-9": record, "car-2": {"cells": 9, "why": "late"}}))
    assert lines[2] == "| car-9 | 3 of 5 | 1 | 2 | 1.250 | 2.000 | b, c | 61 | 8 |"
    assert lines[3] == "| car-2 | 0 of 9 | all |  |  |  | late |  |  |"


def test_a_part_of_a_page_is_put_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin: a -->\nold\n<!-- end -->\nbetween\n<!-- begin: b -->\n")
    put(page, "<!-- begin: a -->", ["new", "lines", ""])
    assert body(page, "<!-- begin: a -->") == ["new", "lines"]
    assert page.read_text().startswith("before\n") and "\nbetween\n" in page.read_text()


def test_a_recipe_that_takes_too_long_is_a_record(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduce_tables, "QUICK_S", 1)  # loading Argus alone takes longer
    record = reproduce_tables.reproduced("car-9", 9, tmp_path / "none", tmp_path)
    assert record["why"] in ("took over 1 s", "took longer than 5 s")  # of processor, of the clock
    assert record["command"] == "argus reproduce car-9"
