"""Shares by slice: what becomes a slice, and which is the worst."""

import numpy as np
import pytest

from argus.data import Document
from argus.errors import InputError
from argus.measures import wilson
from argus.measures.slices import (
    NONE,
    Trials,
    rank_slices,
    slice_lines,
    slice_shares,
    slicing,
    slicings,
)


def documents(*payloads):
    return [Document(f"d{i}", "text", f"T{i}", payload) for i, payload in enumerate(payloads)]


def test_every_value_of_a_list_counts_and_none_is_a_slice():
    (tags,) = slicings(
        documents({"tags": ["a", "b", "a"]}, {"tags": ["b"]}, {}, {"tags": None}), ["tags"]
    )
    assert tags.labels == [("a", "b"), ("b",), (NONE,), (NONE,)]
    assert tags.names == ("b", "a", NONE) and tags.figures["without"] == 2


def test_few_numbers_are_slices_of_their_own_in_order():
    assert slicing("f", [[2001], [1999], [2001.0]]).names == ("1999", "2001")
    assert slicing("f", [[0.5], [10], [9]]).names == ("0.5", "9", "10")


@pytest.mark.parametrize("field", ["nope", "page", "rows", "a..b"])
def test_a_field_without_values_is_refused(field):
    payload = {"page": {"lang": "de"}, "n": 1, "rows": [{"x": 1}]}
    with pytest.raises(InputError) as caught:
        slicings(documents(payload), [field])
    assert caught.value.where == "--by"
    assert field != "nope" or "page.lang, n" in caught.value.expected


def graded(*shares):
    """Return slices a, b, ... of 100 trials each with these shares of hits."""
    letters = "abcdefgh"[: len(shares)]
    own = slicing("f", [[letter] for letter in letters])
    item = np.repeat(np.arange(len(shares)), 100)
    value = np.concatenate([np.arange(100) < 100 * share for share in shares]).astype(float)
    return own, item, value


@pytest.mark.parametrize("is_bad", [False, True])
def test_the_worst_slice_is_surely_off_on_the_wrong_side(is_bad):
    own, item, value = graded(0.9, 0.5, 0.9, 0.2)
    trials = Trials("hits", item, value, is_bad=is_bad)
    figures, table = rank_slices([own.figures], slice_shares([own], [trials]))
    worst, *_, best = table.to_pylist()
    assert worst["slice"] == ("a" if is_bad else "d")
    low, high = wilson(worst["share"], 100)
    assert (worst["low"], worst["high"], worst["n"]) == (low, high, 100)
    whole_low, whole_high = wilson(0.625, 400)
    off = low - whole_high if is_bad else whole_low - high
    assert worst["worse_by"] == pytest.approx(float(off)) and worst["worse_by"] > 0
    assert best["worse_by"] < 0
    (line,) = slice_lines(figures)
    assert line.startswith("worst slice by f: f = ") and "of all 62.5%" in line
