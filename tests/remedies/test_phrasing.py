"""What reads as language passes, what is made of its words alone does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.remedies.descriptions import SMALL_WORDS, find_misphrasing

BUSTER = "Prince Buster was a Jamaican singer of ska, born in Kingston, Jamaica."


@pytest.mark.parametrize(
    "said",
    [
        "Jamaican singer", "singer of ska", "born in Kingston", "singer from Kingston",
        "a Jamaican singer of ska", "who was a Jamaican singer", "the singer", "Jamaican",
        "singer and songwriter", "former Jamaican singer", "one of the singers", "ska singer",
        "city in the south", "county seat of Adams County", "actress and voice actress",
        "as of 1960", "film by Johnnie To", "singer for The Who", "R&B singer",
    ],
)  # fmt: skip
def test_phrases_pass_without_any_proof(said):
    assert find_misphrasing(said, []) == ""


@pytest.mark.parametrize(
    "said",
    [
        "Stadt an der Aare", "ville de Suisse", "kommun i Telemark i Norge",
        "capitale della Svizzera",
        "stad in de provincie Utrecht", "\u745e\u58eb\u9996\u90fd", "столица Швейцарии",
        "comune francese", "municipalitate italian",
    ],
)  # fmt: skip
def test_other_languages_pass(said):
    assert find_misphrasing(said, []) == ""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("of of of of Jamaican", "'of' is repeated"),
        ("singer singer singer", "'singer' is repeated"),
        ("ska of ska of ska", "'ska' is repeated"),
        ("singer ska ska", "'ska' is repeated"),
        ("and Jamaican", "it begins with 'and'"),
        ("was a Jamaican singer", "it begins with 'was'"),
        ("Jamaican singer of", "it ends with 'of'"),
        ("Jamaican singer the", "'the' after 'singer'"),
        ("by which of the", "'of' after 'which'"),
        ("the of singer", "'of' after 'the'"),
        ("in from Kingston", "'from' after 'in'"),
        ("an Jamaican singer", "'jamaican' after 'an'"),
        ("singer Jamaican", "'jamaican' after 'singer'"),
        ("ska Jamaican", "'jamaican' after 'ska'"),
        ("Kingston of singer", "'singer' after 'of'"),
    ],
)
def test_salads_do_not(said, why):
    assert find_misphrasing(said, []) == why


def test_what_the_passages_say_decides_the_order():
    assert find_misphrasing("genre music", []) == ""
    assert find_misphrasing("genre music", ["Ska is a music genre."]) == (
        "'genre' and 'music' in the wrong order"
    )
    assert find_misphrasing("Kingston in studio", ["A studio in Kingston."]) != ""
    assert find_misphrasing("singer Jamaican", ["The singer Jamaican Jim."]) == ""
    assert find_misphrasing("Duran Duran", ["Duran Duran is a band."]) == ""
    lost = ["Lost is a series by J. J. Abrams. It ended."]
    assert find_misphrasing("series by J. J. Abrams", lost) == ""
    # what a comma or a full stop parts does not stand side by side
    assert find_misphrasing("genre music", ["It is music. Genre films came later."]) == ""


@given(st.sampled_from(sorted(SMALL_WORDS)), st.integers(2, 4), st.booleans())
def test_a_small_word_repeated_is_never_language(small, n, before):
    padding = " ".join([small] * n)
    said = f"{padding} Jamaican" if before else f"Jamaican {padding}"
    assert find_misphrasing(said, [BUSTER])
