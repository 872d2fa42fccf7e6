"""Ranks and Student's t are SciPy's, which the light install does without."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, rankdata, t

from argus.numeric import average_ranks, normal_tail, student_quantile, student_tail


@given(st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=4))
def test_ranks_are_scipys(rows):
    np.testing.assert_array_equal(average_ranks(rows), rankdata(rows, axis=-1))
    assert average_ranks([]).shape == (0,)


@pytest.mark.parametrize("df", [1, 2, 3, 29, 1_000, 200_000])
def test_students_t_is_scipys_far_out_as_well(df):
    for value in (0.0, 1e-6, 0.3, -1.0, 1.96, 8.0, 40.0):
        assert student_tail(value, df) == pytest.approx(2 * t.sf(abs(value), df), rel=1e-8)
        assert normal_tail(value) == pytest.approx(norm.sf(value))
    for tail in (1.0, 0.9, 0.05, 1e-9):
        assert student_quantile(tail, df) == pytest.approx(t.isf(tail / 2, df), rel=1e-8, abs=1e-12)
