import json

import numpy as np
import pytest

from argus.retrievability.config import ProbeConfig
from argus.retrievability.probes import fit as module
from argus.retrievability.probes import models
from argus.retrievability.probes.data import SHARES, measure, split_entities
from argus.retrievability.probes.fit import sweep


@pytest.fixture(autouse=True)
def small_grid(monkeypatch):
    small = {
        "ridge": [{"alpha": alpha} for alpha in (1e-2, 1.0, 1e3)],
        "xgboost": [{"n_estimators": 40, "max_depth": 3, "jobs": 1}],
        "mlp": [{"width": 32, "depth": 2, "learning_rate": 1e-2, "batch_size": 64}],
    }
    monkeypatch.setattr(module, "QUICK", small)


@pytest.fixture
def data(learnable):
    vectors, labels = learnable
    ids = [f"e{i}" for i in range(len(labels))]
    split = split_entities(ids, [i.encode() for i in ids], seed=0)
    return {name: (vectors[split == name], labels[split == name]) for name in SHARES}


def test_the_choice_is_by_validation_and_sees_no_test_split(data, tmp_path):
    config = ProbeConfig(families=("ridge", "mlp"), seed=1)
    trials, best = sweep(data, config, tmp_path / "a.jsonl")
    least = min(t.validation_rmse for t in trials if t.family == "ridge")
    assert best["ridge"][0].validation_rmse == least
    spoilt = data | {"test": (data["test"][0], np.full(len(data["test"][1]), 0.5))}
    again, _ = sweep(spoilt, config, tmp_path / "b.jsonl")
    known = [(t.key, t.validation_rmse) for t in trials]
    assert [(t.key, t.validation_rmse) for t in again] == known


def test_shuffled_labels_give_no_correlation_on_test(data, tmp_path):
    """Whatever leaked from the labels of the test split would show here."""
    rng = np.random.default_rng(3)
    shuffled = {name: (x, rng.permutation(y)) for name, (x, y) in data.items()}
    found = {}
    for name, parts in (("true", data), ("shuffled", shuffled)):
        _, best = sweep(parts, ProbeConfig(), tmp_path / f"{name}.jsonl")
        vectors, truth = parts["test"]
        found[name] = {
            family: measure(truth, np.clip(model.predict(vectors), 0, 1))["pearson"] or 0.0
            for family, (_, model) in best.items()
        }
    bound = 3 / np.sqrt(len(data["test"][1]))  # three standard errors of no correlation
    assert all(abs(pearson) < bound for pearson in found["shuffled"].values()), found
    assert all(pearson > 0.8 for pearson in found["true"].values()), found


def test_a_killed_sweep_goes_on_after_its_last_whole_trial(data, tmp_path, monkeypatch):
    config, ledger = ProbeConfig(families=("ridge", "mlp")), tmp_path / "probe" / "trials.jsonl"
    whole, best = sweep(data, config, ledger)
    lines = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(lines[:2]) + lines[2][:40])
    fitted = []

    def counting(family, fit):
        def counted(*args, **options):
            fitted.append(family)
            return fit(*args, **options)

        return counted

    for family, fit in models.FAMILIES.items():
        monkeypatch.setitem(models.FAMILIES, family, counting(family, fit))
    again, best_again = sweep(data, config, ledger)
    known = [(t.key, t.validation_rmse) for t in whole]
    assert [(t.key, t.validation_rmse) for t in again] == known
    keys = [json.loads(line)["key"] for line in ledger.read_text().splitlines()]
    assert sorted(keys) == sorted(key for key, _ in known)
    # Two that were lost, and the best of a family that was among those that were read.
    assert 2 <= len(fitted) <= 4
    for family, (_, model) in best.items():
        vectors = data["test"][0]
        np.testing.assert_array_equal(
            best_again[family][1].predict(vectors), model.predict(vectors)
        )
