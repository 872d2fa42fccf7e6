"""Choosing among remedies, parts and fusions: what is kept, and what choosing gains."""

import numpy as np
import pytest

from argus.repair.trials import BLEND, MINE, NOTHING, choose


def values(scores):
    return {f"q{i:03}": {"nDCG@10": float(s), "R@10": float(s)} for i, s in enumerate(scores)}


@pytest.fixture
def base():
    return np.random.default_rng(0).uniform(0.2, 0.8, 100)


@pytest.fixture
def noise():
    return 0.01 * np.random.default_rng(1).normal(size=100)


def test_the_default_is_kept_and_told_on_other_folds(base, noise):
    after = {BLEND: values(base + 0.02 + noise), "expand": values(base + 0.02 + noise / 2)}
    choice = choose(values(base), after, {"RRF (60)": values(base - 0.1)}, 5, 0)
    assert choice["kept"] == choice["recommended"] == BLEND
    assert choice["chosen_by_fold"] == [BLEND] * 5
    assert choice["cross_validated"]["mean_difference"] == pytest.approx(0.02, abs=0.005)
    assert [trial["passes"] for trial in choice["trials"]] == [True, True]
    assert choice["arms"][0]["harms"] and choice["arms"][0]["verdict"] == "worse"


def test_a_fusion_that_is_clearly_better_is_recommended_and_nothing_kept(base, noise):
    others = {"min-max 0.5": values(base + 0.1 + noise)}
    choice = choose(values(base), {BLEND: values(base + 0.02 + noise)}, others, 5, 0)
    assert (choice["recommended"], choice["kept"]) == ("min-max 0.5", NOTHING)


def test_what_runs_stays_where_the_default_does_not_gain(base, noise):
    choice = choose(values(base), {BLEND: values(base - 0.02 + noise)}, {}, 5, 0)
    assert (choice["recommended"], choice["kept"]) == (MINE, NOTHING)
    assert set(choice["chosen_by_fold"]) == {MINE}
    assert choice["cross_validated"]["mean_difference"] == 0
