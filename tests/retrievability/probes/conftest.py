"""Vectors whose label lies in a direction, and the estimators small enough to fit in a moment."""

from __future__ import annotations

import numpy as np
import pytest

from argus.retrievability.probes.estimators import (
    DistilledProbe,
    MLPProbe,
    RidgeProbe,
    XGBoostProbe,
)


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


SMALL = {
    "ridge": RidgeProbe(alpha=0.01),
    "xgboost": XGBoostProbe(n_estimators=60, jobs=1),
    "distilled": DistilledProbe(width=32, teachers=2, teacher_width=64, max_epochs=40),
    "mlp": MLPProbe(width=32, depth=2, learning_rate=1e-2, batch_size=64, max_epochs=40),
}


@pytest.fixture(params=list(SMALL))
def estimator(request):
    from sklearn.base import clone

    return clone(SMALL[request.param])


@pytest.fixture(scope="module", params=list(SMALL))
def fitted(request, learnable):
    from sklearn.base import clone

    return clone(SMALL[request.param]).fit(*learnable)
