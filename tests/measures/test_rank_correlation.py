import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from argus.measures.intervals import spearman
from tests.support.draws import examples

pairs = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=3, max_size=25)


def sides(of):
    return np.array([a for a, _ in of], float), np.array([b for _, b in of], float)


@settings(max_examples=examples(100), deadline=None)
@given(pairs)
def test_rho_and_p_are_scipys_and_nothing_is_ever_nan(found):
    x, y = sides(found)
    result = spearman(x, y, seed=0, resamples=50)
    assert result.n == len(found)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert (result.rho, result.p_value, result.low, result.high) == (None, None, None, None)
        assert result.why_not == "one of the two never varies"
        return
    expected = spearmanr(x, y)
    assert result.rho == pytest.approx(expected.statistic, abs=1e-12)
    if abs(expected.statistic) < 1 - 1e-9:
        assert result.p_value == pytest.approx(expected.pvalue, abs=1e-9)
    assert 0 < result.p_value <= 1
    for value in result:
        assert value is None or isinstance(value, str) or math.isfinite(value)
    assert (result.low is None) == bool(result.why_not)


def test_the_interval_is_near_that_of_plain_python():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 30, 150).astype(float)
    y = (rng.random(150) < 0.2 + 0.02 * x).astype(float)
    plain = []
    for _ in range(1000):
        drawn = rng.integers(150, size=150)
        plain.append(spearmanr(x[drawn], y[drawn]).statistic)
    found = spearman(x, y, seed=0)
    assert found.low < found.rho < found.high
    assert [found.low, found.high] == pytest.approx(np.quantile(plain, [0.025, 0.975]), abs=0.03)


@pytest.mark.parametrize(
    ("x", "y", "p"),
    [
        ([1, 2, 3, 4], [2, 4, 6, 8], 2 / 24),  # of 4! orders, this one and its reverse
        ([1, 2, 3, 4], [8, 6, 4, 2], 2 / 24),
        ([0, 0, 0, 1, 1, 1, 1, 1, 1], [2, 2, 2, 5, 5, 5, 5, 5, 5], 1 / 84),  # 3 of 9, no reverse
    ],
)
def test_perfect_agreement_has_an_exact_p_and_never_zero(x, y, p):
    assert spearman(x, y, seed=0).p_value == pytest.approx(p)
