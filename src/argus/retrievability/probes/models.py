"""Fit and store regression models from vectors to RPS: ridge, trees, networks, a distilled network.

Called by `argus.retrievability.probes.fit` (ARGUS §4.1, §C.1). All fits take training vectors
(n, dim) with their RPS (n,), and the same of the validation split, on whose RMSE XGBoost and
networks stop early. They return a fitted model and its iterations. The model returned is the very
object that is stored, so the measured model is the stored one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from argus.cores import available_cores
from argus.encoders.protocol import unit_rows
from argus.extras import naming_extras

Arrays = Mapping[str, npt.NDArray[Any]]
Floats = npt.NDArray[np.float64]


class Model(Protocol):
    """A fitted regression function. Its scores are not clipped."""

    family: ClassVar[str]

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that `from_arrays` builds the model from."""


@dataclass(frozen=True)
class LinearModel:
    """Ridge regression. A scaler is folded into the coefficients, (dim,)."""

    family: ClassVar[str] = "ridge"
    coefficients: Floats
    intercept: float

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""
        return np.asarray(vectors.astype(np.float64) @ self.coefficients + self.intercept)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return coefficients and intercept."""
        return {"coefficients": self.coefficients, "intercept": np.array([self.intercept])}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> LinearModel:
        """Build it again."""
        return cls(arrays["coefficients"].astype(np.float64), float(arrays["intercept"][0]))


@dataclass(frozen=True)
class MlpModel:
    """Dense layers with rectifiers between them, on standardised inputs.

    Weights are float16: half the bytes, and RPS needs no more (networks are rounded before they are
    scored). mean, scale: of the training vectors, (dim,). weights: (width, dim), (width, width)...,
    (1, width).
    """

    family: ClassVar[str] = "mlp"
    mean: npt.NDArray[np.float32]
    scale: npt.NDArray[np.float32]
    weights: tuple[npt.NDArray[np.float16], ...]
    biases: tuple[npt.NDArray[np.float16], ...]

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""
        hidden = (vectors.astype(np.float32) - self.mean) / self.scale
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(self._layers):
            hidden = hidden @ weight.T + bias
            if i < last:
                hidden = np.maximum(hidden, 0)
        return hidden[:, 0].astype(np.float64)

    @cached_property
    def _layers(self) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
        pairs = zip(self.weights, self.biases, strict=True)
        return [(w.astype(np.float32), b.astype(np.float32)) for w, b in pairs]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return scaler and layers."""
        layers = {f"weight{i}": w for i, w in enumerate(self.weights)}
        layers |= {f"bias{i}": b for i, b in enumerate(self.biases)}
        return {"mean": self.mean, "scale": self.scale, **layers}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> MlpModel:
        """Build it again."""
        depth = sum(name.startswith("weight") for name in arrays)
        weights = tuple(arrays[f"weight{i}"].astype(np.float16) for i in range(depth))
        biases = tuple(arrays[f"bias{i}"].astype(np.float16) for i in range(depth))
        return cls(arrays["mean"], arrays["scale"], weights, biases)


