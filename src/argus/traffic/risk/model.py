"""The model that ships: signals of fixed sign, averaged; what it was seen to be worth stands by.

Nothing in the average is learnt: over a few families of questions, weights that were learnt did no
better on the family left out (docs/traffic-risk.md). Learnt are the slope and the intercept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.data.records import parse_json, read_record
from argus.traffic.risk.calibration import Slope
from argus.traffic.risk.signals import SIGNS

MODEL = "model.json"
Floats = npt.NDArray[np.float64]
GROUPS: dict[str, tuple[str, ...]] = {
    "words": (
        "words_covered_best", "words_covered_mean", "words_covered_first", "words_best",
        "words_fall",
    ),
    "scores": ("score_best", "score_fall", "score_spread", "score_flat"),
    "agreement": ("agree_words", "agree_vectors", "agree_both", "share_both"),
    "results": ("clarity", "coherence", "feedback", "smoothness"),
    "neighbours": ("near_cosine", "near_best", "near_wig", "near_fall", "near_spread"),
    "log": ("popular", "crowded"),
}  # fmt: skip
"""Signals that tell of the same; each group counts once."""
LEAST_GROUPS = 4
"""Groups that must be known of a question."""
LEAST_QUESTIONS = 30
"""Questions of a log among which one can stand high or low."""
NO_GROUPS = "too little is known of it: too few results, words or scores"
SHORT_LOG = f"the log has fewer than {LEAST_QUESTIONS} questions that anything is known of"
TOO_LONG = "longer than any question that the model was tried on"
FOREIGN = "most of its words stand nowhere in the corpus"


class RiskSlope(TypedDict):
    """A `Slope`."""

    intercept: float
    slope: float
    intercept_deviation: float
    slope_deviation: float


class RiskWorth(TypedDict):
    """What predictions were seen to be worth on families of questions that were left out.

    auc: by question, mean of the families, with its 95% interval; auc_pairs: by question and
    relevant document. error, error_corrected: of calibration, before and after `judgements`.
    """

    auc: float
    low: float
    high: float
    auc_pairs: float
    error: float
    error_corrected: float
    judgements: int
    families: int
    questions: int


class RiskVariant(TypedDict):
    """The model where vectors are at hand, or where they are not."""

    slope: RiskSlope
    worth: RiskWorth


class Region(TypedDict):
    """What the model was tried on. words: of a question; unknown: share of its words."""

    most_words: int
    most_unknown: float
    least_documents: int
    most_documents: int


class ModelRecord(TypedDict):
    """model.json."""

    version: int
    vectors: RiskVariant
    words: RiskVariant
    region: Region


@cache
def risk_model() -> ModelRecord:
    """Return the model that ships."""
    file = files("argus.traffic.risk") / MODEL
    return read_record(
        ModelRecord, parse_json(file.read_text(encoding="utf-8")), where=Path(str(file))
    )


@dataclass(frozen=True)
class Standing:
    """How high each question stands in its log. z: mean 0, deviation 1; NaN where it abstains.

    reasons: why it abstains, by row.
    """

    z: Floats
    reasons: dict[int, str]


def standing(signals: Floats, without: dict[int, str] | None = None) -> Standing:
    """Return where each question stands among those of its log.

    Each signal becomes the normal score of its rank in the log, by its sign; the mean over the
    signals of a group, then over the groups that are known, is brought to deviation 1. signals:
    shape (n, len(SIGNS)), NaN where one is not known. without: rows to abstain on, and why.
    """
    reasons = dict(without or {})
    keep = np.array([row not in reasons for row in range(len(signals))], bool)
    groups = _groups(np.where(keep[:, None], signals, np.nan))
    known = np.isfinite(groups).sum(axis=1)
    for row in np.flatnonzero(keep & (known < LEAST_GROUPS)):
        reasons[int(row)] = NO_GROUPS
    keep &= known >= LEAST_GROUPS
    z = np.full(len(signals), np.nan)
    if keep.sum() < LEAST_QUESTIONS:
        return Standing(z, {row: reasons.get(row, SHORT_LOG) for row in range(len(signals))})
    means = np.nanmean(groups[keep], axis=1)
    spread = means.std()
    z[keep] = (means - means.mean()) / spread if spread > 1e-9 else 0.0
    return Standing(z, reasons)


def _groups(signals: Floats) -> Floats:
    """Return the mean normal score of each group, shape (n, len(GROUPS)); NaN for none known."""
    columns = {name: i for i, name in enumerate(SIGNS)}
    scores = np.stack(
        [sign * normal_scores(signals[:, columns[name]]) for name, sign in SIGNS.items()], axis=1
    )
    means = np.full((len(signals), len(GROUPS)), np.nan)
    for i, names in enumerate(GROUPS.values()):
        own = scores[:, [columns[name] for name in names]]
        some = np.isfinite(own).any(axis=1)
        means[some, i] = np.nanmean(own[some], axis=1)
    return means


def normal_scores(values: Floats) -> Floats:
    """Return the normal scores of the ranks of values that are numbers; ties share one.

    Blom's (1958) without his constants: the quantile at (rank - ½)/n. All equal: zeros.
    """
    from scipy.stats import norm, rankdata

    scores = np.full(len(values), np.nan)
    known = np.isfinite(values)
    if (n := int(known.sum())) == 0:
        return scores
    ranks = rankdata(values[known])
    own = norm.ppf((ranks - 0.5) / n)
    spread = own.std()
    scores[known] = (own - own.mean()) / spread if spread > 1e-9 else 0.0
    return scores


def slope_of(record: RiskSlope) -> Slope:
    """Return what a record holds."""
    return Slope(**record)


def outside(words: Sequence[int], unknown: Sequence[float], region: Region) -> dict[int, str]:
    """Return the rows of questions that the model was never tried on the like of, and why.

    words: how many each has; unknown: the share of them that no document has.
    """
    reasons = {i: TOO_LONG for i, n in enumerate(words) if n > region["most_words"]}
    foreign = {i: FOREIGN for i, share in enumerate(unknown) if share > region["most_unknown"]}
    return reasons | foreign
