"""Kernel ridge: equal to scikit-learn's, small anchors, whole on disk."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from argus.retrievability.probes import kernel as module
from argus.retrievability.probes.estimators import KernelProbe, RidgeProbe
from argus.retrievability.probes.kernel import KernelModel, train_kernel


def test_it_is_kernel_ridge_on_the_anchors_as_they_are_stored(learnable):
    vectors, labels = learnable
    model = train_kernel(vectors[:500], labels[:500], gamma=2.0, penalty=0.3, seed=0)
    stored = vectors[:500].astype(np.float16).astype(np.float64)
    plain = KernelRidge(alpha=0.3, kernel="rbf", gamma=2.0)
    plain.fit(stored, labels[:500] - labels[:500].mean())
    expected = plain.predict(vectors[500:].astype(np.float64)) + labels[:500].mean()
    np.testing.assert_allclose(model.predict(vectors[500:]), expected, atol=1e-4)


def test_it_reads_what_is_bent_better_than_a_line_does(learnable):
    vectors, labels = learnable

    def error(probe):
        fitted = probe.fit(vectors[:500], labels[:500])
        return np.sqrt(np.mean((fitted.predict(vectors[500:]) - labels[500:]) ** 2))

    assert error(KernelProbe(gamma=1.0, penalty=0.1)) < error(RidgeProbe(alpha=0.1))


def test_of_many_rows_so_many_are_drawn_by_the_seed(learnable, monkeypatch):
    vectors, labels = learnable
    monkeypatch.setattr(module, "MOST_ANCHORS", 100)
    one, same, other = (
        train_kernel(vectors, labels, gamma=1.0, penalty=0.1, seed=seed) for seed in (1, 1, 2)
    )
    assert one.anchors.shape == (100, 24)
    np.testing.assert_array_equal(one.anchors, same.anchors)
    assert (one.anchors != other.anchors).any()


def test_how_many_are_asked_at_once_changes_nothing(learnable, monkeypatch):
    vectors, labels = learnable
    model = train_kernel(vectors, labels, gamma=1.0, penalty=0.1, seed=0)
    whole = model.predict(vectors)
    monkeypatch.setattr(module, "ROWS", 7)
    np.testing.assert_allclose(model.predict(vectors), whole, atol=1e-5)


def test_it_is_built_again_of_its_arrays_and_damage_is_refused(learnable):
    vectors, labels = learnable
    model = train_kernel(vectors, labels, gamma=1.0, penalty=0.1, seed=0)
    again = KernelModel.from_arrays(model.arrays())
    np.testing.assert_array_equal(again.predict(vectors), model.predict(vectors))
    with pytest.raises(ValueError, match=r"weights are \(3,\) for anchors"):
        KernelModel.from_arrays(model.arrays() | {"weights": model.weights[:3]})
