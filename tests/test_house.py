"""The plan of the house: no circle, settings and summaries declared once, names of the field."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.house import figures

SRC = Path(__file__).parents[1] / "src" / "argus"


@pytest.fixture(scope="module")
def house() -> dict[str, object]:
    return figures(SRC)


def test_no_two_files_import_each_other(house):
    assert house["circles"] == []


def test_no_folder_is_a_hall(house):
    name, _, rest = str(house["largest folder"]).partition(": ")
    share = int(rest.partition("(")[2].rstrip("%)"))
    assert share <= 20, f"{name} holds {share}% of the code"


def test_summaries_are_typed(house):
    assert house["functions that return dict[str, Any]"] <= 30
    assert house["parameters of dict[str, Any]"] <= 30


def test_no_function_is_long(house):
    assert len(house["functions over 40 lines"]) <= 2, house["functions over 40 lines"]
