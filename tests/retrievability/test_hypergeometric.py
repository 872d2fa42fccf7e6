import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from argus.retrievability.rps import hit_probability, hit_probability_by_k
from tests.support.draws import examples


@st.composite
def cases(draw):
    pool = draw(st.integers(1, 20_000))
    return pool, draw(st.integers(0, pool)), draw(st.integers(0, pool)), draw(st.integers(1, 200))


@given(cases())
@settings(max_examples=examples(300), deadline=None)
def test_equals_scipys_distribution_function(case):
    pool, above, draws, k = case
    got = hit_probability(np.array([above]), np.array([pool]), k=k, draws=draws)[0]
    assert got == pytest.approx(hypergeom.cdf(k - 1, pool, above, draws), rel=1e-7, abs=1e-12)


@given(cases())
@settings(max_examples=examples(50), deadline=None)
def test_every_k_at_once_equals_each_k_alone(case):
    pool, above, draws, _ = case
    above, pool = np.array([above]), np.array([pool])
    at_once = hit_probability_by_k(above, pool, k_max=30, draws=draws)[0]
    alone = [hit_probability(above, pool, k=k, draws=draws)[0] for k in range(1, 31)]
    np.testing.assert_allclose(at_once, alone, rtol=1e-7, atol=1e-12)
    assert (np.diff(at_once) >= 0).all()
