"""Vectors whose label lies in a direction, and fits small enough to be done in a moment."""

import numpy as np
import pytest

from argus.retrievability.probes.models import FAMILIES


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="session")
def learnable():
    """600 unit vectors of 24 dimensions, and as RPS a bent function of them with noise."""
    rng = np.random.default_rng(7)
    vectors = unit(rng.normal(size=(600, 24)))
    signal = 3 * vectors[:, 0] + 4 * np.maximum(vectors[:, 1], 0)
    labels = np.clip(0.3 + 0.3 * signal + rng.normal(scale=0.05, size=600), 0, 1)
    return vectors, labels


NETWORK = {"width": 32, "depth": 2, "learning_rate": 1e-2, "batch_size": 64}
SMALL = {
    "ridge": {"alpha": 0.01},
    "xgboost": {"n_estimators": 60, "max_depth": 4, "jobs": 1},
    "distilled": {"width": 32, "depth": 2, "teachers": 2, "teacher_width": 64, "max_epochs": 10},
    "mlp": NETWORK | {"max_epochs": 20},
}


def fit(family, learnable, **more):
    """Fit a family to the first 500 rows, stopped on the others; return the model."""
    vectors, labels = learnable
    train, held = (vectors[:500].astype(float), labels[:500]), (vectors[500:], labels[500:])
    return FAMILIES[family](train, held, **{"seed": 0} | SMALL[family] | more)[0]


@pytest.fixture(scope="session", params=list(SMALL))
def fitted(request, learnable):
    return request.param, fit(request.param, learnable)
