"""The measures of ARGUS Tables 1 and 3, and what they can reach at most.

The headings of the paper's Tables 1 and 3 are permuted. "All Zero" puts everything into the low
band, so with a share s of low entities its macro recall is 1/3, its macro precision s/3 and its
macro F1 2s/(1+s)/3. BGE-M3 has s = 0.726: 0.242 and 0.280, which the table prints under
"Macro-F1" and "Macro-Prec". Its weighted precision is s² = 0.527; the table prints 0.726, the
weighted recall, which is the accuracy (the two columns agree in every row). So the paper's
Macro-F1, Macro-Prec and Prec-weighted are macro precision, macro F1 and weighted recall, in the
rows of learned probes too. Here every figure stands under its own name.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from argus.retrievability import rps

BANDS = ["low", "mid", "high"]


@dataclass(frozen=True)
class Measures:
    """How predictions agree with labels; a correlation with a constant is None, not zero."""

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

    def rounded(self) -> dict[str, float | None]:
        """Return the measures by name, to six digits."""
        return {k: None if v is None else round(v, 6) for k, v in asdict(self).items()}


def measure(labels: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64]) -> Measures:
    """Compare RPS with its prediction, both (n,); bands are those of `argus.retrievability.rps`.

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
    """Return what always saying zero, one, or the mean of the training labels reaches."""
    constants = {"all zero": 0.0, "all one": 1.0, "mean": training_mean}
    return {name: measure(labels, np.full(len(labels), c)) for name, c in constants.items()}


@dataclass(frozen=True)
class Ceiling:
    """What a perfect probe would reach on labels as noisy as these."""

    noise_rmse: float
    """Root of the mean sampling variance of a label: the lowest RMSE that can be expected."""
    max_pearson: float | None
    related_median: float


def label_ceiling(labels: npt.NDArray[np.float64], related: npt.NDArray[np.int64]) -> Ceiling:
    """Return the bound that few related entities set (ARGUS §C.2, cause i).

    An RPS is a mean over |T_x| related entities. Taken as a sample of those the entity could have
    had, hits being 0 or 1, its variance is p(1-p)/(|T_x| - 1), estimated without bias; an entity
    with one related entity tells no variance and takes the mean p(1-p) of the others.
    """
    several = related > 1
    spread = np.full(len(labels), np.nan)
    spread[several] = (labels * (1 - labels))[several] * (related / np.maximum(related - 1, 1))[
        several
    ]
    spread[~several] = spread[several].mean() if several.any() else 0.25
    noise = float((spread / related).mean())
    total = float(labels.var())
    reach = float(np.sqrt(max(0.0, 1 - noise / total))) if total > 0 else None
    return Ceiling(float(np.sqrt(noise)), reach, float(np.median(related)))
