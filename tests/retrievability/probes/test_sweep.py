import json

import numpy as np
import pytest

from argus.retrievability.probes import sweep as module
from argus.retrievability.probes.config import ProbeConfig
from argus.retrievability.probes.metrics import measure
from argus.retrievability.probes.split import split_entities
from argus.retrievability.probes.sweep import Labelled, sweep


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
