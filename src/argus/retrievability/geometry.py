"""Blind spots in the embedding space: LDA projections by band (ARGUS Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray

PROJECTED = 50_000  # entities that are projected: of more, a uniform sample; the report shows fewer
FOLDS = 3
MIN_MEMBERS = FOLDS  # a band of fewer entities has no spread to speak of, and none for every fold
TOO_CLOSE = "the embeddings lie too close together for"


@dataclass(frozen=True)
class Projection:
    """Two coordinates per entity, (n, 2), and how they were made.

    accuracy: share of entities whose band LDA names right, on folds it was not fitted on.
    majority: the same for always naming the commonest band.
    shrinkage: how far LDA pulls its covariances towards none (Ledoit-Wolf), 0 to 1, over all bands.
    """

    points: npt.NDArray[np.float64]
    method: str
    accuracy: float | None = None
    majority: float | None = None
    shrinkage: float | None = None


def project_bands(
    vectors: FloatArray, bands: npt.NDArray[np.str_], *, seed: int = 0
) -> Projection | None:
    """Project to the two axes that best separate the bands. None when there is too little to.

    vectors: (n, dim). bands: (n,) "low", "mid" or "high". With three bands both axes come from
    linear discriminant analysis. With two, the second is the first principal component of what
    LDA leaves over. With one band there is nothing to separate, and PCA is shown and named, as it
    is where the vectors are so nearly equal that LDA has no spread to divide by.
    """
    from sklearn.model_selection import StratifiedKFold

    n, dim = vectors.shape
    if n < 3 or dim < 2:
        return None
    classes, members = np.unique(bands, return_counts=True)
    is_large = members >= MIN_MEMBERS
    if is_large.sum() < 2:
        return Projection(_principal(vectors, 2, seed), "PCA")
    of_large = np.isin(bands, classes[is_large])  # the rest is projected, not fitted
    fitted, of = vectors[of_large], bands[of_large]
    try:
        lda = _discriminant(fitted, of)
    except np.linalg.LinAlgError:
        return Projection(_principal(vectors, 2, seed), f"PCA ({TOO_CLOSE} LDA)")
    axes = lda.transform(vectors)[:, :2]
    method = "LDA"
    if axes.shape[1] == 1:
        direction = lda.scalings_[:, :1] / np.linalg.norm(lda.scalings_[:, :1])
        rest = vectors - (vectors @ direction) @ direction.T
        axes = np.hstack([axes, _principal(rest, 1, seed)])
        method = "LDA and the first principal component of the rest"
    majority = round(float(members[is_large].max() / len(of)), 4)
    try:
        right = [
            _discriminant(fitted[train], of[train]).score(fitted[test], of[test])
            for train, test in StratifiedKFold(FOLDS).split(fitted, of)
        ]
        accuracy = round(float(np.mean(right)), 4)
    except np.linalg.LinAlgError:
        method, accuracy = f"{method} ({TOO_CLOSE} an accuracy)", None
    return Projection(axes, method, accuracy, majority, _shrinkage(fitted, of))


def _principal(vectors: FloatArray, n: int, seed: int) -> npt.NDArray[np.float64]:
    """Return the first n principal components, shape (n_vectors, n)."""
    from sklearn.decomposition import PCA

    with np.errstate(invalid="ignore"):  # equal vectors: 0 of 0 variance is explained
        points: npt.NDArray[np.float64] = PCA(n, random_state=seed).fit_transform(vectors)
    return points


def _discriminant(vectors: FloatArray, bands: npt.NDArray[np.str_]) -> Any:
    """Fit LDA. LinAlgError where the members of the bands have no spread."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    # Shrunk, since few points in many dimensions look separated whatever their bands.
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
    with np.errstate(invalid="ignore", divide="ignore"):  # as for _principal
        return lda.fit(vectors, bands)


def _shrinkage(vectors: FloatArray, bands: npt.NDArray[np.str_]) -> float:
    """Return the shrinkage of "auto" in `_discriminant`: each band by its own share of entities."""
    from sklearn.covariance import ledoit_wolf_shrinkage
    from sklearn.preprocessing import StandardScaler

    total = 0.0
    for band in np.unique(bands):
        members = vectors[bands == band]
        share = ledoit_wolf_shrinkage(StandardScaler().fit_transform(members))
        total += len(members) * float(share)
    return round(total / len(vectors), 4)
