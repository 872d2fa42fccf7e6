"""The measures of ARGUS Tables 1 and 3, and the spread of labels that they depend on.

The headings of the paper's Tables 1 and 3 are permuted. "All Zero" puts everything into the low
band, so with a share s of low entities its macro recall is 1/3, its macro precision s/3 and its
macro F1 2s/(1+s)/3. BGE-M3 has s = 0.726: 0.242 and 0.280, which the table prints under
"Macro-F1" and "Macro-Prec". Its weighted precision is s² = 0.527. The table prints 0.726, the
weighted recall, which is the accuracy (the two columns agree in every row). So the paper's
Macro-F1, Macro-Prec and Prec-weighted are macro precision, macro F1 and weighted recall, in the
rows of learned probes too. Here every figure stands under its own name.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, cast

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.retrievability import rps

BANDS = ["low", "mid", "high"]


Measure = Literal[
    "rmse", "mae", "pearson", "spearman", "macro_f1", "macro_recall", "macro_precision",
    "weighted_precision", "weighted_f1", "accuracy",
]  # fmt: skip
"""Measures of predictions."""


class MeasureFigures(TypedDict):
    """`Measures` in a summary.

    rmse: root mean squared error.
    mae: mean absolute error.
    pearson: Pearson correlation. None where not defined.
    spearman: Spearman correlation. None where not defined.
    macro_f1: F1 of the bands, in the mean.
    macro_recall: recall of the bands, in the mean.
    macro_precision: precision of the bands, in the mean.
    weighted_precision: precision of the bands, weighed by their size.
    weighted_f1: F1 of the bands, weighed by their size.
    accuracy: share whose band is right.
    """

    rmse: float
    mae: float
    pearson: float | None
    spearman: float | None
    macro_f1: float
    macro_recall: float
    macro_precision: float
    weighted_precision: float
    weighted_f1: float
    accuracy: float


class LabelFigures(TypedDict):
    """`Labels` in a summary.

    std: standard deviation of the labels.
    related_median: median number of related entities.
    sampling_rmse: how far drawing other related entities would move labels, RMSE. None where not
    known.
    sampling_pearson: Pearson correlation of labels with their expectation. None where not known.
    """

    std: float
    related_median: float
    sampling_rmse: float | None
    sampling_pearson: float | None


@dataclass(frozen=True)
class Measures:
    """How predictions agree with labels. A correlation with a constant is None, not zero."""

    rmse: float
    mae: float
    pearson: float | None
    spearman: float | None
    macro_f1: float
    macro_recall: float
    macro_precision: float
    weighted_precision: float
    weighted_f1: float
    accuracy: float

    def rounded(self) -> MeasureFigures:
        """Return the measures by name, to six digits."""
        return cast(MeasureFigures, {n: _rounded(v) for n, v in asdict(self).items()})


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def measure(labels: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64]) -> Measures:
    """Compare RPS with its prediction, both (n,). Bands are those of `argus.retrievability.rps`.

    A band that is never predicted has precision 0, and one that does not occur counts as 0 in
    macro figures, as in scikit-learn.
    """
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import precision_recall_fscore_support

    error = predicted - labels
    varies = len(labels) > 1 and min(np.ptp(labels), np.ptp(predicted)) > 0
    truth, guess = rps.band(labels), rps.band(predicted)
    scores = {
        average: precision_recall_fscore_support(
            truth, guess, labels=BANDS, average=average, zero_division=0
        )
        for average in ("macro", "weighted")
    }
    return Measures(
        rmse=float(np.sqrt(np.mean(error**2))),
        mae=float(np.abs(error).mean()),
        pearson=float(pearsonr(labels, predicted).statistic) if varies else None,
        spearman=float(spearmanr(labels, predicted).statistic) if varies else None,
        macro_f1=float(scores["macro"][2]),
        macro_recall=float(scores["macro"][1]),
        macro_precision=float(scores["macro"][0]),
        weighted_precision=float(scores["weighted"][0]),
        weighted_f1=float(scores["weighted"][2]),
        accuracy=float((truth == guess).mean()),
    )


def baselines(labels: npt.NDArray[np.float64], training_mean: float) -> dict[str, Measures]:
    """Return the scores of always saying zero, one, or the training mean."""
    constants = {"all zero": 0.0, "all one": 1.0, "mean": training_mean}
    return {name: measure(labels, np.full(len(labels), c)) for name, c in constants.items()}


@dataclass(frozen=True)
class Labels:
    """How far labels spread, and how much of that is sampling: the reference for an RMSE.

    An RPS is a mean over |T_x| related entities. Were another T_x drawn for each entity, labels
    would move by `sampling_rmse`, and correlate with their expectation by `sampling_pearson`. That
    is a reference, not a bound: T_x is no random sample, and a vector may tell which one it is.
    """

    std: float
    """Standard deviation of the labels: the RMSE of always saying their mean."""
    related_median: float
    sampling_rmse: float | None
    """None where no entity has two related entities, or the audit's pairs are not there."""
    sampling_pearson: float | None

    def rounded(self) -> LabelFigures:
        """Return the figures by name, to six digits."""
        return cast(LabelFigures, {n: _rounded(v) for n, v in asdict(self).items()})


def describe_labels(
    labels: npt.NDArray[np.float64],
    related: npt.NDArray[np.int64],
    hit_variance: npt.NDArray[np.float64],
) -> Labels:
    """Describe n labels, each a mean of hits over `related` entities (ARGUS §C.2, cause i).

    hit_variance: unbiased variance of the hit probabilities over T_x, shape (n,). NaN where it is
    not known. The sampling variance of a label is that over |T_x|. An entity with one related
    entity tells no variance. It takes the mean of the others.
    """
    std, median = float(labels.std()), float(np.median(related))
    known = ~np.isnan(hit_variance)
    if not known.any():
        return Labels(std, median, None, None)
    variance = np.where(known, hit_variance, hit_variance[known].mean())
    sampling = float((variance / related).mean())
    reach = float(np.sqrt(max(0.0, 1 - sampling / std**2))) if std > 0 else None
    return Labels(std, median, float(np.sqrt(sampling)), reach)
