import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from argus.retrievability.probes.probe import QUANTILE, ProbeDomain, fit_domain
from tests.support.draws import examples


def cloud(n, dim=20, seed=0):
    rng = np.random.default_rng(seed)
    spread = np.linspace(0.3, 0.02, dim)
    rows = rng.normal(size=(n, dim)) * spread + np.eye(dim)[0]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_scores_are_scikit_learns_log_likelihood():
    train = cloud(400)
    domain = fit_domain(train, cloud(100, seed=1))
    pca = PCA(len(domain.variances), svd_solver="full").fit(train.astype(float))
    other = cloud(50, seed=2)
    expected = -pca.score_samples(other.astype(float)) / train.shape[1]
    np.testing.assert_allclose(domain.scores(other), expected, atol=0.02)  # float16 components


def test_one_validation_entity_in_a_hundred_is_outside():
    held = cloud(1000, seed=1)
    domain = fit_domain(cloud(2000), held)
    assert (~domain.inside(domain.scores(held))).mean() == pytest.approx(1 - QUANTILE, abs=0.002)
    others = domain.inside(domain.scores(cloud(5000, seed=3)))
    assert (~others).mean() == pytest.approx(1 - QUANTILE, abs=0.01)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(2, 40), st.integers(2, 12), st.integers(0, 99))
def test_any_training_set_gives_finite_scores_when_stored(n, dim, seed):
    train = cloud(n, dim, seed)
    domain = fit_domain(train, train)
    scores = domain.scores(train)
    assert np.isfinite(scores).all() and np.isfinite(domain.threshold)
    again = ProbeDomain.from_arrays(domain.arrays())
    np.testing.assert_array_equal(again.scores(train), scores)
    assert again.threshold == domain.threshold
