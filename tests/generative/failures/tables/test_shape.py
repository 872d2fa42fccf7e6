import json

import numpy as np
import pytest

from argus.generative.failures.tables.shape import plain, proportion, spread
from argus.measures.intervals import wilson


def test_figures_become_plain_json():
    found = plain({1: np.float64(1 / 3), "b": [np.int64(7), float("nan"), (np.True_, None, "x")]})
    assert found == {"1": 0.33333333, "b": [7, None, [True, None, "x"]]}
    assert json.dumps(found, allow_nan=False)
    assert plain(1.23e-113) == 1.23e-113
    assert plain(123456789.4) == 123456790.0


def test_the_spread_of_nothing_is_empty_and_never_zero():
    assert spread(np.array([np.nan])) == {
        "n": 0, "mean": None, "sigma": None, "median": None, "min": None, "max": None,
    }  # fmt: skip
    found = spread(np.array([2.0, np.nan, 4.0]))
    assert found == {"n": 2, "mean": 3, "sigma": 1, "median": 3, "min": 2, "max": 4}


def test_intervals_of_none_and_of_all_end_at_0_and_1():
    rounded = [n for n in range(1, 100) if wilson(0, n)[0] > 0 or wilson(1, n)[1] < 1]
    assert rounded
    for n in rounded:
        assert proportion(0.0, n)[1] == 0
        assert proportion(1.0, n)[2] == 1


def test_a_share_of_nobody_has_no_interval():
    assert proportion(None, 0) == [None, None, None]
    assert proportion(0.0, 1) == [0.0, 0.0, pytest.approx(0.7935, abs=1e-4)]
    assert proportion(1.0, 1) == [1.0, pytest.approx(0.2065, abs=1e-4), 1.0]