@dataclass(frozen=True)
class TreeModel:
    """Gradient-boosted trees, as XGBoost's own UBJ."""

    family: ClassVar[str] = "xgboost"
    trees: bytes

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors. Raises InputError without xgboost."""
        scores = self._booster.inplace_predict(np.ascontiguousarray(vectors, np.float32))
        return np.asarray(scores, np.float64)

    @cached_property
    def _booster(self) -> Any:
        xgboost = import_xgboost()
        booster = xgboost.Booster({"nthread": 1})
        booster.load_model(bytearray(self.trees))
        return booster

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the UBJ as bytes under one name."""
        return {"ubj": np.frombuffer(self.trees, np.uint8)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> TreeModel:
        """Build it again."""
        return cls(arrays["ubj"].tobytes())


def standard_scale(vectors: npt.NDArray[Any]) -> Floats:
    """Return the divisor of each dimension of (n, dim) vectors, shape (dim,).

    Its standard deviation. 1 where that is under a thousandth of the largest. Encoders have dead
    dimensions (three of MiniLM's 384, at 1e-33 to 1e-9): scaled up, their rounding would be read as
    signal, and the same text in another number format would get another RPS.
    """
    spread = vectors.astype(np.float64).std(axis=0)
    return np.asarray(np.where(spread > 1e-3 * spread.max(initial=0), spread, 1.0))


@naming_extras()
def import_xgboost() -> Any:
    """Return the module `xgboost`."""
    import xgboost

    return xgboost


Split = tuple[npt.NDArray[Any], Floats]
"""Vectors, (n, dim), and labels, (n,)."""
PATIENCE = 20  # rounds of boosting without a better validation RMSE: §C.1 names no number
POINTS = 12  # points between training vectors, for each of these
GAMMA, PENALTY = 2.0, 0.3  # parameters of the kernel that teaches
MAX_ANCHORS = 12_000  # training vectors of the kernel: it takes 4 bytes for each pair of them
ROWS = 2048  # points that are compared with the anchors at once


def fit_ridge(
    train: Split, validation: Split, *, seed: int = 0, alpha: float, standardize: bool = False
) -> tuple[LinearModel, int]:
    """Fit ridge regression with an intercept, on raw or standardised vectors."""
    from sklearn.linear_model import Ridge

    vectors, labels = train
    scale = standard_scale(vectors) if standardize else np.ones(vectors.shape[1])
    mean = vectors.mean(axis=0) if standardize else np.zeros(vectors.shape[1])
    ridge = Ridge(alpha=alpha, solver="svd").fit((vectors - mean) / scale, labels)
    coefficients = np.asarray(ridge.coef_, np.float64) / scale
    return LinearModel(coefficients, float(ridge.intercept_ - mean @ coefficients)), 1


_binned: list[Any] = []  # training split and bins of the last fit, and their matrices


def fit_trees(
    train: Split,
    validation: Split,
    *,
    seed: int,
    n_estimators: int,
    max_bin: int = 256,
    jobs: int | None = None,
    **growth: float,
) -> tuple[TreeModel, int]:
    """Boost trees on histograms up to the round with the lowest validation RMSE.

    growth: XGBoost's own parameters, such as max_depth. Fewer rounds give the first trees of more.
    Settings of a sweep differ in growth alone: the binned copy of the vectors is made once.
    """
    xgboost = import_xgboost()
    jobs = jobs or available_cores()
    if not (_binned and _binned[0] is train and _binned[1] == max_bin):
        sides = [(np.ascontiguousarray(x, np.float32), y) for x, y in (train, validation)]
        rows = xgboost.QuantileDMatrix(*sides[0], max_bin=max_bin, nthread=jobs)
        held = xgboost.QuantileDMatrix(*sides[1], ref=rows, max_bin=max_bin, nthread=jobs)
        _binned[:] = train, max_bin, rows, held
    settings = {**growth, "tree_method": "hist", "max_bin": max_bin, "seed": seed, "nthread": jobs}
    booster = xgboost.train(
        settings, _binned[2], n_estimators, evals=[(_binned[3], "validation")],
        early_stopping_rounds=PATIENCE, verbose_eval=False,
    )  # fmt: skip
    best = int(booster.best_iteration) + 1
    return TreeModel(bytes(booster[:best].save_raw("ubj"))), best


def fit_mlp(
    train: Split,
    validation: Split,
    *,
    seed: int,
    width: int,
    depth: int,
    dropout: float = 0.0,
    learning_rate: float,
    batch_size: int,
    max_epochs: int = 200,
    patience: int = 10,
) -> tuple[MlpModel, int]:
    """Train a dense network by Adam on squared error. Keep the epoch of the lowest validation RMSE.

    Vectors are standardised by the training vectors alone. Training ends after `patience` epochs
    without a better RMSE (ARGUS §C.1). Equal arguments give equal networks on one machine, and
    torch's global generator is left as it was.
    """
    import torch
    from torch import nn

    mean = train[0].mean(axis=0).astype(np.float32)
    scale = standard_scale(train[0]).astype(np.float32)
    inputs = torch.from_numpy((train[0].astype(np.float32) - mean) / scale)
    targets = torch.from_numpy(train[1].astype(np.float32))
    best: tuple[float, int, MlpModel] | None = None
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        layers: list[nn.Module] = []
        for dim in [inputs.shape[1], *[width] * (depth - 1)]:
            layers += [nn.Linear(dim, width), nn.ReLU(), nn.Dropout(dropout)]
        network = nn.Sequential(*layers, nn.Linear(width, 1))
        dense = [layer for layer in network if isinstance(layer, nn.Linear)]
        optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
        network.train()
        for epoch in range(1, max_epochs + 1):
            for batch in torch.split(torch.randperm(len(inputs)), batch_size):
                optimiser.zero_grad()
                loss = nn.functional.mse_loss(network(inputs[batch])[:, 0], targets[batch])
                loss.backward()
                optimiser.step()
            model = MlpModel(  # as it will be stored
                mean,
                scale,
                tuple(layer.weight.detach().numpy().astype(np.float16) for layer in dense),
                tuple(layer.bias.detach().numpy().astype(np.float16) for layer in dense),
            )
            rmse = validation_rmse(model, validation)
            if best is None or rmse < best[0]:
                best = rmse, epoch, model
            elif epoch - best[1] >= patience:
                break
    assert best is not None
    return best[2], best[1]


def fit_distilled(
    train: Split,
    validation: Split,
    *,
    seed: int,
    width: int,
    depth: int,
    dropout: float = 0.05,
    teachers: int = 3,
    teacher_width: int = 1024,
    max_epochs: int = 200,
) -> tuple[MlpModel, int]:
    """Fit a small network that large probes teach. Beyond the paper's sweep.

    Wide networks and a kernel over all training vectors predict RPS better than a model small
    enough to ship, and their mean better than each. The small network is fitted to that mean and
    not to the labels, which are noisy (distillation: Hinton, Vinyals and Dean, 2015), at points
    between training vectors, of which there are as many as it takes (mixup: Zhang et al., 2018).
    Labels of `validation` stop all of them, and teach none.
    """
    rows, labels = train[0].astype(np.float32), train[1]
    common: dict[str, Any] = {"max_epochs": max_epochs, "learning_rate": 1e-3, "batch_size": 1024}
    networks = [
        fit_mlp((rows, labels), validation, width=teacher_width, depth=2, seed=seed + i, **common)[
            0
        ]
        for i in range(teachers)
    ]
    rng, n = np.random.default_rng(seed), POINTS * len(rows)
    one, other = rng.integers(0, len(rows), (2, n))
    share, lengths = rng.random((n, 1), np.float32), np.linalg.norm(rows, axis=1, keepdims=True)
    # Each point is on the way from a row to another, as long as rows are there.
    between = unit_rows(share * rows[one] + (1 - share) * rows[other])
    between *= share * lengths[one] + (1 - share) * lengths[other]
    points = np.asarray(between, np.float32)
    answers = np.mean([np.clip(network.predict(points), 0, 1) for network in networks], axis=0)
    kernel = kernel_ridge(unit_rows(rows), labels, unit_rows(points), seed)
    taught = points, (answers + np.clip(kernel, 0, 1)) / 2
    return fit_mlp(
        taught, validation, width=width, depth=depth, dropout=dropout, seed=seed, **common
    )  # fmt: skip


def kernel_ridge(
    vectors: npt.NDArray[Any], labels: Floats, points: npt.NDArray[Any], seed: int
) -> Floats:
    """Return (n,) values of f(x) = mean + Σ_j w_j exp(-γ |x - a_j|²) at (n, dim) points.

    f minimises |y - f|² + penalty · |f|² over the anchors a_j, rows of `vectors` in float16.
    """
    from scipy.linalg import cho_factor, cho_solve

    rows = np.arange(len(vectors))
    if len(rows) > MAX_ANCHORS:
        rows = np.sort(np.random.default_rng(seed).permutation(len(rows))[:MAX_ANCHORS])
    anchors = vectors[rows].astype(np.float16).astype(np.float32)
    mean = float(labels[rows].mean())
    kernel = _gaussian(anchors, anchors)
    kernel[np.diag_indices_from(kernel)] += PENALTY
    factor = cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    weights = cho_solve(factor, (labels[rows] - mean).astype(np.float32), check_finite=False)
    parts = (points[i : i + ROWS].astype(np.float32) for i in range(0, len(points), ROWS))
    return mean + np.concatenate([_gaussian(part, anchors) @ weights for part in parts])


def _gaussian(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> Any:
    """Return exp(-γ |x - z|²) for all pairs of (n, dim) and (m, dim) rows, shape (n, m)."""
    squares = one @ other.T
    squares *= -2
    squares += (one**2).sum(axis=1)[:, None]
    squares += (other**2).sum(axis=1)
    np.maximum(squares, 0, out=squares)
    squares *= -GAMMA
    return np.exp(squares, out=squares)


def validation_rmse(model: Any, validation: Split) -> float:
    """Return the RMSE of a model's scores, clipped to [0, 1]."""
    error = np.clip(model.predict(validation[0]), 0, 1) - validation[1]
    return float(np.sqrt(np.mean(error**2)))


FAMILIES: dict[str, Callable[..., tuple[Any, int]]] = {
    "ridge": fit_ridge, "xgboost": fit_trees, "mlp": fit_mlp, "distilled": fit_distilled
}  # fmt: skip
