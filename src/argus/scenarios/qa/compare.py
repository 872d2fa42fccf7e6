"""Answer every question in every arm, have the answers judged, and compare the arms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from argus.data.types import State
from argus.llm import LanguageModel, Prompt
from argus.llm import State as PromptState
from argus.llm.model import without_thoughts
from argus.measures import RESAMPLES
from argus.measures.significance import (
    FEWEST_CHANGED,
    bootstrap_interval,
    paired_difference,
)
from argus.scenarios.qa.judge import (
    Failure,
    Verdict,
    agreement,
    combine,
    failure_of,
    vote_of,
    why_no_answer,
)
from argus.scenarios.qa.prompts import answer_prompt, judge_prompt


class Arm(StrEnum):
    """Contents of the context of the answering model (SPIKE Table 5)."""

    DOCUMENTS = "documents"  # Documents, ranked by themselves.
    FUSED = "fused"  # Documents, ranked with their scenarios, which are not shown.
    # The same documents, each with the scenario that matched.
    FUSED_SCENARIOS = "fused + scenarios"
    ORACLE = "oracle"  # All relevant documents.
    ORACLE_SCENARIOS = "oracle + scenarios"

    @property
    def shows_scenarios(self) -> bool:
        """Whether the scenarios that matched are shown."""
        return self in (Arm.FUSED_SCENARIOS, Arm.ORACLE_SCENARIOS)

    @property
    def is_oracle(self) -> bool:
        """Whether the relevant documents are shown, whatever a search finds."""
        return self in (Arm.ORACLE, Arm.ORACLE_SCENARIOS)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the answer that it is judged by."""

    id: str
    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class Case:
    """One question in one arm. state: MEASURED where it can be asked, else `reason` says why not.

    cut, left_out: how many of the documents are shown in part, or not at all, for want of room.
    """

    question: Question
    arm: Arm
    context: str = ""
    documents: tuple[str, ...] = ()
    cut: int = 0
    left_out: int = 0
    state: State = State.MEASURED
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """Answer of the model to a case. answer: "" where `failure` says that it failed."""

    case: Case
    answer: str = ""
    failure: Failure | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """Final outcome of a case.

    state: MEASURED with a score from 0 to 100, FAILED, or NOT_APPLICABLE. stage: where it failed
    (retrieval, answer, judgement), "" where it did not.
    """

    case: Case
    state: State
    score: float | None = None
    answer: str = ""
    verdict: Verdict | None = None
    stage: str = ""
    failure: Failure | None = None
    reason: str = ""


def answer_prompts(cases: Sequence[Case]) -> list[Prompt]:
    """Return the prompts of `answer_cases`, in order."""
    measured = (case for case in cases if case.state is State.MEASURED)
    return [answer_prompt(case.question.text, case.context) for case in measured]


def answer_cases(cases: Sequence[Case], model: LanguageModel) -> list[Answered]:
    """Ask the answering model (SPIKE Table 10). Arms with equal contexts share one answer.

    Raises LanguageModelError as the model does. Answers so far are in its ledger.
    """
    outcomes = model.complete(answer_prompts(cases))
    answered = []
    for case in cases:
        if case.state is not State.MEASURED:
            answered.append(Answered(case))
            continue
        outcome = next(outcomes)
        if outcome.state is not PromptState.OK or outcome.value is None:
            answered.append(Answered(case, "", failure_of(outcome), why_no_answer(outcome)))
        elif answer := without_thoughts(outcome.value):
            answered.append(Answered(case, answer))
        else:
            why = "the answer holds thoughts alone"
            answered.append(Answered(case, "", Failure.NOT_ANSWERED, why))
    return answered


def judge_prompts(answered: Sequence[Answered], votes: int) -> list[Prompt]:
    """Return the prompts of `judge_answers`, in order: all votes on the first answer, and so on."""
    return [
        judge_prompt(a.case.question.text, a.answer, a.case.question.reference, vote)
        for a in answered
        if a.answer
        for vote in range(1, votes + 1)
    ]


