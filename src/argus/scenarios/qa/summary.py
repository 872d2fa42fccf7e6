"""The section of summary.json on answers, key by key. Scores are from 0 to 100."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from typing_extensions import TypedDict

from argus.jobs.recorded_model import Answers
from argus.measures.significance import DifferenceFigures

MEASURE: Final = "nDCG@10"
"""Measure of the rankings, where there are judgements."""

QuestionCounts = TypedDict(
    "QuestionCounts",
    {
        "total": int,
        "asked": int,
        "not applicable": int,
        "not drawn": int,
        "reasons": dict[str, int],
        "answers_without_query": int,
    },
)
"""Questions by outcome.

total: questions that were read.
asked: questions that were asked.
not applicable: questions that cannot be compared.
not drawn: questions beyond the sample.
reasons: why they are not applicable, to how many.
answers_without_query: reference answers of no question.
"""

CaseStates = TypedDict("CaseStates", {"measured": int, "failed": int, "not applicable": int})
"""Questions in one arm, by state."""


class MeanScore(TypedDict):
    """Mean score with its 95% interval. None where there is no question, or no interval.

    questions: questions that it is over.
    mean: mean score, from 0 to 100. None without a question.
    """

    questions: int
    mean: float | None
    low: float | None
    high: float | None
    no_interval: str


class ArmScores(MeanScore):
    """Questions in one arm, by outcome.

    arm: source of the answers.
    failed_at: failed questions by stage.
    failures: failed questions by kind of failure.
    reasons: the same by reason, the 20 most frequent.
    documents_cut: documents that were shown in part, over all questions.
    documents_left_out: documents that found no room, over all questions.
    documents_mean: mean score of documents alone on the same questions.
    """

    arm: str
    states: CaseStates
    failed_at: dict[str, int]
    failures: dict[str, int]
    reasons: dict[str, int]
    documents_cut: int
    documents_left_out: int
    documents_mean: float | None


RankingMean = TypedDict("RankingMean", {"nDCG@10": float | None})
"""MEASURE over questions, from 0 to 1. None where nothing is ranked or judged.

nDCG@10: nDCG@10 of the arm's ranking, 0 to 1. None where nothing is ranked or judged.
"""


class ArmSummary(ArmScores, RankingMean):
    """One arm."""


class ArmComparison(TypedDict):
    """Two arms on the questions that were measured in both. `found` is None without any.

    before, after: name of the arm.
    found: paired difference of the scores. None without a question measured in both.
    """

    before: str
    after: str
    found: DifferenceFigures | None


RankingDifference = DifferenceFigures
"""The fused ranking against that of documents alone, by `measure`, which is from 0 to 1."""


class VotesAgreement(TypedDict):
    """How far votes on the same answers agree. See `agreement.Agreement`.

    answers: answers with more than one vote.
    votes: votes on them.
    mean_difference: mean difference of two votes on one answer. None without.
    alpha: Krippendorff's alpha of the votes. None where it is not defined.
    no_alpha: why it is not defined. Empty where it is.
    """

    answers: int
    votes: int
    mean_difference: float | None
    alpha: float | None
    no_alpha: str


class StageUsage(Answers):
    """One stage, and the model that was asked in it. Tokens are those of the stage alone.

    model: model that was asked in this stage.
    """

    model: str


class QASummary(TypedDict):
    """The comparison of answers.

    scenarios: scenarios in the index.
    reasoned: who reformulated the questions. Empty for nobody.
    votes: votes on an answer.
    weight: weight λ of documents against scenarios.
    max_chars: most characters of a context.
    comparisons: arms, two by two.
    retrieval: fused ranking against that of documents alone. None without judgements.
    gold: relevant documents that the index lacks. None without judgements.
    language_model: model and use, by stage.
    unanswered: prompts without an answer.
    notes: caveats for the reader.
    """

    index: str
    scenarios: int
    reasoned: str
    votes: int
    k: int
    weight: float
    max_chars: int
    questions: QuestionCounts
    arms: list[ArmSummary]
    comparisons: list[ArmComparison]
    retrieval: RankingDifference | None
    gold: dict[str, Any] | None
    agreement: VotesAgreement
    language_model: dict[str, StageUsage]
    unanswered: int
    notes: list[str]


class QAEstimate(TypedDict):
    """Prompts and cost of a comparison, by stage and in all.

    stages: figures by stage.
    exact: whether all that is asked is known already.
    """

    stages: dict[str, dict[str, Any]]
    total: dict[str, Any]
    exact: bool


def headline(summary: QASummary) -> Iterator[str]:
    """Yield the mean score of every arm, the differences, and their doubts."""
    counts = summary["questions"]
    yield (
        f"questions: {counts['asked']:,} asked, {counts['not drawn']:,} not drawn, "
        f"{counts['not applicable']:,} not applicable"
    )
    for reason, n in counts["reasons"].items():
        yield f"  {n:,}: {reason}"
    for arm in summary["arms"]:
        yield _arm(arm)
    for comparison in summary["comparisons"]:
        if (change := comparison["found"]) is not None:
            yield f"{comparison['before']} → {comparison['after']}: {_change(change)}"
    agreement = summary["agreement"]
    if agreement["mean_difference"] is not None:
        alpha = "none" if agreement["alpha"] is None else f"{agreement['alpha']:.3f}"
        yield (
            f"votes on one answer differ by {agreement['mean_difference']:.1f} on average "
            f"(Krippendorff's alpha {alpha}, {agreement['answers']:,} answers)"
        )
    for note in summary["notes"]:
        yield f"note: {note}"


def _arm(arm: ArmSummary) -> str:
    states = arm["states"]
    failed = "".join(f", {n:,} {kind}" for kind, n in arm["failures"].items())
    counts = f"{states['measured']:,} measured, {states['failed']:,} failed{failed}"
    if states["not applicable"]:
        counts += f", {states['not applicable']:,} not applicable"
    if arm["mean"] is None:
        return f"{arm['arm']}: no score ({counts})"
    interval = (
        f"no interval: {arm['no_interval']}"
        if arm["low"] is None
        else f"95% {arm['low']:.1f} to {arm['high']:.1f}"
    )
    ranked = "" if arm["nDCG@10"] is None else f", nDCG@10 {arm['nDCG@10']:.3f}"
    return f"{arm['arm']}: {arm['mean']:.1f} ({interval}; {counts}{ranked})"


def _change(change: DifferenceFigures) -> str:
    interval = (
        f"no interval: {change['no_interval']}"
        if change["low"] is None
        else f"95% {change['low']:+.1f} to {change['high']:+.1f}"
    )
    return (
        f"{change['mean_difference']:+.1f} "
        f"({interval}, p={change['p_value']:.3g}, {change['queries']:,} questions: "
        f"{change['improved']:,} better, {change['harmed']:,} worse, "
        f"{change['unchanged']:,} the same)"
    )


def estimate_lines(estimate: QAEstimate) -> Iterator[str]:
    """Yield prompts and greatest cost of each stage."""
    for stage, e in [*estimate["stages"].items(), ("total", estimate["total"])]:
        cost = (
            "" if e["cost"] is None else f"; about {e['cost']:.2f}, at most {e['cost_at_most']:.2f}"
        )
        yield (
            f"{stage}: {e['to_ask']:,} of {e['prompts']:,} prompts would be asked ({e['cached']:,} "
            f"are in the ledger, {e['repeated']:,} equal others): {e['tokens_in']:,} tokens in, at "
            f"most {e['tokens_out_at_most']:,} out{cost}"
        )
    if not estimate["exact"]:
        yield "judging is counted as if every answer that is missing had its greatest length"
