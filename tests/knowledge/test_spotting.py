from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.knowledge.gazetteer import CapitalisedNames, Gazetteer
from argus.knowledge.names import (
    MentionFinder,
    is_common_word,
    is_whole_word,
    leftmost_longest,
    lower_case_words,
    name_key,
    without_parenthesis,
    without_surrogates,
)


def places(matches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(start, end) for _, start, end in leftmost_longest([(None, *p) for p in matches])]


def test_what_begins_first_wins_and_of_those_the_longest() -> None:
    assert places([(4, 9), (0, 5), (0, 3)]) == [(0, 5)]
    assert places([(0, 3), (2, 20), (3, 5)]) == [(0, 3), (3, 5)]
    assert places([]) == []


intervals = st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda t: (t[0], t[0] + t[1]))


@given(st.lists(intervals, max_size=12))
def test_winners_do_not_overlap_and_losers_overlap_a_winner(matches) -> None:
    winners = places(matches)
    assert all(a[1] <= b[0] for a, b in pairwise(winners))
    for start, end in set(matches) - set(winners):
        rivals = [w for w in winners if w[0] < end and start < w[1]]
        assert any((w[0], -w[1]) < (start, -end) for w in rivals)


@pytest.mark.parametrize(
    ("text", "name", "whole"),
    [
        ("by Ada.", "Ada", True),
        ("Canada", "ada", False),
        ("Adana", "Ada", False),
        ("ada_1", "ada", False),
        ("Ada1", "Ada", False),
        ("«Ada»", "Ada", True),
        ("Ada's", "Ada", True),
        ("C++11", "C++", True),
        ("foo(a)", "(a)", True),
        ("Ñandú", "andú", False),
        (unicodedata.normalize("NFD", "Café"), "Cafe", False),
        (unicodedata.normalize("NFD", "Caféx"), unicodedata.normalize("NFD", "Café"), False),
        (unicodedata.normalize("NFD", "Café x"), unicodedata.normalize("NFD", "Café"), True),
        ("Москва", "Моск", False),
        ("首都は東京です", "東京", True),
        ("ไปกรุงเทพมา", "กรุงเทพ", True),
        ("か\u3099", "か", False),
        ("アップルパイ", "アップル", False),
        ("서울특별시", "서울", False),
        ("🎻Ada🎻", "Ada", True),
    ],
)
def test_a_name_neither_begins_nor_ends_inside_a_word(text: str, name: str, whole: bool) -> None:
    start = text.index(name)
    assert is_whole_word(text, start, start + len(name)) is whole


@given(st.text())
def test_texts_without_half_characters_stay_as_they_are(text: str) -> None:
    assert without_surrogates(text) == text
    broken = without_surrogates(f"{text}\ud83d")
    assert broken == f"{text}\ufffd"
    broken.encode()


def test_only_a_final_parenthesis_is_dropped() -> None:
    assert without_parenthesis("Mercury (planet)") == "Mercury"
    assert without_parenthesis("(500) Days of Summer") == "(500) Days of Summer"
    assert without_parenthesis("A (b) (c)") == "A (b)"
    assert without_parenthesis("(planet)") == ""
    assert without_parenthesis("Mercury \t (planet)") == "Mercury"


def test_a_title_of_white_space_costs_no_more_than_its_length() -> None:
    title = "A" + " " * 400_000 + "b"
    begin = time.process_time()
    assert without_parenthesis(title) == title
    assert time.process_time() - begin < 10


def test_a_name_of_marks_without_end_costs_no_more_than_its_length() -> None:
    begin = time.process_time()
    assert name_key("a" + "\u0301" * 100_000 + "\u0327" * 100_000).startswith("á")
    assert time.process_time() - begin < 10


def test_common_words_are_single_ones_that_occur_in_lower_case() -> None:
    words = lower_case_words(["Its jaws are wide.", "The Jaws of iOS"])
    assert words == {"jaws", "are", "wide", "of", "iOS"}
    assert is_common_word("Jaws", words)
    assert not is_common_word("The Jaws", words)
    assert not is_common_word("Wider", words)


@pytest.mark.parametrize("finder", [Gazetteer({"Ada Byron": ("1",)}), CapitalisedNames()])
def test_finders_tell_their_name_and_one_list_per_text(finder: MentionFinder) -> None:
    texts = ["notes by Ada Byron", "", "  \n"]
    mentions = list(finder.find(texts))
    assert [[m.surface for m in of_text] for of_text in mentions] == [["Ada Byron"], [], []]
    assert finder.name.split()[0] in {"gazetteer", "capitalised-names"}
