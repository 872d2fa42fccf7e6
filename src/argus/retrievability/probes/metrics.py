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

import numpy as np
import numpy.typing as npt

from argus.retrievability import rps

BANDS = ["low", "mid", "high"]
Floats = npt.NDArray[np.float64]
Figures = dict[str, float | None]


def measure(labels: Floats, predicted: Floats) -> Figures:
    """Compare RPS with its prediction, both (n,), to six digits.

    A band that is never predicted has precision 0, and one that does not occur counts as 0 in
    macro figures, as in scikit-learn. Bands are those of `argus.retrievability.rps`.

    rmse: root mean squared error.
    mae: mean absolute error.
    pearson, spearman: correlations. None with a constant.
    macro_f1, macro_recall, macro_precision: of the bands, in the mean.
    weighted_precision, weighted_f1: of the bands, weighed by their size.
    accuracy: share whose band is right.
    """
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import precision_recall_fscore_support

    error = predicted - labels
    varies = len(labels) > 1 and min(np.ptp(labels), np.ptp(predicted)) > 0
    truth, guess = rps.band(labels), rps.band(predicted)
    macro, weighted = (
        precision_recall_fscore_support(
            truth, guess, labels=BANDS, average=average, zero_division=0
        )
        for average in ("macro", "weighted")
    )
    return _rounded(
        rmse=np.sqrt(np.mean(error**2)),
        mae=np.abs(error).mean(),
        pearson=pearsonr(labels, predicted).statistic if varies else None,
        spearman=spearmanr(labels, predicted).statistic if varies else None,
        macro_f1=macro[2],
        macro_recall=macro[1],
        macro_precision=macro[0],
        weighted_precision=weighted[0],
        weighted_f1=weighted[2],
        accuracy=(truth == guess).mean(),
    )


def describe_labels(
    labels: Floats, related: npt.NDArray[np.int64], hit_variance: Floats
) -> Figures:
    """Return how far n labels spread, and how much of that is sampling: to read an RMSE against.

    A label is a mean of hits over |T_x| related entities (ARGUS §C.2, cause i). Were another T_x
    drawn for each entity, labels would move by `sampling_rmse`, and correlate with their
    expectation by `sampling_pearson`. That is a reference, not a bound: T_x is no random sample,
    and a vector may tell which one it is.

    hit_variance: unbiased variance of the hit probabilities over T_x, (n,). NaN where it is not
    known. The sampling variance of a label is that over |T_x|. An entity with one related entity
    tells no variance. It takes the mean of the others.

    std: standard deviation of the labels: the RMSE of always saying their mean.
    related_median: median number of related entities.
    sampling_rmse, sampling_pearson: None where no entity has two related entities.
    """
    std, known = float(labels.std()), ~np.isnan(hit_variance)
    rmse = reach = None
    if known.any():
        variance = np.where(known, hit_variance, hit_variance[known].mean())
        sampling = float((variance / related).mean())
        rmse = np.sqrt(sampling)
        reach = np.sqrt(max(0.0, 1 - sampling / std**2)) if std > 0 else None
    median = np.median(related)
    return _rounded(std=std, related_median=median, sampling_rmse=rmse, sampling_pearson=reach)


def _rounded(**values: float | None) -> Figures:
    return {n: None if value is None else round(float(value), 6) for n, value in values.items()}
