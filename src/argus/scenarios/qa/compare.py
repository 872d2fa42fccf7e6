"""Every question in every arm: context, answer and judgement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from argus.data.types import State
from argus.llm import LanguageModel, Outcome, Prompt
from argus.llm import State as PromptState
from argus.llm.structured import without_thoughts
from argus.scenarios.qa.judge import (
    Failure,
    Verdict,
    combine,
    failure_of,
    vote_of,
    why_no_answer,
)
from argus.scenarios.qa.prompts import answer_prompt, judge_prompt


class Arm(StrEnum):
    """Contents of the context of the answering model (SPIKE Table 5)."""

    DOCUMENTS = "documents"
    """Documents, ranked by themselves."""
    FUSED = "fused"
    """Documents, ranked with their scenarios, which are not shown."""
    FUSED_SCENARIOS = "fused + scenarios"
    """The same documents, each with the scenario that matched."""
    ORACLE = "oracle"
    """All relevant documents."""
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
    return [answer_prompt(c.question.text, c.context) for c in cases if _can_be_asked(c)]


def answer_cases(cases: Sequence[Case], model: LanguageModel) -> list[Answered]:
    """Ask the answering model (SPIKE Table 10). Arms with equal contexts share one answer.

    Raises LanguageModelError as the model does. Answers so far are in its ledger.
    """
    outcomes = model.complete(answer_prompts(cases))
    return [_answered(c, next(outcomes)) if _can_be_asked(c) else Answered(c) for c in cases]


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
    return [_judged(a, outcomes, votes) for a in answered]


def measured_scores(judged: Sequence[Judged]) -> Mapping[Arm, dict[str, float]]:
    """Return arm -> question id -> score, where measured."""
    scores: dict[Arm, dict[str, float]] = {arm: {} for arm in Arm}
    for j in judged:
        if j.score is not None:
            scores[j.case.arm][j.case.question.id] = j.score
    return scores


def _can_be_asked(case: Case) -> bool:
    return case.state is State.MEASURED


def _answered(case: Case, outcome: Outcome[str]) -> Answered:
    if outcome.state is not PromptState.OK or outcome.value is None:
        return Answered(case, "", failure_of(outcome), why_no_answer(outcome))
    answer = without_thoughts(outcome.value)
    if not answer:
        return Answered(case, "", Failure.NOT_ANSWERED, "the answer holds thoughts alone")
    return Answered(case, answer)


def _judged(answered: Answered, outcomes: Iterator[Outcome[str]], votes: int) -> Judged:
    case = answered.case
    if not _can_be_asked(case):
        stage = "retrieval" if case.state is State.FAILED else ""
        return Judged(case, case.state, stage=stage, reason=case.reason)
    if not answered.answer:
        reason, failure = answered.reason, answered.failure
        return Judged(case, State.FAILED, stage="answer", failure=failure, reason=reason)
    verdict = combine([vote_of(next(outcomes)) for _ in range(votes)])
    return Judged(
        case,
        verdict.state,
        verdict.score,
        answered.answer,
        verdict,
        stage="judgement" if verdict.state is State.FAILED else "",
        failure=verdict.failure,
        reason=verdict.reason,
    )
