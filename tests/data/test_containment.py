"""Texts that hold sentences: as `in` says, whatever the alphabet, in one pass."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data import containment
from argus.data.containment import holders


def plainly(sentences, texts):
    return [[i for i, text in enumerate(texts) if one in text] for one in sentences]


@pytest.fixture(autouse=True)
def hashed(monkeypatch):
    """Hash small inputs, too, in blocks of several texts."""
    monkeypatch.setattr(containment, "FEW", 0)
    monkeypatch.setattr(containment, "BLOCK", 40)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_it_is_what_in_says(data):
    letters = data.draw(st.sampled_from(["ab", "ab \0", "é漢😀", "\ud800a"]))
    texts = data.draw(st.lists(st.text(letters, max_size=25), min_size=1, max_size=9))
    parts = st.builds(
        lambda text, start, length: text[start : start + length],
        st.sampled_from(texts), st.integers(0, 20), st.integers(1, 20),
    ).filter(bool)  # fmt: skip
    others = st.text(letters, min_size=1, max_size=9)
    sentences = data.draw(st.lists(st.one_of(parts, others), max_size=12))
    assert holders(sentences, texts) == plainly(sentences, texts)


def test_equal_hashes_are_looked_up(monkeypatch):
    monkeypatch.setattr(containment, "_mixed", lambda hashes: hashes & containment.np.uint64(3))
    texts = ["one two three", "two three four", "three four five"] * 5
    sentences = ["two", "three f", "four", "e t", "none of it"]
    assert holders(sentences, texts) == plainly(sentences, texts)


def test_few_pairs_are_looked_up():
    n = 300
    texts = [f"The value of item {i} is {i * i}. " * 5 for i in range(n)]
    sentences = [f"The value of item {i} is {i * i}." for i in range(n)]
    assert sorted(set(containment._candidates(sentences, texts))) == [(i, i) for i in range(n)]
