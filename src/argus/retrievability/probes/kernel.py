"""Kernel ridge regression with a Gaussian kernel: the probe family `kernel`, beyond the paper's.

Neighbours in the embedding space have alike RPS, more than a linear function or a network of a
quarter of a million weights reads out of it: on FB15k-237 a kernel over all training vectors
correlates with RPS at 0.685, the plain network at 0.660 (docs/results/probes.md). Its price is
size: the probe holds its training vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from argus.retrievability.probes.models import Arrays, Floats

MOST_ANCHORS = 12_000
"""Training vectors at most, drawn by seed; a fit takes 4 bytes for each pair of them."""
ROWS = 2048
"""Vectors that are compared with the anchors at once."""


@dataclass(frozen=True)
class KernelModel:
    """f(x) = intercept + Σ_j w_j exp(-γ |x - a_j|²). Anchors a_j are float16."""

    family: ClassVar[str] = "kernel"
    anchors: npt.NDArray[np.float16]
    """Shape (m, dim)."""
    weights: npt.NDArray[np.float32]
    """Shape (m,)."""
    gamma: float
    intercept: float

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""
        anchors = self.anchors.astype(np.float32)
        scores = np.full(len(vectors), self.intercept)
        for first in range(0, len(vectors), ROWS):
            part = vectors[first : first + ROWS].astype(np.float32)
            scores[first : first + ROWS] += gaussian(part, anchors, self.gamma) @ self.weights
        return scores

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what `from_arrays` builds the model from again."""
        scalars = np.array([self.gamma, self.intercept])
        return {"anchors": self.anchors, "weights": self.weights, "scalars": scalars}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> KernelModel:
        """Build it again; KeyError or ValueError when arrays lack or do not fit."""
        anchors, weights = arrays["anchors"].astype(np.float16), arrays["weights"]
        if anchors.ndim != 2 or weights.shape != anchors.shape[:1]:
            raise ValueError(f"weights are {weights.shape} for anchors {anchors.shape}")
        gamma, intercept = map(float, arrays["scalars"])
        return cls(anchors, weights.astype(np.float32), gamma, intercept)


def gaussian(
    one: npt.NDArray[np.float32], other: npt.NDArray[np.float32], gamma: float
) -> npt.NDArray[np.float32]:
    """Return exp(-γ |x - z|²) for all pairs of (n, dim) and (m, dim) rows, shape (n, m)."""
    squares = one @ other.T
    squares *= -2
    squares += (one**2).sum(axis=1)[:, None]
    squares += (other**2).sum(axis=1)
    np.maximum(squares, 0, out=squares)
    squares *= -gamma
    return np.asarray(np.exp(squares, out=squares))


def train_kernel(
    vectors: npt.NDArray[Any], labels: Floats, *, gamma: float, penalty: float, seed: int
) -> KernelModel:
    """Return the minimiser of |y - f|² + penalty · |f|² in the kernel's space; |f| its norm.

    Weights are those of the anchors as they are stored. Of more than MOST_ANCHORS rows so many are
    drawn by `seed`.
    """
    from scipy.linalg import cho_factor, cho_solve

    rows = np.arange(len(vectors))
    if len(rows) > MOST_ANCHORS:
        rows = np.sort(np.random.default_rng(seed).permutation(len(rows))[:MOST_ANCHORS])
    anchors = vectors[rows].astype(np.float16)
    intercept = float(labels[rows].mean())
    stored = anchors.astype(np.float32)
    kernel = gaussian(stored, stored, gamma)
    kernel[np.diag_indices_from(kernel)] += penalty
    factor = cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    weights = cho_solve(factor, (labels[rows] - intercept).astype(np.float32), check_finite=False)
    return KernelModel(anchors, weights.astype(np.float32), gamma, intercept)
