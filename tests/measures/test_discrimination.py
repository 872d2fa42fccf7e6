import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.measures.intervals import discrimination


def test_perfect_reversed_and_tied_scores():
    group = [True] * 6 + [False] * 6
    assert discrimination([2.0] * 6 + [1.0] * 6, group)["auc"] == 1
    assert discrimination([1.0] * 6 + [2.0] * 6, group)["auc"] == 0
    tied = discrimination([1.0] * 12, group)
    assert tied["auc"] == 0.5 and tied["n"] == 12


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


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="finite"):
        discrimination([float("nan"), 1.0], [True, False])


def test_values_of_one_cluster_are_drawn_together():
    """Each value ten times over, as pairs of one question, tells no more than it does once."""
    rng = np.random.default_rng(0)
    scores, group = rng.normal(size=60), np.arange(60) % 2 == 0
    once = discrimination(scores, group, clusters=[f"{i}" for i in range(60)])
    many = discrimination(
        np.tile(scores, 10), np.tile(group, 10), clusters=[f"{i % 60}" for i in range(600)]
    )
    plain = discrimination(np.tile(scores, 10), np.tile(group, 10))
    assert many["auc"] == once["auc"] == plain["auc"]
    width = {name: x["high"] - x["low"] for name, x in
             (("once", once), ("many", many), ("plain", plain))}  # fmt: skip
    assert width["many"] == pytest.approx(width["once"], rel=0.1)
    assert width["plain"] < 0.5 * width["many"]
