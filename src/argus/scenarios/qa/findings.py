"""Findings of the comparison: means per arm, differences over the same questions, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import State
from argus.measures.significance import (
    FEWEST_CHANGED,
    RESAMPLES,
    bootstrap_interval,
    paired_difference,
)
from argus.scenarios.qa.agreement import Agreement, agreement
from argus.scenarios.qa.compare import Arm, Judged, measured_scores
from argus.scenarios.qa.summary import ArmComparison, ArmScores

COMPARISONS = (
    (Arm.DOCUMENTS, Arm.FUSED),
    (Arm.DOCUMENTS, Arm.FUSED_SCENARIOS),
    (Arm.FUSED, Arm.FUSED_SCENARIOS),
    (Arm.DOCUMENTS, Arm.ORACLE),
    (Arm.DOCUMENTS, Arm.ORACLE_SCENARIOS),
    (Arm.ORACLE, Arm.ORACLE_SCENARIOS),
)
"""Before and after: the gain over documents alone, and by showing scenarios as such."""


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean score with its 95% interval. None where there is no question, or no interval."""

    questions: int
    mean: float | None
    low: float | None
    high: float | None
    no_interval: str


def mean_score(scores: Sequence[float], *, seed: int, resamples: int = RESAMPLES) -> Mean:
    """Return mean and bootstrap interval over questions, with `bootstrap_interval`'s corrections.

    There a difference of zero is no observation. A score of zero is one, so scores are moved off
    it, which moves their interval alike.
    """
    values: npt.NDArray[np.float64] = np.array(sorted(scores), np.float64)
    if not len(values):
        return Mean(0, None, None, None, "no question was measured")
    mean = float(values.mean())
    if len(values) < FEWEST_CHANGED:
        return Mean(len(values), mean, None, None, f"fewer than {FEWEST_CHANGED} questions")
    if values[0] == values[-1]:
        return Mean(len(values), mean, None, None, "all scores are equal")
    low, high, _ = bootstrap_interval(values + 1.0, seed=seed, resamples=resamples)
    assert low is not None and high is not None
    return Mean(len(values), mean, low - 1.0, high - 1.0, "")


def arm_summaries(
    judged: Sequence[Judged], *, seed: int, resamples: int = RESAMPLES
) -> list[ArmScores]:
    """Return one entry per arm that has cases, in the order of `Arm`.

    Counts are of all questions. Mean and interval are over those that were measured in the arm and
    with documents alone, so that a bar stands beside the bar of the same questions.
    """
    scores = measured_scores(judged)
    base = scores[Arm.DOCUMENTS]
    arms: list[ArmScores] = []
    for arm in Arm:
        own = [j for j in judged if j.case.arm is arm]
        if not own:
            continue
        shared = sorted(scores[arm].keys() & base.keys())
        mean = mean_score([scores[arm][q] for q in shared], seed=seed, resamples=resamples)
        states = Counter(j.state for j in own)
        arms.append(
            {
                "arm": str(arm),
                "states": {
                    "measured": states[State.MEASURED],
                    "failed": states[State.FAILED],
                    "not applicable": states[State.NOT_APPLICABLE],
                },
                "failed_at": dict(Counter(j.stage for j in own if j.stage)),
                "failures": dict(Counter(str(j.failure) for j in own if j.failure)),
                "reasons": dict(Counter(j.reason for j in own if j.reason).most_common(20)),
                "documents_cut": sum(j.case.cut for j in own),
                "documents_left_out": sum(j.case.left_out for j in own),
                "questions": mean.questions,
                "mean": mean.mean,
                "low": mean.low,
                "high": mean.high,
                "no_interval": mean.no_interval,
                "documents_mean": float(np.mean([base[q] for q in shared])) if shared else None,
            }
        )
    return arms


def comparisons(
    judged: Sequence[Judged], *, seed: int, resamples: int = RESAMPLES
) -> list[ArmComparison]:
    """Return the paired difference of two arms over the questions that were measured in both.

    `found` is None where there is no such question. Pairs of which an arm was not run are left out.
    """
    scores = measured_scores(judged)
    arms = {j.case.arm for j in judged}
    pairs: list[ArmComparison] = []
    for before, after in COMPARISONS:
        if not {before, after} <= arms:
            continue
        shared = scores[before].keys() & scores[after].keys()
        pair: ArmComparison = {"before": str(before), "after": str(after), "found": None}
        if shared:
            pair["found"] = paired_difference(
                _only(scores[before], shared),
                _only(scores[after], shared),
                seed=seed,
                resamples=resamples,
            ).figures()
        pairs.append(pair)
    return pairs


def votes_agreement(judged: Sequence[Judged]) -> Agreement:
    """Return how far votes agree. An answer that several arms share counts once."""
    units = {
        (j.case.question.id, j.answer): [v.score for v in j.verdict.votes if v.score is not None]
        for j in judged
        if j.verdict is not None
    }
    return agreement(list(units.values()))


def _only(scores: Mapping[str, float], ids: set[str]) -> dict[str, float]:
    return {q: scores[q] for q in ids}
