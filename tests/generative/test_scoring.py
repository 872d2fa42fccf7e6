import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.generative.evidence import Key, key_weights, unigram_weights
from argus.generative.settings import Scoring
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
