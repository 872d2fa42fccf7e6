"""The page of published tables holds what was measured, in its tables and in its words."""

import re

import pytest

from argus.suite.reproduce import names, read_recipe
from benchmarks import reproduce_tables
from benchmarks.pages import body
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
    """Return what the page says of recipes below its first table: "**CAR 2**: ..."."""
    told = PAGE.read_text("utf-8").partition("then published in brackets")[2].partition("\n## ")[0]
    parts = re.split(r"\*\*((?:CAR|ARGUS|SPIKE|Thesis) [^*]*)\*\*", told)
    return [(first, rest) for first, rest in zip(parts[1::2], parts[2::2], strict=True)
            if recipes_of(first)]  # fmt: skip


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
    assert pairs > 12
