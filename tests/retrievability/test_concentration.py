import pytest

from argus.retrievability.exposure_findings import gini, lorenz, skewness


def test_gini_by_hand():
    assert gini([3, 3, 3, 3]) == 0
    # One of four has all: (2*4 - 4 - 1) * 1 / (4 * 1) = 3/4.
    assert gini([0, 0, 0, 5]) == 0.75
    # 1, 3: (-1*1 + 1*3) / (2*4) = 1/4.
    assert gini([3, 1]) == 0.25
    assert gini([0, 0]) == 0 and gini([]) == 0


def test_lorenz_curve_by_hand():
    assert lorenz([1, 3], points=3).tolist() == pytest.approx([0, 0.25, 1])
    assert lorenz([2, 2], points=5).tolist() == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert lorenz([0, 0], points=2).tolist() == [0, 0]


def test_skewness_by_hand():
    # Mean 1, deviations -1, -1, 2: variance 2, third moment 2: 2 / 2^1.5.
    assert skewness([0, 0, 3]) == pytest.approx(2 / 2**1.5)
    assert skewness([4, 4]) == 0
