"""Choosing among the arms of a trial: what is recommended, and what choosing gains."""

import numpy as np
import pytest

from argus.tuning.arms import MINE
from argus.tuning.choose import BLEND, MEASURES, choose


def values(scores):
    return {f"q{i:03}": dict.fromkeys(MEASURES, float(s)) for i, s in enumerate(scores)}


@pytest.fixture
def base():
    return np.random.default_rng(0).uniform(0.2, 0.8, 100)


@pytest.fixture
def noise():
    return 0.01 * np.random.default_rng(1).normal(size=100)


def test_the_default_is_kept_and_told_on_other_folds(base, noise):
    arms = {BLEND: values(base + 0.02 + noise), "expand": values(base + 0.02 + noise / 2)}
    arms["RRF (60)"] = values(base - 0.1)
    choice = choose(values(base), arms, 5, 0)
    assert choice["recommended"] == BLEND
    assert choice["chosen_by_fold"] == [BLEND] * 5
    assert choice["cross_validated"]["mean_difference"] == pytest.approx(0.02, abs=0.005)
    figures = {arm["arm"]: arm for arm in choice["arms"]}
    assert figures[BLEND]["passes"] and figures["expand"]["passes"]
    assert figures["RRF (60)"]["harms"] and figures["RRF (60)"]["verdict"] == "worse"
    assert choice["best_fusion"] == "RRF (60)"
    assert figures[BLEND]["over_fusion"]["mean_difference"] == pytest.approx(0.12, abs=0.005)


def test_a_fusion_that_is_clearly_better_is_recommended(base, noise):
    arms = {BLEND: values(base + 0.02 + noise), "min-max 0.5": values(base + 0.1 + noise)}
    assert choose(values(base), arms, 5, 0)["recommended"] == "min-max 0.5"


def test_what_runs_stays_where_the_default_does_not_gain(base, noise):
    choice = choose(values(base), {BLEND: values(base - 0.02 + noise)}, 5, 0)
    assert choice["recommended"] == MINE
    assert set(choice["chosen_by_fold"]) == {MINE}
    assert choice["cross_validated"]["mean_difference"] == 0
