"""A mean over a finite population, from few labels and a prediction of every item.

Prediction-powered inference (Angelopoulos et al., 2023): the mean of all predictions, plus what the
labels show them to be wrong by, is unbiased whatever the predictions are worth. Here the population
is finite and wholly predicted, so the predictions' own mean has no error; labels are drawn without
replacement within strata (Fisch et al., 2024, StratPPI); and predictions count as far as they are
seen to help (Angelopoulos, Duchi and Zrnic, 2023, PPI++, power tuning).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]
PRIOR_DEGREES = 2.0
"""How many labels the variance of all labels counts for in each stratum's.

A stratum whose few labels are all the same would have none, and intervals would be too narrow.
"""
LEAST_TO_TUNE = 10
"""Labels below which predictions are not used: their worth could not be told."""


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean of values in [0, 1] with its interval.

    tuning: λ, what predictions count for; 0 where they are not used, 1 for plain PPI.
    effective: how many labels drawn at random from an endless population would tell as much.
    """

    mean: float
    low: float
    high: float
    standard_error: float
    tuning: float
    labels: int
    population: int
    effective: float


@dataclass(frozen=True)
class Labelled:
    """A population in strata, and the rows of it that have a label.

    predictions, strata, weights: one per item, shape (N,); a weight is how often an item counts.
    rows, labels: of the items with a label, shape (n,); labels in [0, 1].
    """

    predictions: Float64Array
    strata: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    labels: Float64Array
    weights: Float64Array


def powered_mean(
    predictions: npt.ArrayLike,
    rows: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    strata: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    confidence: float = 0.95,
    tuning: float | None = None,
) -> PoweredMean:
    """Return the weighted mean of a population, of which `rows` bear `labels`.

    With W_h the share of stratum h, f the predictions and λ the tuning, the estimate is
    Σ_h W_h [λ·mean_h(f) + mean over labels of h (y - λ·f)]: eq. 4 of PPI++ within each stratum
    (StratPPI, eq. 5), for weights other than one as the ratio estimator of the residual. Its
    variance is Σ_h W_h² (1 - n_h/N_h) s²_h(y - λ·f)/n_h, s²_h drawn towards the variance that all
    labels have. λ is what makes it least (PPI++, §6; the mean prediction has no error here), in
    [0, 1]; `tuning` sets it. The interval is Wilson's, at the number of labels from an endless
    population that would have this variance (Korn and Graubard, 1998): one for means in [0, 1] and
    few labels.

    Strata without a label are taken with the nearest one by number. Where all labels are the same
    nothing shows a variance, and the interval is that of as many labels drawn at random. Raises
    ValueError for labels or predictions that are no numbers in [0, 1], for repeated rows, and for
    none.
    """
    data = _checked(predictions, rows, labels, strata, weights)
    strata_of = _with_labels(data)
    data = Labelled(data.predictions, strata_of, data.rows, data.labels, data.weights)
    factors = _factors(data)
    chosen = _tuning(data, factors) if tuning is None else tuning
    mean, variance = _estimate(data, chosen, factors)
    return _interval(data, mean, variance, chosen, confidence)


def _checked(
    predictions: npt.ArrayLike,
    rows: npt.ArrayLike,
    labels: npt.ArrayLike,
    strata: npt.ArrayLike | None,
    weights: npt.ArrayLike | None,
) -> Labelled:
    f, y = np.asarray(predictions, np.float64), np.asarray(labels, np.float64)
    at = np.asarray(rows, np.int64)
    w = np.ones(len(f)) if weights is None else np.asarray(weights, np.float64)
    h = np.zeros(len(f), np.int64) if strata is None else np.asarray(strata, np.int64)
    if not (f.shape == w.shape == h.shape and at.shape == y.shape):
        raise ValueError("one stratum and one weight per prediction, and one label per row.")
    for name, values in (("predictions", f), ("labels", y)):
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"{name} must be numbers from 0 to 1; leave out what has none.")
    if not (np.isfinite(w) & (w > 0)).all():
        raise ValueError("weights must be positive numbers: how often an item counts.")
    if not len(at):
        raise ValueError("no label: an estimate needs one at least.")
    if len(np.unique(at)) < len(at) or at.min() < 0 or at.max() >= len(f):
        raise ValueError("each row once, and one of the population.")
    return Labelled(f, h, at, y, w)


