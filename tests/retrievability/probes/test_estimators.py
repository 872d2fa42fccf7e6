import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from argus.retrievability.probes.estimators import MLPProbe, RidgeProbe, XGBoostProbe


@parametrize_with_checks(
    [
        RidgeProbe(),
        XGBoostProbe(n_estimators=5, jobs=1),
        MLPProbe(width=8, depth=1, max_epochs=3),
    ]
)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_one_seed_gives_one_fit_and_moves_no_global_generator(estimator, learnable):
    import torch

    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = clone(estimator).fit(*learnable).predict(learnable[0])
    assert torch.equal(before, torch.get_rng_state())
    np.testing.assert_array_equal(first, clone(estimator).fit(*learnable).predict(learnable[0]))


def test_standardising_uses_the_training_rows_alone(learnable):
    """Folding the scaler in is the pipeline of a scaler fitted on the same rows and ridge."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    vectors, labels = learnable
    mine = RidgeProbe(alpha=3, standardize=True).fit(vectors[:400], labels[:400])
    plain = make_pipeline(StandardScaler(), Ridge(alpha=3)).fit(vectors[:400], labels[:400])
    expected = np.clip(plain.predict(vectors[400:]), 0, 1)
    np.testing.assert_allclose(mine.predict(vectors[400:]), expected, atol=1e-6)
    network = MLPProbe(width=8, depth=1, max_epochs=2)
    network.fit(vectors[:400], labels[:400], validation=(vectors[400:] + 9, labels[400:]))
    np.testing.assert_allclose(network.model_.mean, vectors[:400].mean(axis=0), atol=1e-6)


def test_early_stopping_keeps_the_best_epoch_on_validation(learnable):
    vectors, labels = learnable
    rng = np.random.default_rng(0)
    noise = (vectors[:100], rng.random(100))  # nothing to learn: more epochs only do harm
    short = MLPProbe(width=32, depth=1, learning_rate=1e-2, max_epochs=500, patience=3)
    short.fit(vectors[100:], labels[100:], validation=noise)
    assert short.n_iter_ < 60


@pytest.mark.parametrize(
    "estimator",
    [
        RidgeProbe(alpha=1e-6, standardize=True),
        MLPProbe(width=32, depth=2, learning_rate=1e-2, batch_size=64, max_epochs=20),
    ],
)
def test_rounding_in_a_dead_dimension_is_not_read_as_signal(estimator, learnable):
    """MiniLM has dimensions of 1e-33 to 1e-9; another number format gives others there."""
    vectors, labels = learnable
    rng = np.random.default_rng(0)
    fits, reads = (rng.normal(scale=1e-8, size=(600, 1)).astype(np.float32) for _ in range(2))
    estimator.fit(np.hstack([vectors, fits]), labels)
    one = estimator.predict(np.hstack([vectors, fits]))
    other = estimator.predict(np.hstack([vectors, 100 * reads]))
    np.testing.assert_allclose(one, other, atol=1e-3)
