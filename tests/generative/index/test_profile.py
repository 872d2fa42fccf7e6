"""The profile of n-grams against a plain Counter."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.generative.index import NgramProfile, profile
from argus.generative.index.profile import QUANTILES
from tests.support import in_memory_index
from tests.support.draws import examples

BORDER = 2
LENGTHS = (1, 2, 3, 4, 7, 10)


def in_memory(passages, size, cuts=()):
    return in_memory_index.in_memory(passages, size, BORDER, cuts=cuts)


def plain_profile(passages, length):
    """The same numbers by counting every n-gram of every passage."""
    counts, holders = Counter(), defaultdict(set)
    for number, passage in enumerate(passages):
        for i in range(len(passage) - length + 1):
            ngram = tuple(passage[i : i + length])
            counts[ngram] += 1
            holders[ngram].add(number)
    return NgramProfile(
        length=length,
        distinct=len(counts),
        occurrences=sum(counts.values()),
        singletons=sum(c == 1 for c in counts.values()),
        in_one_passage=sum(len(held) == 1 for held in holders.values()),
        frequency_quantiles=plain_quantiles(counts.values()),
        passages_quantiles=plain_quantiles(map(len, holders.values())),
    )


def plain_quantiles(values):
    """The least value that a share of at least q of all values does not exceed."""
    ordered = sorted(values)
    return {q: ordered[math.ceil(q * len(ordered)) - 1] if ordered else 0 for q in QUANTILES}


@st.composite
def cases(draw):
    size = draw(st.sampled_from([4, 6, 50, 60_000, 70_000]))
    token = st.integers(0, size - 1).filter(lambda t: t != BORDER)
    passages = draw(st.lists(st.lists(token, min_size=1, max_size=14), min_size=1, max_size=12))
    passages += [passages[i % len(passages)] for i in draw(st.lists(st.integers(0, 9), max_size=4))]
    return passages, size, draw(st.lists(st.integers(0, len(passages)), max_size=4))


@given(cases())
@settings(max_examples=examples(200), deadline=None)
def test_a_profile_agrees_with_counting_in_any_segments(case):
    passages, size, cuts = case
    expected = [plain_profile(passages, length) for length in LENGTHS]
    assert profile(in_memory(passages, size), LENGTHS) == expected
    assert profile(in_memory(passages, size, cuts), LENGTHS) == expected


def test_many_repeated_ngrams_have_the_quantiles_of_a_counter():
    rng = np.random.default_rng(0)
    passages = [(3 + rng.zipf(1.3, rng.integers(1, 60)) % 200).tolist() for _ in range(900)]
    index = in_memory(passages, 300, cuts=(200, 450))
    got = profile(index, (3, 1, 2))
    assert got == [plain_profile(passages, length) for length in (3, 1, 2)]
    assert sum(p.distinct - p.singletons for p in got) > 2**12, "lists never had to grow"


def test_a_hand_counted_corpus():
    # 5 7 5 | 5 7: 5 three times in two passages, 7 twice in two; "5 7" twice in two, "7 5" once
    one, two, three = profile(in_memory([[5, 7, 5], [5, 7]], 8), (1, 2, 3))
    assert (one.distinct, one.occurrences, one.singletons, one.in_one_passage) == (2, 5, 0, 0)
    assert one.frequency_quantiles == {0.5: 2, 0.9: 3, 0.99: 3, 0.999: 3, 1.0: 3}
    assert (two.distinct, two.occurrences, two.singletons, two.in_one_passage) == (2, 3, 1, 1)
    assert two.passages_quantiles == {0.5: 1, 0.9: 2, 0.99: 2, 0.999: 2, 1.0: 2}
    assert (three.distinct, three.occurrences) == (1, 1)


def test_a_length_that_no_passage_has_gives_zeros():
    (none,) = profile(in_memory([[5, 7, 5], [5]], 8), (4,))
    assert (none.distinct, none.occurrences, none.singletons, none.in_one_passage) == (0, 0, 0, 0)
    assert set(none.frequency_quantiles.values()) == {0}


def test_ten_lengths_unless_asked_otherwise():
    assert [p.length for p in profile(in_memory([[5, 7]], 8))] == list(range(1, 11))
    assert profile(in_memory([[5, 7]], 8), ()) == []


@pytest.mark.parametrize("length", [0, -1, 256])
def test_a_length_out_of_range_is_refused(length):
    with pytest.raises(InputError, match="lengths from 1 to 255"):
        profile(in_memory([[5, 7]], 8), (2, length))
