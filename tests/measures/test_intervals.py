"""Intervals for differences of proportions against published examples."""

import pytest

from argus.measures.intervals import newcombe


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [  # Newcombe (1998), Table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombes_examples_come_out(first, second, low, high):
    found = newcombe(first[0] / first[1], first[1], second[0] / second[1], second[1])
    assert found == pytest.approx((low, high), abs=5e-5)
