"""The plan of the house: no circle, settings and summaries declared once, names of the field."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.house import figures, read, repeated_settings

PARTICIPLES = {"asked": 3, "given": 3, "chosen": 4, "kept": 5}
"""Functions that still use one as a name."""
AGAIN = Counter(["qrels"])
"""Settings that are still written out where their declaration could be used."""
OF_A_FIELDS_NAME = 61
"""Options of the command line alone that are called as the field of some config is.

Corpus, retriever, queries and qrels are fields of `argus.ProjectParts`, which init tries."""
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
    assert len(house["functions over 40 lines"]) <= 1, house["functions over 40 lines"]


def test_settings_are_declared_once(house):
    again = house["settings declared again"]
    assert Counter(again) <= AGAIN, again
    assert house["of a config's field's name"] <= OF_A_FIELDS_NAME


def test_names_are_nouns_of_the_field(house):
    uses = house["functions that use"]
    more = {word: n for word, n in uses.items() if n > PARTICIPLES.get(word, 0)}
    assert not more, f"more functions than before use these as names: {more}"


def test_a_setting_that_is_declared_again_is_seen(tmp_path):
    (tmp_path / "a.py").write_text('Seed = Annotated[int, Ge(0), Doc("Of choices.")]\n')
    (tmp_path / "b.py").write_text('class B:\n    seed: Annotated[int, Doc("Of choices.")] = 0\n')
    (tmp_path / "c.py").write_text('def c(k: Annotated[int, Doc("Of choices.")]): ...\n')
    assert repeated_settings(read(tmp_path)) == ["seed"]
