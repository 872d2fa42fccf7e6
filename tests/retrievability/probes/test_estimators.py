import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from argus.retrievability.probes import models
from argus.retrievability.probes.models import (
    fit_distilled,
    fit_mlp,
    fit_ridge,
    kernel_ridge,
    validation_rmse,
)
from tests.retrievability.probes.conftest import NETWORK, fit


def test_one_seed_gives_one_fit_and_moves_no_global_generator(fitted, learnable):
    import torch

    family, first = fitted
    torch.manual_seed(5)
    before = torch.get_rng_state()
    again = fit(family, learnable)
    assert torch.equal(before, torch.get_rng_state())
    np.testing.assert_array_equal(first.predict(learnable[0]), again.predict(learnable[0]))
    rest = learnable[0][500:], learnable[1][500:]
    assert validation_rmse(first, rest) < 0.9 * rest[1].std(), "it learns"


def test_standardising_uses_the_training_rows_alone(learnable):
    """Folding the scaler in is the pipeline of a scaler fitted on the same rows and ridge."""
    vectors, labels = learnable
    train = vectors[:400].astype(float), labels[:400]
    mine, _ = fit_ridge(train, train, alpha=3, standardize=True)
    plain = make_pipeline(StandardScaler(), Ridge(alpha=3)).fit(*train)
    np.testing.assert_allclose(
        mine.predict(vectors[400:]), plain.predict(vectors[400:].astype(float)), atol=1e-6
    )
    held = vectors[400:] + 9, labels[400:]
    network, _ = fit_mlp(train, held, seed=0, **NETWORK | {"depth": 1, "max_epochs": 2})
    np.testing.assert_allclose(network.mean, vectors[:400].mean(axis=0), atol=1e-6)


def test_early_stopping_keeps_the_best_epoch_on_validation(learnable):
    vectors, labels = learnable
    rng = np.random.default_rng(0)
    noise = (vectors[:100], rng.random(100))  # nothing to learn: more epochs only do harm
    train, settings = (vectors[100:], labels[100:]), NETWORK | {"max_epochs": 500, "patience": 3}
    assert fit_mlp(train, noise, seed=0, **settings)[1] < 60


@pytest.mark.parametrize("family", ["ridge", "mlp"])
def test_rounding_in_a_dead_dimension_is_not_read_as_signal(family, learnable):
    """MiniLM has dimensions of 1e-33 to 1e-9; another number format gives others there."""
    vectors, labels = learnable
    rng = np.random.default_rng(0)
    fits, reads = (rng.normal(scale=1e-8, size=(600, 1)).astype(np.float32) for _ in range(2))
    more = {"alpha": 1e-6, "standardize": True} if family == "ridge" else {}
    model = fit(family, (np.hstack([vectors, fits]), labels), **more)
    one = model.predict(np.hstack([vectors, fits]))
    other = model.predict(np.hstack([vectors, 100 * reads]))
    np.testing.assert_allclose(one, other, atol=1e-3)


def test_the_distilled_is_as_small_as_a_network_and_errs_less_where_labels_are_noisy(learnable):
    vectors, labels = learnable
    rng = np.random.default_rng(3)
    noisy = np.clip(labels + rng.normal(scale=0.25, size=len(labels)), 0, 1)
    split = (vectors[:400], noisy[:400]), (vectors[400:480], noisy[400:480])
    settings = {"width": 32, "depth": 2, "max_epochs": 60, "seed": 0}
    plain, _ = fit_mlp(*split, **settings, batch_size=64, learning_rate=1e-3)
    taught, _ = fit_distilled(*split, **settings, teacher_width=256)
    sizes = [sum(a.nbytes for a in probe.arrays().values()) for probe in (plain, taught)]
    assert sizes[0] == sizes[1]
    rest = vectors[480:], labels[480:]
    assert validation_rmse(taught, rest) < validation_rmse(plain, rest)


def test_the_kernel_that_teaches_is_kernel_ridge_on_anchors_in_half_precision(
    learnable, monkeypatch
):
    vectors, labels = learnable
    stored = vectors[:500].astype(np.float16).astype(np.float64)
    plain = KernelRidge(alpha=models.PENALTY, kernel="rbf", gamma=models.GAMMA)
    plain.fit(stored, labels[:500] - labels[:500].mean())
    expected = plain.predict(vectors[500:].astype(np.float64)) + labels[:500].mean()
    for rows in (7, models.ROWS):
        monkeypatch.setattr(models, "ROWS", rows)
        found = kernel_ridge(vectors[:500], labels[:500], vectors[500:], 0)
        np.testing.assert_allclose(found, expected, atol=1e-4)
