"""Where blind spots lie in the embedding space: LDA projections by band (ARGUS Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray

FOLDS = 3
MIN_MEMBERS = 3
"""A band of fewer entities has no spread to speak of."""


@dataclass(frozen=True)
class Projection:
    """Two coordinates per entity and how they were made."""

    points: npt.NDArray[np.float64]
    """Shape (n, 2)."""
    method: str
    accuracy: float | None = None
    """Share of entities whose band LDA names right, on folds it was not fitted on."""
    majority: float | None = None
    """The same for always naming the commonest band."""


def project_bands(
    vectors: FloatArray, bands: npt.NDArray[np.str_], *, seed: int = 0
) -> Projection | None:
    """Project to the two axes that best separate the bands; None when there is too little to.

    vectors: (n, dim). bands: (n,) "low", "mid" or "high". With three bands both axes come from
    linear discriminant analysis; with two, the second is the first principal component of what
    LDA leaves over; with one band there is nothing to separate, and PCA is shown and named.
    """
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    n, dim = vectors.shape
    if n < 3 or dim < 2:
        return None
    classes, members = np.unique(bands, return_counts=True)
    fitted = np.isin(bands, classes[members >= MIN_MEMBERS])  # the rest is projected, not fitted
    if (members >= MIN_MEMBERS).sum() < 2:
        return Projection(PCA(2, random_state=seed).fit_transform(vectors), "PCA")
    # Shrunk, since few points in many dimensions look separated whatever their bands.
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
    axes = lda.fit(vectors[fitted], bands[fitted]).transform(vectors)[:, :2]
    accuracy, majority = _held_out(lda, vectors[fitted], bands[fitted])
    if axes.shape[1] == 2:
        return Projection(axes, "LDA", accuracy, majority)
    direction = lda.scalings_[:, :1] / np.linalg.norm(lda.scalings_[:, :1])
    rest = vectors - (vectors @ direction) @ direction.T
    second = PCA(1, random_state=seed).fit_transform(rest)
    method = "LDA and the first principal component of the rest"
    return Projection(np.hstack([axes, second]), method, accuracy, majority)


def _held_out(
    lda: Any, vectors: FloatArray, bands: npt.NDArray[np.str_]
) -> tuple[float | None, float]:
    """Return the accuracy of naming the band, three-fold, and that of the commonest band."""
    from sklearn.model_selection import cross_val_score

    counts = np.unique(bands, return_counts=True)[1]
    majority = round(float(counts.max() / len(bands)), 4)
    if counts.min() < FOLDS:
        return None, majority
    return round(float(cross_val_score(lda, vectors, bands, cv=FOLDS).mean()), 4), majority
