"""From clues to a confidence: logistic regression, then Platt's calibration.

Weights have a normal prior around PRIOR, so that a clue that no labelled pair has keeps what a
person would give it, and few labelled pairs move the rest a little. Platt's sigmoid (Platt, 1999)
is fitted on scores of pairs whose document took no part in the weights (folds by superseded
document), with his targets (n₊ + 1) / (n₊ + 2) and 1 / (n₋ + 2), which keep it off 0 and 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.authority.learning.pairs import CLUES
from argus.data.provenance import content_hash
from argus.data.reading import parse_json, read_record
from argus.data.writing import write_whole
from argus.errors import InputError

Floats = npt.NDArray[np.float64]
BIAS = -4.5
PRIOR: dict[str, float] = {
    "stated": 2.0, "stated_short": 1.0, "stated_by_older": 2.0, "strong_cue": 1.5, "near_cue": 1.0,
    "doubt": -1.5, "cited": 0.5, "cited_often": 0.5, "later": 0.5, "newer_version": 4.0,
    "same_title": 0.5, "similar": 3.0, "same_scope": 2.0,
}  # fmt: skip
"""What each clue adds to the log odds before any labelled pair is seen."""
SPREAD = 1.5
"""Standard deviation of the prior of a weight; of the bias three times that."""
FOLDS = 5
STEPS = 100


class ModelFile(TypedDict):
    """A model on disk.

    weights: weight by clue.
    bias: weight that every pair has.
    slope: slope of the calibration.
    offset: offset of the calibration.
    labelled: pairs that it learnt from.
    accepted: of these, pairs that are right.
    told_by: labelled pairs with this clue, by clue; 0: the prior alone.
    """

    weights: dict[str, float]
    bias: float
    slope: float
    offset: float
    labelled: int
    accepted: int
    told_by: dict[str, int]


@dataclass(frozen=True)
class ProposalModel:
    """Clues to a confidence in (0, 1): sigmoid(slope · (w·clues + bias) + offset)."""

    values: ModelFile

    def confidences(self, rows: Sequence[Sequence[float]]) -> Floats:
        """Return the confidence of every row of clues, shape (n,); rows: (n, len(CLUES))."""
        if not len(rows):
            return np.zeros(0)
        weights = np.array([self.values["weights"][clue] for clue in CLUES])
        scores = np.asarray(rows, np.float64) @ weights + self.values["bias"]
        return _sigmoid(self.values["slope"] * scores + self.values["offset"])

    def write(self, file: Path) -> None:
        """Write it as JSON, whole or not at all."""
        write_whole(file, json.dumps(self.values, indent=2) + "\n")


def read_model(file: Path | None = None) -> ProposalModel:
    """Read a model; None for the one that ships. Raises InputError for a file that is none."""
    if file is None:
        shipped = files("argus.authority.learning").joinpath("weights.json")
        return ProposalModel(
            read_record(ModelFile, parse_json(shipped.read_text("utf-8")), where=Path("weights"))
        )
    try:
        values = parse_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"no model in it ({error})", expected="JSON as argus authority learn writes it",
            fix="Run it again, or leave --model out for the model that ships.", where=file,
        ) from error  # fmt: skip
    model = ProposalModel(read_record(ModelFile, values, where=file))
    if set(model.values["weights"]) != set(CLUES):
        raise InputError(
            f"weights of {', '.join(sorted(model.values['weights']))}",
            expected=f"weights of {', '.join(sorted(CLUES))}",
            fix="Learn it again: it was written by another version.", where=file,
        )  # fmt: skip
    return model


def fit_model(
    rows: Sequence[Sequence[float]], labels: Sequence[bool], groups: Sequence[str]
) -> ProposalModel:
    """Fit weights and calibration. groups: what a pair shares with others, such as a document.

    Raises InputError without a pair of each label.
    """
    x, y = np.asarray(rows, np.float64), np.asarray(labels, np.float64)
    if not 0 < y.sum() < len(y):
        raise InputError(
            f"{int(y.sum())} accepted pairs of {len(y)}",
            expected="some pairs that were accepted and some that were rejected",
            fix="Decide more proposals; both kinds are needed.",
        )
    fold = np.array([int.from_bytes(content_hash(group, size=4)) % FOLDS for group in groups])
    scores = np.zeros(len(y))
    for number in np.unique(fold):
        rest = fold != number
        scores[~rest] = _with_bias(x[~rest]) @ _fit(x[rest], y[rest])
    slope, offset = _platt(scores, y)
    weights = _fit(x, y)
    return ProposalModel({
        "weights": {c: round(float(w), 6) for c, w in zip(CLUES, weights, strict=False)},
        "bias": round(float(weights[-1]), 6), "slope": round(slope, 6), "offset": round(offset, 6),
        "labelled": len(y), "accepted": int(y.sum()),
        "told_by": {c: int((x[:, i] > 0).sum()) for i, c in enumerate(CLUES)},
    })  # fmt: skip


def _fit(x: Floats, y: Floats) -> Floats:
    """Return the weights of greatest posterior, the bias last; by Newton's steps."""
    prior = np.array([*(PRIOR[clue] for clue in CLUES), BIAS])
    precision = np.array([*(1 / SPREAD**2 for _ in CLUES), 1 / (3 * SPREAD) ** 2])
    return _newton(_with_bias(x), y, prior, precision)


def _platt(scores: Floats, y: Floats) -> tuple[float, float]:
    """Return slope and offset; the slope stays near 1 where scores hardly tell."""
    n = y.sum()
    targets = np.where(y > 0, (n + 1) / (n + 2), 1 / (len(y) - n + 2))
    slope, offset = _newton(
        np.column_stack([scores, np.ones(len(y))]), targets, np.array([1.0, 0.0]),
        np.array([1.0, 0.1]),
    )  # fmt: skip
    return max(float(slope), 0.05), float(offset)


def _newton(x: Floats, y: Floats, prior: Floats, precision: Floats) -> Floats:
    weights = prior.copy()
    for _ in range(STEPS):
        p = _sigmoid(x @ weights)
        gradient = x.T @ (p - y) + precision * (weights - prior)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.diag(precision)
        step = np.linalg.solve(hessian, gradient)
        weights = weights - step / max(1.0, float(np.abs(step).max()))
        if float(np.abs(step).max()) < 1e-9:
            break
    return weights


def _with_bias(x: Floats) -> Floats:
    return np.column_stack([x, np.ones(len(x))])


def _sigmoid(scores: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -40, 40))), np.float64)
