import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.knowledge.names import is_whole_word, leftmost_longest, without_parenthesis

intervals = st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda t: (t[0], t[0] + t[1]))


@given(st.lists(intervals, max_size=12))
def test_winners_do_not_overlap_and_losers_overlap_a_winner(matches) -> None:
    winners = [(a, b) for _, a, b in leftmost_longest([(None, *match) for match in matches])]
    assert all(a[1] <= b[0] for a, b in pairwise(winners))
    for start, end in set(matches) - set(winners):
        rivals = [w for w in winners if w[0] < end and start < w[1]]
        assert any((w[0], -w[1]) < (start, -end) for w in rivals)


@pytest.mark.parametrize(
    ("text", "name", "whole"),
    [
        ("by Ada.", "Ada", True),
        ("Canada", "ada", False),
        ("Ada's", "Ada", True),
        ("C++11", "C++", True),
        (unicodedata.normalize("NFD", "Café"), "Cafe", False),
        (unicodedata.normalize("NFD", "Caféx"), unicodedata.normalize("NFD", "Café"), False),
        (unicodedata.normalize("NFD", "Café x"), unicodedata.normalize("NFD", "Café"), True),
        ("首都は東京です", "東京", True),
        ("ไปกรุงเทพมา", "กรุงเทพ", True),
        ("か\u3099", "か", False),
        ("アップルパイ", "アップル", False),
        ("🎻Ada🎻", "Ada", True),
    ],
)
def test_a_name_neither_begins_nor_ends_inside_a_word(text: str, name: str, whole: bool) -> None:
    start = text.index(name)
    assert is_whole_word(text, start, start + len(name)) is whole


def test_a_title_of_white_space_costs_no_more_than_its_length() -> None:
    title = "A" + " " * 400_000 + "b"
    begin = time.process_time()
    assert without_parenthesis(title) == title
    assert time.process_time() - begin < 10