def judge_answers(answered: Sequence[Answered], model: LanguageModel, votes: int) -> list[Judged]:
    """Ask the judge `votes` times for each answer (Table 11). Equal answers share their votes.

    Raises LanguageModelError as the model does. Judgements so far are in its ledger.
    """
    outcomes = model.complete(judge_prompts(answered, votes))
    judged = []
    for a in answered:
        case, failed = a.case, State.FAILED
        if case.state is not State.MEASURED:
            stage = "retrieval" if case.state is failed else ""
            judged.append(Judged(case, case.state, stage=stage, reason=case.reason))
        elif not a.answer:
            judged.append(Judged(case, failed, stage="answer", failure=a.failure, reason=a.reason))
        else:
            verdict = combine([vote_of(next(outcomes)) for _ in range(votes)])
            stage = "judgement" if verdict.state is failed else ""
            judged.append(
                Judged(
                    case, verdict.state, verdict.score, a.answer, verdict, stage,
                    verdict.failure, verdict.reason,
                )
            )  # fmt: skip
    return judged


def measured_scores(judged: Sequence[Judged]) -> Mapping[Arm, dict[str, float]]:
    """Return arm -> question id -> score, where measured."""
    scores: dict[Arm, dict[str, float]] = {arm: {} for arm in Arm}
    for j in judged:
        if j.score is not None:
            scores[j.case.arm][j.case.question.id] = j.score
    return scores


# Before and after: the gain over documents alone, and by showing scenarios as such.
COMPARISONS = (
    (Arm.DOCUMENTS, Arm.FUSED),
    (Arm.DOCUMENTS, Arm.FUSED_SCENARIOS),
    (Arm.FUSED, Arm.FUSED_SCENARIOS),
    (Arm.DOCUMENTS, Arm.ORACLE),
    (Arm.DOCUMENTS, Arm.ORACLE_SCENARIOS),
    (Arm.ORACLE, Arm.ORACLE_SCENARIOS),
)


def mean_score(scores: Sequence[float], *, seed: int, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return mean and bootstrap interval over questions, with `bootstrap_interval`'s corrections.

    There a difference of zero is no observation. A score of zero is one, so scores are moved off
    it, which moves their interval alike. Keys: questions, mean, low, high, no_interval. None where
    there is no question, or no interval.
    """
    values, why, low, high = np.array(sorted(scores), np.float64), "", None, None
    if not len(values):
        why = "no question was measured"
    elif len(values) < FEWEST_CHANGED:
        why = f"fewer than {FEWEST_CHANGED} questions"
    elif values[0] == values[-1]:
        why = "all scores are equal"
    else:
        low, high, _ = bootstrap_interval(values + 1.0, seed=seed, resamples=resamples)
    return {
        "questions": len(values),
        "mean": float(values.mean()) if len(values) else None,
        "low": None if low is None else low - 1.0,
        "high": None if high is None else high - 1.0,
        "no_interval": why,
    }


def arm_summaries(
    judged: Sequence[Judged], *, seed: int, resamples: int = RESAMPLES
) -> list[dict[str, Any]]:
    """Return one entry per arm that has cases, in the order of `Arm`.

    Counts are of all questions. Mean and interval are over those that were measured in the arm and
    with documents alone, so that a bar stands beside the bar of the same questions.
    """
    scores = measured_scores(judged)
    base = scores[Arm.DOCUMENTS]
    arms: list[dict[str, Any]] = []
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
                **mean,
                "documents_mean": float(np.mean([base[q] for q in shared])) if shared else None,
            }
        )
    return arms


def comparisons(
    judged: Sequence[Judged], *, seed: int, resamples: int = RESAMPLES
) -> list[dict[str, Any]]:
    """Return the paired difference of two arms over the questions that were measured in both.

    `found` is None where there is no such question. Pairs of which an arm was not run are left out.
    """
    scores = measured_scores(judged)
    arms = {j.case.arm for j in judged}
    pairs = []
    for before, after in COMPARISONS:
        if not {before, after} <= arms:
            continue
        shared, found = scores[before].keys() & scores[after].keys(), None
        if shared:
            values = [{q: scores[arm][q] for q in shared} for arm in (before, after)]
            found = paired_difference(*values, seed=seed, resamples=resamples).figures()
        pairs.append({"before": str(before), "after": str(after), "found": found})
    return pairs


def votes_agreement(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return how far votes agree. An answer that several arms share counts once."""
    units = {
        (j.case.question.id, j.answer): [v.score for v in j.verdict.votes if v.score is not None]
        for j in judged
        if j.verdict is not None
    }
    return agreement(list(units.values()))
