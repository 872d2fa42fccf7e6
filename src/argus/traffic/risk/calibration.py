"""From an order of questions to probabilities, once a few judgements say how often they fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
STEPS, CLOSE = 50, 1e-9


@dataclass(frozen=True, slots=True)
class Slope:
    """P(failure) = 1/(1 + exp(-(intercept + slope·z))), z the standing of a question in its log.

    Each with the standard deviation that it had between collections: what a prior is made of.
    """

    intercept: float
    slope: float
    intercept_deviation: float
    slope_deviation: float

    def probability(self, standing: npt.ArrayLike) -> Floats:
        """Return the probability of failure at each standing."""
        return np.asarray(_sigmoid(self.intercept + self.slope * np.asarray(standing, float)))

    def corrected(self, standing: npt.ArrayLike, failure: npt.ArrayLike) -> Slope:
        """Return intercept and slope as judged questions have them, drawn towards these.

        The greatest posterior of a logistic regression whose prior is normal around intercept and
        slope, with their deviations (Platt's scaling, 1999, with a prior), by Newton's steps. No
        judgement changes nothing. standing, failure: of the judged questions; failures from 0 to 1.
        """
        z, y = np.asarray(standing, float), np.asarray(failure, float)
        if z.shape != y.shape or not np.isfinite(z).all() or not ((y >= 0) & (y <= 1)).all():
            raise ValueError("one failure from 0 to 1 for each standing; leave out what has none.")
        x = np.stack([np.ones_like(z), z], axis=1)
        prior = np.array([self.intercept, self.slope])
        precision = np.array([self.intercept_deviation**-2, self.slope_deviation**-2])

        def loss(point: Floats) -> float:
            line, gap = x @ point, point - prior
            return float((np.logaddexp(0, line) - y * line).sum() + precision @ gap**2 / 2)

        best = prior
        for _ in range(STEPS):
            p = _sigmoid(x @ best)
            gradient = x.T @ (y - p) - precision * (best - prior)
            curvature = (x * (p * (1 - p))[:, None]).T @ x + np.diag(precision)
            step = np.linalg.solve(curvature, gradient)
            while loss(best + step) > loss(best) and float(np.abs(step).max()) > CLOSE:
                step = step / 2  # a whole step may overshoot
            best = best + step
            if float(np.abs(step).max()) <= CLOSE:
                break
        return Slope(float(best[0]), float(best[1]), self.intercept_deviation, self.slope_deviation)


ANY_LOG = Slope(0.0, 1.0, 1.5, 0.6)
"""Of the log-odds of any prediction: as they are, until judgements say otherwise."""


def corrected_risk(risk: Mapping[str, float], failures: Mapping[str, float]) -> dict[str, float]:
    """Return probabilities of failure as judged questions have them, whoever predicted them.

    See `Slope.corrected`, of the log-odds of `risk`. failures: from 0 to 1, of judged questions.
    """
    odds = {id_: _log_odds(p) for id_, p in risk.items()}
    judged = [id_ for id_ in failures if id_ in odds]
    slope = ANY_LOG.corrected([odds[id_] for id_ in judged], [failures[id_] for id_ in judged])
    values = slope.probability(list(odds.values()))
    return dict(zip(odds, values.tolist(), strict=True))


def _log_odds(p: float) -> float:
    p = min(max(p, 0.001), 0.999)
    return math.log(p / (1 - p))


def calibration_error(predicted: npt.ArrayLike, failure: npt.ArrayLike, bins: int = 5) -> float:
    """Return the expected calibration error over bins of equal numbers (Naeini et al., 2015).

    The mean, by bin size, of the distance between mean prediction and share of failures.
    """
    p, y = np.asarray(predicted, float), np.asarray(failure, float)
    if not len(p) or p.shape != y.shape:
        raise ValueError("as many predictions as failures, at least one.")
    parts = [part for part in np.array_split(np.argsort(p, kind="stable"), bins) if len(part)]
    gaps = [abs(p[part].mean() - y[part].mean()) * len(part) for part in parts]
    return float(sum(gaps) / len(p))


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -40, 40))))
