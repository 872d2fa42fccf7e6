"""The small network that large probes teach."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from argus.retrievability.probes import distilled as module
from argus.retrievability.probes.distilled import kernel_ridge, points_between
from argus.retrievability.probes.estimators import DistilledProbe, MLPProbe
from argus.retrievability.probes.models import MlpModel


def test_points_lie_between_two_rows_and_are_as_long():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(30, 8)).astype(np.float32)
    vectors *= (np.arange(1, 31) / np.linalg.norm(vectors, axis=1))[:, None].astype(np.float32)
    points = points_between(vectors, 200, seed=1)
    assert points.shape == (200, 8) and points.dtype == np.float32
    lengths = np.linalg.norm(points, axis=1)
    assert 1 <= lengths.min() < lengths.max() <= 30 + 1e-4
    assert (points == points_between(vectors, 200, seed=1)).all()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.linalg.norm(points_between(unit, 50, 2), axis=1) == pytest.approx(1, abs=1e-5)


def test_it_is_as_small_as_a_network_and_errs_less_where_labels_are_noisy(learnable):
    vectors, labels = learnable
    rng = np.random.default_rng(3)
    noisy = np.clip(labels + rng.normal(scale=0.25, size=len(labels)), 0, 1)
    split = (vectors[:400], noisy[:400]), (vectors[400:480], noisy[400:480])
    settings = {"width": 32, "depth": 2, "max_epochs": 60}
    plain = MLPProbe(**settings, batch_size=64, learning_rate=1e-3)
    taught = DistilledProbe(**settings, teacher_width=256)
    errors = []
    for probe in (plain, taught):
        probe.fit(*split[0], validation=split[1])
        errors.append(np.sqrt(np.mean((probe.predict(vectors[480:]) - labels[480:]) ** 2)))
    assert isinstance(taught.model_, MlpModel)
    sizes = [sum(a.nbytes for a in probe.model_.arrays().values()) for probe in (plain, taught)]
    assert sizes[0] == sizes[1]
    assert errors[1] < errors[0]


def test_the_kernel_that_teaches_is_kernel_ridge_on_anchors_in_half_precision(
    learnable, monkeypatch
):
    vectors, labels = learnable
    stored = vectors[:500].astype(np.float16).astype(np.float64)
    plain = KernelRidge(alpha=module.PENALTY, kernel="rbf", gamma=module.GAMMA)
    plain.fit(stored, labels[:500] - labels[:500].mean())
    expected = plain.predict(vectors[500:].astype(np.float64)) + labels[:500].mean()
    for rows in (7, module.ROWS):
        monkeypatch.setattr(module, "ROWS", rows)
        found = kernel_ridge(vectors[:500], labels[:500], vectors[500:], 0)
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_of_many_rows_the_kernel_draws_so_many_by_the_seed(learnable, monkeypatch):
    vectors, labels = learnable
    monkeypatch.setattr(module, "MAX_ANCHORS", 100)
    one, same, other = (kernel_ridge(vectors, labels, vectors, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
