import json
from dataclasses import replace

import numpy as np
import pytest

from argus.retrievability.probes import sweep as module
from argus.retrievability.probes.config import ProbeConfig
from argus.retrievability.probes.estimators import FAMILIES
from argus.retrievability.probes.metrics import measure
from argus.retrievability.probes.split import split_entities
from argus.retrievability.probes.sweep import Labelled, sweep

RIDGE = ProbeConfig(families=("ridge",))


@pytest.fixture(autouse=True)
def small_grid(monkeypatch):
    small = {
        "ridge": [{"alpha": alpha, "standardize": False} for alpha in (1e-2, 1.0, 1e3)],
        "xgboost": [{"n_estimators": 40, "max_depth": 3, "jobs": 1}],
        "mlp": [{"width": 32, "depth": 2, "learning_rate": 1e-2, "batch_size": 64}],
    }
    monkeypatch.setattr(module, "QUICK", small)


@pytest.fixture
def data(learnable):
    vectors, labels = learnable
    ids = [f"e{i}" for i in range(len(labels))]
    return Labelled(vectors, labels, split_entities(ids, [i.encode() for i in ids], seed=0))


def test_the_papers_grid_is_whole():
    assert len(module.settings("ridge", full=True)) == 20
    assert len(module.settings("mlp", full=True)) == 3**5
    assert len(module.settings("xgboost", full=True)) == 3**6  # tree counts are prefixes of one run
    for family, kind in FAMILIES.items():
        for full in (False, True):
            for parameters in module.settings(family, full=full):
                kind(**parameters)


def test_fewer_trees_are_a_prefix_of_more(learnable):
    """Why the full grid need not try 300 and 600 trees beside 1,000."""
    vectors, labels = learnable
    held = (vectors[500:], labels[500:])
    fits = [
        FAMILIES["xgboost"](n_estimators=n, learning_rate=0.01, jobs=1).fit(
            vectors[:500], labels[:500], validation=held
        )
        for n in (20, 60)
    ]
    first = fits[1].model_._booster[:20].inplace_predict(vectors)
    np.testing.assert_array_equal(fits[0].model_.predict(vectors), first)


def test_a_sweeps_trees_are_those_of_the_library_and_binned_once(data, monkeypatch):
    import xgboost

    binned = []
    matrix = xgboost.QuantileDMatrix

    def counted(*args, **given):
        binned.append(given)
        return matrix(*args, **given)

    monkeypatch.setattr(xgboost, "QuantileDMatrix", counted)
    (x, y), held = data.part("train"), data.part("validation")
    for seed, depth in ((0, 2), (1, 4), (1, 3)):
        growth = {"max_depth": depth, "subsample": 0.7, "colsample_bytree": 0.9}
        ours = FAMILIES["xgboost"](n_estimators=60, seed=seed, jobs=1, **growth)
        ours.fit(x, y, validation=held)
        growth |= {"learning_rate": 0.1, "min_child_weight": 5, "reg_lambda": 1.0}
        theirs = xgboost.XGBRegressor(
            n_estimators=60, random_state=seed, early_stopping_rounds=20, n_jobs=1, **growth
        ).fit(x, y, eval_set=[held], verbose=False)
        assert ours.n_iter_ == theirs.best_iteration + 1
        np.testing.assert_array_equal(
            ours.model_.predict(held[0]), theirs.predict(held[0]).astype(np.float64)
        )
    assert len(binned) == 2  # both splits, for three fits


def test_the_choice_is_by_validation_and_sees_no_test_split(data, tmp_path):
    found = sweep(data, ProbeConfig(families=("ridge", "mlp"), seed=1), tmp_path / "a.jsonl")
    assert len(found.trials) == 4
    chosen = found.best["ridge"][0]
    assert chosen.validation_rmse == min(
        t.validation_rmse for t in found.trials if t.family == "ridge"
    )
    assert found.best[found.winner][0].validation_rmse == min(
        t.validation_rmse for t in found.trials
    )
    spoilt = data.labels.copy()
    spoilt[data.split == "test"] = 0.5
    again = sweep(
        Labelled(data.vectors, spoilt, data.split),
        ProbeConfig(families=("ridge", "mlp"), seed=1), tmp_path / "b.jsonl",
    )  # fmt: skip
    assert [t.validation_rmse for t in again.trials] == [t.validation_rmse for t in found.trials]
    assert [t.key for t in again.trials] == [t.key for t in found.trials]


def test_shuffled_labels_give_no_correlation_on_test(data, tmp_path):
    """Whatever leaked from the labels of the test split would show here."""
    rng = np.random.default_rng(3)
    found = {}
    for name, labels in (("true", data.labels), ("shuffled", rng.permutation(data.labels))):
        shuffled = Labelled(data.vectors, labels, data.split)
        result = sweep(shuffled, ProbeConfig(), tmp_path / f"{name}.jsonl")
        vectors, truth = shuffled.part("test")
        found[name] = {
            family: measure(truth, estimator.predict(vectors)).pearson or 0.0
            for family, (_, estimator) in result.best.items()
        }
    bound = 3 / np.sqrt((data.split == "test").sum())  # three standard errors of no correlation
    assert all(abs(pearson) < bound for pearson in found["shuffled"].values()), found
    assert all(pearson > 0.8 for pearson in found["true"].values()), found


def test_a_killed_sweep_goes_on_after_its_last_whole_trial(data, tmp_path, monkeypatch):
    ledger = tmp_path / "probe" / "trials.jsonl"
    whole = sweep(data, ProbeConfig(families=("ridge", "mlp")), ledger)
    lines = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(lines[:2]) + lines[2][:40])  # the kill came in the third line

    fitted = []
    fit = module._fit

    def counted(data, family, parameters, seed, key):
        fitted.append((family, parameters))
        return fit(data, family, parameters, seed, key)

    monkeypatch.setattr(module, "_fit", counted)
    again = sweep(data, ProbeConfig(families=("ridge", "mlp")), ledger)
    strip = [(t.key, t.validation_rmse) for t in whole.trials]
    assert [(t.key, t.validation_rmse) for t in again.trials] == strip
    assert [json.loads(line)["key"] for line in ledger.read_text().splitlines()] == sorted(
        key for key, _ in strip
    )
    # Two that were lost, and the best of a family that was among those kept.
    assert 2 <= len(fitted) <= 4
    vectors, _ = data.part("test")
    for family in ("ridge", "mlp"):
        np.testing.assert_array_equal(
            again.best[family][1].predict(vectors), whole.best[family][1].predict(vectors)
        )


def test_trials_of_other_data_or_another_seed_are_not_used_again(data, tmp_path):
    ledger = tmp_path / "trials.jsonl"
    keys = {t.key for t in sweep(data, RIDGE, ledger).trials}
    other = Labelled(data.vectors, np.clip(data.labels + 0.01, 0, 1), data.split)
    assert keys.isdisjoint(t.key for t in sweep(other, RIDGE, ledger).trials)
    assert keys.isdisjoint(t.key for t in sweep(data, replace(RIDGE, seed=5), ledger).trials)
    assert len(ledger.read_text().splitlines()) == 9
