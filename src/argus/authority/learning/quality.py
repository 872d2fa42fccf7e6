"""What proposals are worth against labelled pairs: found, right, and whether confidences hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from typing_extensions import TypedDict

from argus.authority.benchmarks.metrics import share
from argus.authority.benchmarks.score import as_json
from argus.authority.benchmarks.summary import ShareFigures
from argus.authority.learning.pairs import Pair

BOUNDS = (0.1, 0.3, 0.5, 0.7, 0.9)
BINS = 5


class AtBound(TypedDict):
    """Proposals of at least a confidence: how many, right ones of them, found of all labelled.

    confidence: least confidence of these proposals.
    proposals: proposals of at least that.
    precision: share of these that is right.
    recall: share of the labelled pairs that is among them.
    """

    confidence: float
    proposals: int
    precision: ShareFigures | None
    recall: ShareFigures | None


class Bin(TypedDict):
    """Proposals of like confidence: their mean, and the share of them that is right.

    proposals: proposals of like confidence.
    confidence: their mean confidence.
    right: share of them that is right.
    """

    proposals: int
    confidence: float
    right: float


class ProposalQuality(TypedDict):
    """Against labels.

    labelled: labelled pairs.
    reachable: share of labelled pairs among all candidates.
    brier: mean squared error of confidences.
    constant: the same error of always saying the share of right ones.
    ece: mean difference of confidence and share over bins, weighed by their size.
    bounds: what is right and found, by least confidence.
    bins: confidence beside what is right.
    """

    labelled: int
    reachable: ShareFigures | None
    brier: float
    constant: float
    ece: float
    bounds: list[AtBound]
    bins: list[Bin]


def quality(
    confidences: dict[Pair, float], gold: Collection[Pair], bounds: Sequence[float] = BOUNDS
) -> ProposalQuality:
    """Measure the confidences of all candidates against the labelled pairs."""
    pairs = list(confidences)
    p = np.array([confidences[pair] for pair in pairs])
    y = np.array([pair in gold for pair in pairs], np.float64)
    bins = _bins(p, y)
    error = sum(b["proposals"] * abs(b["confidence"] - b["right"]) for b in bins)
    return {
        "labelled": len(gold),
        "reachable": as_json(share(pair in confidences for pair in gold)),
        "brier": float(np.mean((p - y) ** 2)) if len(p) else 0.0,
        "constant": float(y.mean() * (1 - y.mean())) if len(p) else 0.0,
        "ece": error / len(p) if len(p) else 0.0,
        "bounds": [
            {
                "confidence": bound,
                "proposals": int((p >= bound).sum()),
                "precision": as_json(share(y[p >= bound].tolist())),
                "recall": as_json(share(confidences.get(pair, -1.0) >= bound for pair in gold)),
            }
            for bound in bounds
        ],
        "bins": bins,
    }


def _bins(p: np.ndarray, y: np.ndarray) -> list[Bin]:
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    return [
        {
            "proposals": int((place == b).sum()),
            "confidence": float(p[place == b].mean()),
            "right": float(y[place == b].mean()),
        }
        for b in range(BINS)
        if (place == b).any()
    ]


def quality_lines(of: ProposalQuality) -> Iterator[str]:
    """Yield it in words."""
    reachable = of["reachable"]
    if reachable is not None:
        yield f"{of['labelled']:,} labelled pairs, {reachable['value']:.1%} of them candidates"
    yield f"Brier {of['brier']:.4f} (always the share: {of['constant']:.4f}), ECE {of['ece']:.4f}"
    for at in of["bounds"]:
        precision, recall = (
            "-" if of_all is None else f"{of_all['value']:.3f}"
            for of_all in (at["precision"], at["recall"])
        )
        yield (
            f"confidence from {at['confidence']:g}: {at['proposals']:,} proposals, "
            f"precision {precision}, recall {recall}"
        )
