"""A small network that large probes teach: the probe family `distilled`, beyond the paper's.

Wide networks and a kernel over all training vectors predict RPS better than a model small enough
to ship, and their mean better than each. The small network is fitted to that mean and not to the
labels, which are noisy (distillation: Hinton, Vinyals and Dean, 2015), at points between training
vectors, of which there are as many as it takes (mixup: Zhang et al., 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from argus.encoders.protocol import unit_rows
from argus.retrievability.probes.mlp import train_mlp
from argus.retrievability.probes.models import Floats, MlpModel

POINTS = 12
"""Points between training vectors, for each of these."""
GAMMA, PENALTY = 2.0, 0.3
"""Parameters of the kernel that teaches."""
MAX_ANCHORS = 12_000
"""Training vectors of the kernel, drawn by seed. It takes 4 bytes for each pair of them."""
ROWS = 2048
"""Points that are compared with the anchors at once."""
BATCH, RATE = 1024, 1e-3
"""Rows of a step and learning rate, of teachers and of the network that is taught."""


def train_distilled(
    vectors: Floats,
    labels: Floats,
    validation: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    *,
    width: int,
    depth: int,
    dropout: float,
    teachers: int,
    teacher_width: int,
    max_epochs: int,
    patience: int,
    seed: int,
) -> tuple[MlpModel, int]:
    """Return the network of the epoch with the lowest validation RMSE, and that epoch from 1.

    teachers: networks of two layers of `teacher_width` units, fitted to the labels, whose mean
    counts as much as the kernel's. Labels of `validation` stop all of them, and teach none.
    """
    rows = vectors.astype(np.float32)
    stopping: dict[str, Any] = {"max_epochs": max_epochs, "patience": patience}
    stopping |= {"learning_rate": RATE, "batch_size": BATCH}
    networks = [
        train_mlp(
            rows, labels, validation, width=teacher_width, depth=2, dropout=0.0, seed=seed + i,
            **stopping,
        )[0]
        for i in range(teachers)
    ]  # fmt: skip
    points = points_between(rows, POINTS * len(rows), seed)
    answers = np.mean([np.clip(network.predict(points), 0, 1) for network in networks], axis=0)
    answers = (
        answers + np.clip(kernel_ridge(unit_rows(rows), labels, unit_rows(points), seed), 0, 1)
    ) / 2
    return train_mlp(
        points, answers, validation, width=width, depth=depth, dropout=dropout, seed=seed,
        **stopping,
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


def points_between(vectors: npt.NDArray[np.float32], n: int, seed: int) -> npt.NDArray[np.float32]:
    """Return n points, each on the way from a row to another, as long as rows are there."""
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, len(vectors), (2, n))
    share = rng.random((n, 1), np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    points = share * vectors[one] + (1 - share) * vectors[other]
    points = unit_rows(points) * (share * lengths[one] + (1 - share) * lengths[other])
    return np.asarray(points, np.float32)
