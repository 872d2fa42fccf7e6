"""The section of summary.json on judged traffic, key by key, and what it says in a few lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.types import StateCounts
from argus.measures.discrimination import Discrimination

FAILURE, HITS, NDCG = "failure rate", "hits@k", "nDCG@k"
"""What is estimated. hits@k is one less the failure rate."""
FEW = 20
"""Judged questions below which an estimate is called a first look."""


class TrafficEstimate(TypedDict):
    """A mean over all that was asked.

    measure: failure rate, hits@k or nDCG@k.
    mean: mean over all that was asked.
    judged: questions that were judged.
    questions: questions that it stands for.
    tuning: what predictions counted for, from 0 to 1.
    effective: random judgements that would tell as much; None where all are judged.
    """

    measure: str
    mean: float
    low: float
    high: float
    judged: int
    questions: int
    tuning: float
    effective: float | None


class StratumFigures(TypedDict):
    """Questions of like predicted risk.

    risk_low: least risk in it; None without predictions.
    risk_high: greatest risk in it; None without predictions.
    risk_mean: mean risk in it.
    always: whether all of its questions are judged.
    questions: questions in it.
    asked: how often they were asked.
    drawn: questions that are to be judged.
    judged: of these, questions with a grade of each document.
    failed_share: share of the judged ones that failed; None without any.
    """

    risk_low: float | None
    risk_high: float | None
    risk_mean: NotRequired[float | None]
    always: bool
    questions: int
    asked: int
    drawn: int
    judged: int
    failed_share: float | None


class GradeAgreement(TypedDict):
    """How far several grades of one document agree, by relevant or not.

    documents: documents with several grades.
    equal: share of these whose grades agree.
    alpha: Krippendorff's alpha; None where it is not defined.
    """

    documents: int
    equal: float | None
    alpha: float | None


class Predictor(TypedDict):
    """Whose predictions strata and estimates are made of.

    source: whose predictions these are; empty for nobody's.
    questions: questions that have one.
    auc: area under the ROC curve on other collections; None where not known.
    low, high: its 95% interval; None where not known.
    notes: what a reader should know.
    here: how well it tells failures of the judged questions; None where fewer than five failed, or
    did not.
    """

    source: str
    questions: int
    auc: float | None
    low: float | None
    high: float | None
    notes: list[str]
    here: NotRequired[Discrimination | None]


class JudgingSummary(TypedDict):
    """Judged traffic.

    questions: questions whose results are known.
    asked: how often they were asked.
    unknown: questions of which it is not known what came back.
    nothing_served: questions for which nothing came back.
    budget: questions to judge.
    relevant_from: least grade that is relevant.
    documents: documents to grade.
    graded: pairs of question and document that have a grade.
    judge: who judges: people, a model, or both with the number of documents.
    judges: documents that each of them graded.
    judged: drawn questions by state.
    skipped: questions drawn before the last judged one of their stratum, and not judged.
    strata: questions by predicted risk.
    estimates: figures over all that was asked.
    table: file that is filled in.
    notes: what a reader should know of how questions were drawn.
    """

    questions: int
    asked: int
    unknown: int
    nothing_served: int
    predictor: Predictor
    budget: int
    k: int
    relevant_from: int
    documents: int
    graded: int
    judge: str
    judges: NotRequired[dict[str, int]]
    judged: StateCounts
    skipped: int
    strata: list[StratumFigures]
    estimates: list[TrafficEstimate]
    agreement: GradeAgreement
    table: str
    notes: NotRequired[list[str]]


def headline(summary: JudgingSummary) -> Iterator[str]:
    """Yield what was drawn or estimated, what that means, and what to do next."""
    judged = summary["judged"]["measured"]
    yield (
        f"{summary['judged']['total']:,} of {summary['questions']:,} questions drawn, "
        f"{judged:,} judged by {summary['judge']} ({summary['graded']:,} of "
        f"{summary['documents']:,} documents graded)"
    )
    yield from summary.get("notes", [])
    if summary["unknown"]:
        yield f"not in any figure: {summary['unknown']:,} questions with unknown results"
    yield from _predictor(summary["predictor"], summary["questions"])
    for why, n in summary["judged"]["reasons"].items():
        yield f"not judged: {n:,}, {why}"
    for estimate in summary["estimates"]:
        yield _said(estimate, summary["k"])
    yield from _meaning(summary)


def _predictor(predictor: Predictor, questions: int) -> Iterator[str]:
    if not predictor["source"]:
        yield "risk: not predicted, so questions were drawn alike"
        return
    worth = "its worth on other collections is not known"
    if predictor["auc"] is not None:
        worth = (
            f"AUC {predictor['auc']:.2f} ({predictor['low']:.2f} to {predictor['high']:.2f}) on "
            "other collections"
        )
    yield (
        f"risk: {predictor['source']}, of {predictor['questions']:,} of {questions:,} questions; "
        f"{worth}"
    )
    if here := predictor.get("here"):
        yield (
            f"that risk, measured here: AUC {here['auc']:.2f} ({here['low']:.2f} to "
            f"{here['high']:.2f}) for the failure of {here['n']:,} judged questions"
        )
    yield from predictor["notes"]


def _said(estimate: TrafficEstimate, k: int) -> str:
    name = estimate["measure"].replace("@k", f"@{k}")
    if estimate["effective"] is None:
        return f"{name}: {estimate['mean']:.1%}, all {estimate['questions']:,} questions judged"
    return (
        f"{name}: {estimate['mean']:.1%} (95% {estimate['low']:.1%} to {estimate['high']:.1%}), "
        f"from {estimate['judged']:,} of {estimate['questions']:,} questions"
    )


def _meaning(summary: JudgingSummary) -> Iterator[str]:
    judged = summary["judged"]["measured"]
    if summary["skipped"]:
        yield (
            f"{summary['skipped']:,} drawn questions were passed over: the interval holds only if "
            "they are like the others of their risk. Grade them first."
        )
    if not summary["estimates"]:
        yield (
            f"Next: grade each row of {summary['table']} from 0 to 3 (from "
            f"{summary['relevant_from']} on it counts as relevant), then run the same command."
        )
        return
    failure = summary["estimates"][0]
    if failure["effective"] is None:
        yield "Nothing is left to judge: these are counts, not estimates."
        return
    yield (
        "The interval is valid whatever predictions are worth; it is as narrow as that of "
        f"{failure['effective']:,.0f} judgements drawn at random from an endless log."
    )
    more = _for_half(judged, failure["questions"])
    first = "A first look. " if judged < FEW else ""
    yield f"{first}For an interval half as wide judge about {more:,}: --budget {more}."


def _for_half(judged: int, questions: int) -> int:
    """Return how many judgements halve a width: it goes with the root of 1/n - 1/N."""
    return math.ceil(1 / ((1 / judged - 1 / questions) / 4 + 1 / questions))


def finite(value: float) -> float | None:
    """Return a number, or None for one that is not finite."""
    return value if math.isfinite(value) else None
