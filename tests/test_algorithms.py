"""What the light install has in place of SciPy comes to what SciPy does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm, rankdata, t

from argus.algorithms import (
    average_linkage,
    average_ranks,
    components,
    normal_tail,
    student_quantile,
    student_tail,
)


@given(st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=4))
def test_ranks_are_scipys(rows):
    np.testing.assert_array_equal(average_ranks(rows), rankdata(rows, axis=-1))
    assert average_ranks([]).shape == (0,)


@pytest.mark.parametrize("df", [1, 2, 3, 29, 1_000, 200_000])
def test_students_t_is_scipys_far_out_as_well(df):
    for value in (0.0, 1e-200, 1e-6, 0.3, -1.0, 1.96, 8.0, 40.0, 1e200):
        assert student_tail(value, df) == pytest.approx(2 * t.sf(abs(value), df), rel=1e-8)
        assert normal_tail(value) == pytest.approx(norm.sf(value))
    for tail in (1.0, 0.9, 0.05, 1e-9, 0.0):
        assert student_quantile(tail, df) == pytest.approx(t.isf(tail / 2, df), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 9, 60, 200])
@pytest.mark.parametrize("most", [0.2, 0.5, 0.85])
def test_groups_are_scipys(n, most):
    rng = np.random.default_rng(n)
    rows = rng.random((n, 12)) * (rng.random((n, 12)) < 0.4) + 1e-3
    labels = fcluster(linkage(rows, "average", "cosine"), most, "distance")
    expected = sorted(np.flatnonzero(labels == label).tolist() for label in set(labels))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert average_linkage(1 - unit @ unit.T, most) == expected


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
    )
)
def test_components_of_several_nodes_are_scipys(targets):
    places = [(node, target) for node, several in enumerate(targets) for target in several]
    ends = np.array(places, int).reshape(-1, 2).T
    n = len(targets)
    graph = coo_array((np.ones(len(places)), tuple(ends)), shape=(n, n))
    _, labels = connected_components(graph, directed=True, connection="strong")
    expected = {frozenset(np.flatnonzero(labels == one).tolist()) for one in labels}
    found = [frozenset(one) for one in components(targets)]
    several = {one for one in found if len(one) > 1}
    assert several == {one for one in expected if len(one) > 1}
    assert len(set(found)) == len(found) and set(found) <= expected
