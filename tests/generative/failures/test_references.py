"""Every work that the taxonomy cites can be looked up."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import pytest

from argus.generative.failures.references import Reference, cited, references, spelt_out
from argus.generative.failures.taxonomy import taxonomy


def numbers_in_the_taxonomy() -> set[int]:
    return {int(n) for mode in taxonomy() for n in re.findall(r"\[(\d+)\]", mode.reference)}


def test_every_cited_number_has_an_entry_and_no_entry_is_unused() -> None:
    assert set(references()) == numbers_in_the_taxonomy()


def test_numbers_are_given_once() -> None:
    text = files("argus.generative.failures").joinpath("taxonomy.toml").read_text(encoding="utf-8")
    numbers = [entry["number"] for entry in tomllib.loads(text)["reference"]]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("reference", references().values(), ids=lambda r: str(r.number))
def test_a_work_is_named_whole_or_left_open_whole(reference: Reference) -> None:
    if reference.authors:
        assert reference.year and 1990 < reference.year < 2030
        assert reference.title and reference.url.startswith("https://")
        assert " et al." in reference.authors or " and " in reference.authors
    else:
        assert (reference.year, reference.title, reference.url) == (None, "", "")
        assert reference.short == f"left open in the thesis [{reference.number}]"


def test_cited_works_come_once_in_the_order_of_the_text() -> None:
    found = cited("Thesis; SEAL [18], MINDER [25], again [18]; not there [999]; Table 5")
    assert [reference.number for reference in found] == [18, 25]
    assert found[0].short == "Bevilacqua et al. 2022 [18]"
    assert cited("Thesis, Table 5.") == []


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("Table 5; short ones: [35].", "Table 5; short ones: Yuan et al. 2024 [35]."),
        ("FM-index [18], trie [36].",
         "FM-index (Bevilacqua et al. 2022 [18]), trie (De Cao et al. 2021 [36])."),
        ("§3; [30], [35] and [38].",
         "§3; Zeng et al. 2023 [30], Yuan et al. 2024 [35] and Wang et al. 2025 [38]."),
        ("who knows [999] and [x]", "who knows [999] and [x]"),
    ],
)  # fmt: skip
def test_numbers_are_spelt_out(text: str, spelt: str) -> None:
    assert spelt_out(text) == spelt
