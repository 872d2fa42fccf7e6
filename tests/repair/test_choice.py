"""Choosing among candidates: what passes, what harms, and which questions judge."""

import numpy as np
import pytest

from argus.repair.trials import NOTHING, choose, deal_folds


def values(scores, recalls=None):
    recalls = scores if recalls is None else recalls
    return {
        f"q{i:03}": {"nDCG@10": float(s), "R@10": float(r)}
        for i, (s, r) in enumerate(zip(scores, recalls, strict=True))
    }


@pytest.fixture
def base():
    return np.random.default_rng(0).uniform(0.2, 0.8, 100)


def test_the_best_that_passes_is_kept(base):
    rng = np.random.default_rng(1)
    after = {
        "small": values(base + 0.02 + 0.01 * rng.normal(size=100)),
        "large": values(base + 0.05 + 0.01 * rng.normal(size=100)),
    }
    choice = choose(values(base), after, 5, 0)
    assert (choice["kept"], choice["chosen_by_fold"]) == ("large", ["large"] * 5)
    assert choice["cross_validated"]["mean_difference"] == pytest.approx(0.05, abs=0.005)


def test_a_gain_that_may_be_chance_is_not_kept(base):
    noise = np.random.default_rng(2).normal(size=100)
    noise += 0.03 - noise.mean()
    choice = choose(values(base), {"lucky": values(base + noise)}, 5, 0)
    assert choice["kept"] == NOTHING and not choice["trials"][0]["passes"]


def test_what_lowers_recall_is_not_kept(base):
    harming = values(base + 0.1, base - 0.02)
    choice = choose(values(base), {"harming": harming}, 5, 0)
    assert (choice["kept"], choice["trials"][0]["harms"]) == (NOTHING, True)
    assert set(choice["chosen_by_fold"]) == {NOTHING}
    assert choice["cross_validated"]["mean_difference"] == 0


def test_what_gains_only_where_it_was_chosen_is_not_kept(base):
    before, after = values(base), {}
    for i, fold in enumerate(deal_folds(sorted(before), 5, 0)):
        gains = [0.3 if query in fold else -0.02 for query in before]
        after[f"luck {i}"] = values(base + np.array(gains))
    choice = choose(before, after, 5, 0)
    assert all(trial["passes"] for trial in choice["trials"])
    assert choice["kept"] == NOTHING
    assert choice["cross_validated"]["mean_difference"] == pytest.approx(-0.02)
