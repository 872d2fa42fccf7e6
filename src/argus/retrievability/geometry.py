"""Where blind spots lie in the embedding space: LDA projections by band (ARGUS Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray

MIN_MEMBERS = 3
"""A band of fewer entities has no spread to speak of."""


@dataclass(frozen=True)
class Projection:
    """Two coordinates per entity and how they were made."""

    points: npt.NDArray[np.float64]
    """Shape (n, 2)."""
    method: str


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
    # Few points in many dimensions are always separable: shrink the covariance then.
    few = n < 10 * dim
    lda = LinearDiscriminantAnalysis(
        solver="eigen" if few else "svd", shrinkage="auto" if few else None
    )
    axes = lda.fit(vectors[fitted], bands[fitted]).transform(vectors)[:, :2]
    name = "LDA, shrunk covariance" if few else "LDA"
    if axes.shape[1] == 2:
        return Projection(axes, name)
    direction = lda.scalings_[:, :1] / np.linalg.norm(lda.scalings_[:, :1])
    rest = vectors - (vectors @ direction) @ direction.T
    second = PCA(1, random_state=seed).fit_transform(rest)
    return Projection(
        np.hstack([axes, second]), f"{name} and the first principal component of the rest"
    )