def _with_labels(data: Labelled) -> npt.NDArray[np.int64]:
    """Return the strata, numbered from 0, those without a label merged with the nearest."""
    having = np.unique(data.strata[data.rows])
    nearest = np.abs(data.strata[:, None] - having[None, :]).argmin(axis=1)
    return np.asarray(nearest, np.int64)


def _factors(data: Labelled) -> Float64Array:
    """Return of each stratum what its residual variance counts for: (W_h·N_h)²(1 - f_h)/n_h."""
    sizes = np.bincount(data.strata)
    drawn = np.bincount(data.strata[data.rows], minlength=len(sizes))
    return np.asarray((sizes / data.weights.sum()) ** 2 * (1 - drawn / sizes) / drawn)


def _centred(data: Labelled, values: Float64Array) -> Float64Array:
    """Return values of the labelled rows less their weighted mean in the stratum, by weight."""
    h, w = data.strata[data.rows], data.weights[data.rows]
    means = np.bincount(h, w * values) / np.bincount(h, w)
    return np.asarray(w * (values - means[h]))


def _variances(data: Labelled, x: Float64Array, y: Float64Array) -> Float64Array:
    """Return the covariance of centred values within each stratum; 0 where it has one label."""
    h = data.strata[data.rows]
    drawn = np.bincount(h)
    return np.asarray(np.bincount(h, x * y) / np.maximum(drawn - 1, 1))


def _tuning(data: Labelled, factors: Float64Array) -> float:
    if len(data.rows) < LEAST_TO_TUNE:
        return 0.0
    f, y = _centred(data, data.predictions[data.rows]), _centred(data, data.labels)
    spread = float(factors @ _variances(data, f, f))
    if spread <= 1e-12:
        return 0.0
    return float(np.clip(factors @ _variances(data, f, y) / spread, 0.0, 1.0))


def _estimate(data: Labelled, tuning: float, factors: Float64Array) -> tuple[float, float]:
    """Return the estimate and its variance."""
    h, w = data.strata[data.rows], data.weights[data.rows]
    residuals = data.labels - tuning * data.predictions[data.rows]
    offsets = np.bincount(h, w * residuals) / np.bincount(h, w)
    total = data.weights.sum()
    fitted = tuning * data.predictions + offsets[data.strata]
    mean = float(data.weights @ fitted / total)
    centred = _centred(data, residuals)
    own = _variances(data, centred, centred)
    degrees = np.bincount(h) - 1.0
    alike = max(float(centred @ centred / max(degrees.sum(), 1.0)), _spread_of_labels(data))
    shrunk = (degrees * own + PRIOR_DEGREES * alike) / (degrees + PRIOR_DEGREES)
    spent = 1.0 + (tuning > 0) / max(degrees.sum(), 1.0)
    return mean, float(factors @ shrunk) * spent


def _spread_of_labels(data: Labelled) -> float:
    """Return the variance of all labels, by weight, as if strata and predictions told nothing."""
    w = data.weights[data.rows]
    return float((w * (data.labels - np.average(data.labels, weights=w))).var())


def _interval(
    data: Labelled, mean: float, variance: float, tuning: float, confidence: float
) -> PoweredMean:
    n, population = len(data.rows), len(data.predictions)
    mean = min(max(mean, 0.0), 1.0)
    if n == population:
        return PoweredMean(mean, mean, mean, 0.0, tuning, n, population, math.inf)
    same = data.labels.min() == data.labels.max()
    spread = mean * (1 - mean)
    alike = n / (1 - n / population)
    effective = alike if same or variance <= 0 else max(spread / variance, 1.0)
    degrees = max(n - len(np.unique(data.strata)) - (tuning > 0), 1)
    low, high = _score_interval(mean, effective, degrees, confidence)
    return PoweredMean(
        mean, low, high, math.sqrt(max(variance, 0.0)), tuning, n, population, effective
    )


def _score_interval(
    mean: float, effective: float, degrees: float, confidence: float
) -> tuple[float, float]:
    from scipy.stats import t

    z = float(t.ppf(0.5 + confidence / 2, degrees))
    centre = (mean + z**2 / (2 * effective)) / (1 + z**2 / effective)
    inside = mean * (1 - mean) / effective + z**2 / (4 * effective**2)
    half = z / (1 + z**2 / effective) * math.sqrt(inside)
    low, high = max(centre - half, 0.0), min(centre + half, 1.0)
    return (low if mean > 0 else 0.0), (high if mean < 1 else 1.0)
