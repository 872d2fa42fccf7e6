import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.measures.intervals import discrimination


@given(st.lists(st.floats(0, 1, width=16), min_size=5, max_size=20), st.integers(0, 99))
def test_it_is_the_share_of_pairs(first, seed):
    second = np.random.default_rng(seed).random(7).round(1).tolist()
    found = discrimination([*first, *second], [True] * len(first) + [False] * 7)
    pairs = [(a > b) + (a == b) / 2 for a in first for b in second]
    assert found["auc"] == pytest.approx(np.mean(pairs), abs=1e-4)
    assert found["low"] <= found["auc"] <= found["high"]


def test_the_interval_covers_the_truth():
    rng, covered = np.random.default_rng(0), 0
    truth = 0.7602  # P(Z > -1/sqrt(2)) for two unit normals one apart
    for _ in range(300):
        scores = np.concatenate([rng.normal(1, 1, 40), rng.normal(0, 1, 60)])
        found = discrimination(scores, [True] * 40 + [False] * 60)
        covered += found["low"] <= truth <= found["high"]
    assert covered / 300 > 0.91
