"""The domain of a probe: the density of its training vectors, by probabilistic PCA.

Score of a vector: its negative log-likelihood under the Gaussian of probabilistic PCA (Tipping and
Bishop 1999; scikit-learn's `PCA.score_samples`), in nats per dimension. Higher is further out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.retrievability.probes.models import Arrays, Floats

# Most directions kept. On MiniLM mentions 64 let through 38% of spans in source code, 256 3%.
COMPONENTS = 256
QUANTILE = 0.99  # share of validation entities that are inside


@dataclass(frozen=True)
class ProbeDomain:
    """A Gaussian of q principal directions and one variance for all others.

    mean: (dim,). components: (q, dim), orthonormal rows but for rounding; the threshold is set on
    the rounded. variances: along each direction, (q,). noise: variance in every other direction.
    threshold: largest score that is inside.
    """

    mean: FloatArray
    components: npt.NDArray[np.float16]
    variances: FloatArray
    noise: float
    threshold: float

    def scores(self, vectors: npt.NDArray[np.floating]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""
        dim, q = len(self.mean), len(self.variances)
        centred = vectors.astype(np.float64) - self.mean
        along = centred @ self.components.T.astype(np.float64)  # (n, q)
        variances = self.variances.astype(np.float64)
        rest = np.maximum((centred**2).sum(axis=1) - (along**2).sum(axis=1), 0)
        distance = (along**2 / variances).sum(axis=1) + rest / self.noise
        volume = np.log(variances).sum() + (dim - q) * np.log(self.noise) + dim * np.log(2 * np.pi)
        return np.asarray((distance + volume) / (2 * dim))

    def inside(self, scores: Floats) -> npt.NDArray[np.bool_]:
        """Return which scores are within the threshold."""
        return np.asarray(scores <= self.threshold)

    def arrays(self) -> dict[str, npt.NDArray[np.floating]]:
        """Return the arrays that `from_arrays` builds it from."""
        return {
            "mean": self.mean,
            "components": self.components,
            "variances": self.variances,
            "scalars": np.array([self.noise, self.threshold]),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> ProbeDomain:
        """Build it again. KeyError or ValueError when arrays lack or do not fit."""
        mean, variances = (arrays[name].astype(np.float32) for name in ("mean", "variances"))
        components = arrays["components"].astype(np.float16)
        if components.shape != (len(variances), len(mean)):
            raise ValueError(f"components are {components.shape}")
        noise, threshold = map(float, arrays["scalars"])
        return cls(mean, components, variances, noise, threshold)


def fit_domain(train: FloatArray, validation: FloatArray) -> ProbeDomain:
    """Fit the density on `train` (n, dim) and put the threshold at QUANTILE of `validation`."""
    from scipy.linalg import eigh

    n, dim = train.shape
    q = max(1, min(COMPONENTS, 2 * dim // 3, n // 8))  # few entities tell few directions
    mean = train.astype(np.float64).mean(axis=0)
    centred = train - mean
    covariance = centred.T @ centred / max(n - 1, 1)  # (dim, dim)
    largest, directions = eigh(covariance, subset_by_index=[dim - q, dim - 1])
    noise = (np.trace(covariance) - largest.sum()) / max(dim - q, 1)
    floor = 1e-12  # vectors that do not vary leave no variance to divide by
    domain = ProbeDomain(
        mean.astype(np.float32),
        directions[:, ::-1].T.astype(np.float16),
        np.maximum(largest[::-1], floor).astype(np.float32),
        max(float(noise), floor),
        np.inf,
    )
    return replace(domain, threshold=float(np.quantile(domain.scores(validation), QUANTILE)))
