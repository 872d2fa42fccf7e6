"""Probes as scikit-learn estimators: ridge, XGBoost, MLP (ARGUS §4.1, §C.1), and distilled.

All take vectors (n, dim) and RPS in [0, 1], and predict within [0, 1]. XGBoost and MLP stop early
on the RMSE of `validation=(vectors, labels)`. Where it is not given, a tenth of the rows, by seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from argus.cores import available_cores
from argus.retrievability.probes.distilled import train_distilled
from argus.retrievability.probes.mlp import train_mlp
from argus.retrievability.probes.models import (
    Floats,
    LinearModel,
    Model,
    standard_scale,
)
from argus.retrievability.probes.trees import train_trees

Validation = tuple[npt.NDArray[Any], npt.NDArray[Any]]


class ProbeRegressor(RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Common base of the families: checked input, clipped output."""

    family: str
    model_: Model
    n_iter_: int

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, *, validation: Validation | None = None
    ) -> Self:
        """Fit to vectors (n, dim) and RPS (n,)."""
        vectors, labels = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.model_, self.n_iter_ = self._fit(vectors, labels, validation)
        return self

    def predict(self, X: npt.ArrayLike) -> Floats:
        """Return (n,) predicted RPS in [0, 1]."""
        check_is_fitted(self, "model_")
        vectors = validate_data(self, X, reset=False, dtype=np.float64)
        return np.clip(self.model_.predict(vectors), 0, 1)

    @abstractmethod
    def _fit(
        self, vectors: Floats, labels: Floats, validation: Validation | None
    ) -> tuple[Model, int]:
        """Return the fitted model and the iterations it took."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # scores outside [0, 1] are clipped
        return tags


class RidgeProbe(ProbeRegressor):
    """Ridge regression with an intercept, on raw or standardised vectors."""

    family = "ridge"

    def __init__(self, alpha: float = 1.0, standardize: bool = False) -> None:
        self.alpha, self.standardize = alpha, standardize

    def _fit(
        self, vectors: Floats, labels: Floats, validation: Validation | None
    ) -> tuple[Model, int]:
        scale = standard_scale(vectors) if self.standardize else np.ones(vectors.shape[1])
        mean = vectors.mean(axis=0) if self.standardize else np.zeros(vectors.shape[1])
        ridge = Ridge(alpha=self.alpha, solver="svd").fit((vectors - mean) / scale, labels)
        coefficients = np.asarray(ridge.coef_, np.float64) / scale
        return LinearModel(coefficients, float(ridge.intercept_ - mean @ coefficients)), 1


class XGBoostProbe(ProbeRegressor):
    """Gradient-boosted trees. Needs the extra `probes`."""

    family = "xgboost"

    def __init__(
        self,
        n_estimators: int = 300,
        max_depth: int = 4,
        learning_rate: float = 0.1,
        subsample: float = 0.7,
        colsample_bytree: float = 0.7,
        min_child_weight: float = 5,
        reg_lambda: float = 1.0,
        max_bin: int = 256,
        seed: int = 0,
        jobs: int | None = None,
    ) -> None:
        self.n_estimators, self.max_depth = n_estimators, max_depth
        self.learning_rate, self.subsample = learning_rate, subsample
        self.colsample_bytree, self.min_child_weight = colsample_bytree, min_child_weight
        self.reg_lambda, self.max_bin = reg_lambda, max_bin
        self.seed, self.jobs = seed, jobs

    def _fit(
        self, vectors: Floats, labels: Floats, validation: Validation | None
    ) -> tuple[Model, int]:
        vectors, labels, validation = hold_out(vectors, labels, validation, self.seed)
        settings = self.get_params()
        own = {name: settings.pop(name) for name in ("n_estimators", "max_bin", "seed")}
        jobs = settings.pop("jobs") or available_cores()
        return train_trees(vectors, labels, validation, **own, jobs=jobs, growth=settings)


class MLPProbe(ProbeRegressor):
    """A dense network on standardised vectors."""

    family = "mlp"

    def __init__(
        self,
        width: int = 256,
        depth: int = 2,
        dropout: float = 0.2,
        learning_rate: float = 3e-4,
        batch_size: int = 512,
        max_epochs: int = 200,
        patience: int = 10,
        seed: int = 0,
    ) -> None:
        self.width, self.depth, self.dropout = width, depth, dropout
        self.learning_rate, self.batch_size = learning_rate, batch_size
        self.max_epochs, self.patience, self.seed = max_epochs, patience, seed

    def _fit(
        self, vectors: Floats, labels: Floats, validation: Validation | None
    ) -> tuple[Model, int]:
        vectors, labels, validation = hold_out(vectors, labels, validation, self.seed)
        return train_mlp(vectors, labels, validation, **self.get_params())


class DistilledProbe(ProbeRegressor):
    """A small network taught by wide ones and a kernel. Beyond the paper's sweep."""

    family = "distilled"

    def __init__(
        self,
        width: int = 256,
        depth: int = 2,
        dropout: float = 0.05,
        teachers: int = 3,
        teacher_width: int = 1024,
        max_epochs: int = 200,
        patience: int = 10,
        seed: int = 0,
    ) -> None:
        self.width, self.depth, self.dropout = width, depth, dropout
        self.teachers, self.teacher_width = teachers, teacher_width
        self.max_epochs, self.patience, self.seed = max_epochs, patience, seed

    def _fit(
        self, vectors: Floats, labels: Floats, validation: Validation | None
    ) -> tuple[Model, int]:
        vectors, labels, validation = hold_out(vectors, labels, validation, self.seed)
        return train_distilled(vectors, labels, validation, **self.get_params())


def hold_out(
    vectors: Floats, labels: Floats, validation: Validation | None, seed: int
) -> tuple[Floats, Floats, Validation]:
    """Return rows to train on and rows to stop on: those given, else a tenth, by seed.

    A single row is both.
    """
    if validation is not None:
        return vectors, labels, validation
    order = np.random.default_rng(seed).permutation(len(labels))
    stop = order[: max(1, len(order) // 10)]
    train = order[len(stop) :] if len(order) > 1 else stop
    return vectors[train], labels[train], (vectors[stop], labels[stop])


FAMILIES: dict[str, type[ProbeRegressor]] = {
    kind.family: kind for kind in (RidgeProbe, XGBoostProbe, MLPProbe, DistilledProbe)
}
