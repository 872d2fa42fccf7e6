import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.generative.evidence import Key, key_weights, unigram_weights
from argus.generative.settings import QUERY_CEILING, Scoring
from tests.support.plain_evidence import plain_unigrams, plain_weights

QUERY_START = 3


def weights(keys, counts, n_tokens=1000, **options):
    return key_weights(keys, np.array(counts), n_tokens, QUERY_START, Scoring(**options))


def test_eq_2_by_hand():
    # P(n|q) = e^-1 = 0.36788; c = 5, N = 995, s = 5: P(n) = 10 / 1000 = 0.01.
    # odds: 0.36788 * 0.99 / (0.01 * 0.63212) = 57.6158; log 4.05380; squared 16.4333.
    key = Key((7, 8), -1.0, "body")
    assert weights([key], [5], 995) == pytest.approx([16.4333], abs=1e-4)
    assert weights([key], [5], 995, exponent=1) == pytest.approx([4.05380], abs=1e-5)


@pytest.mark.parametrize("log", [0.0, -1e-12, -1e-7, -0.7, -40.0, -300.0])
def test_weights_keep_their_digits_at_both_ends(log):
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(log) - Decimal("1e-10")
        p, share = exact.exp(), Decimal(6) / Decimal(10**12 + 5)
        odds = ((p * (1 - share)) / (share * (1 - p))).ln()
    expected = float(max(odds, Decimal(0)))
    assert weights([Key((7,), log, "body")], [1], 10**12, exponent=1) == pytest.approx(
        [expected], rel=1e-9
    )


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 9), min_size=1, max_size=5).map(tuple),
            st.floats(-50, 0) | st.just(-math.inf),
            st.integers(0, 900),
        ),
        max_size=8,
    ),
    st.integers(900, 10**10),
    st.builds(
        Scoring,
        smoothing=st.floats(0, 50),
        exponent=st.floats(0.5, 4),
        length_penalty=st.floats(0, 0.9),
        query_bonus=st.floats(0, 20),
    ),
)
def test_weights_are_the_plain_reading(rows, n_tokens, scoring):
    keys = [Key(tokens, log, "body") for tokens, log, _ in rows]
    counts = [count for _, _, count in rows]
    found = key_weights(keys, np.array(counts, np.int64), n_tokens, QUERY_START, scoring)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    expected = plain_weights(keys, counts, n_tokens, QUERY_START, scoring)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, -0.5, -1.0, -4.0, -30.0, -math.inf]), st.integers(0, 50)),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 13),
    st.sets(st.integers(0, 12)),
)
def test_unigram_weights_are_the_plain_reading(rows, most, excluded):
    logs = np.array([log for log, _ in rows], np.float32)
    counts = np.array([count for _, count in rows])
    scoring = Scoring(unigrams=most)
    found = unigram_weights(logs, counts, 700, excluded, scoring)
    expected = plain_unigrams(logs, counts, 700, excluded, scoring)
    assert {t: w for t, w in enumerate(found.tolist()) if w > 0} == pytest.approx(expected)
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("name", "value", "where", "expected"),
    [
        ("smoothing", -1, "--smoothing", "a number from 0"),
        ("exponent", math.nan, "--exponent", "a number from 0 to 100"),
        ("exponent", 101, "--exponent", "a number from 0 to 100"),
        ("repetition_penalty", 1.5, "--repetition-penalty", "a number from 0 to 1"),
        ("repetition_penalty", "0.8", "--repetition-penalty", "a number from 0 to 1"),
        ("max_occurrences", 0, "--max-occurrences", "a whole number from 1"),
        ("full_documents", 1.5, "--documents", "a whole number"),
        ("query_bonus", -1, "--query-bonus", "a number from 0"),
    ],
)
def test_parameters_out_of_range_are_errors(name, value, where, expected):
    with pytest.raises(InputError) as caught:
        Scoring(**{name: value})
    assert caught.value.where == where
    assert caught.value.expected.startswith(expected)


def test_the_defaults_are_the_published_ones():
    # docs/ngrams.md
    scoring = Scoring()
    assert (scoring.smoothing, scoring.exponent, scoring.repetition_penalty) == (5, 2, 0.8)
    assert (scoring.max_occurrences, scoring.full_documents) == (1500, 1500)
    assert (scoring.most_unigrams, scoring.shortest) == (5000, 1)
    assert scoring.length_penalty == 0
    assert (scoring.query_bonus, QUERY_CEILING) == (14, -1)
