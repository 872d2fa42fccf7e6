"""The section of summary.json on judged traffic, key by key, and what it says in a few lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.types import StateCounts
from argus.measures.intervals import Discrimination

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
    is_count: whether all are judged: a count, without an interval.
    """

    measure: str
    mean: float
    low: float
    high: float
    judged: int
    questions: int
    is_count: bool


class GradeAgreement(TypedDict):
    """How far several grades of one document agree, by relevant or not.

    documents: documents with several grades.
    equal: share of these whose grades agree.
    alpha: Krippendorff's alpha; None where it is not defined.
    """

    documents: int
    equal: float | None
    alpha: float | None


class JudgedOrder(TypedDict):
    """The order of questions by risk.

    is_own: whether it is of the log's own predictions.
    ranked: questions in it.
    flagged: why questions are to be looked at whatever their rank, to how many.
    here: how well it tells failures of the judged questions; None where fewer than five failed, or
    did not.
    """

    is_own: bool
    ranked: int
    flagged: dict[str, int]
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
    skipped: questions drawn before the last judged one, and not judged.
    estimates: figures over all that was asked.
    table: file that is filled in.
    notes: what a reader should know of how questions were drawn.
    """

    questions: int
    asked: int
    unknown: int
    nothing_served: int
    risk: JudgedOrder
    budget: int
    k: int
    relevant_from: int
    documents: int
    graded: int
    judge: str
    judges: NotRequired[dict[str, int]]
    judged: StateCounts
    skipped: int
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
    yield from _order(summary["risk"])
    for why, n in summary["judged"]["reasons"].items():
        yield f"not judged: {n:,}, {why}"
    for estimate in summary["estimates"]:
        yield _said(estimate, summary["k"])
    yield from _meaning(summary)


def _order(order: JudgedOrder) -> Iterator[str]:
    flagged = "".join(f"; flagged: {n:,}, {why}" for why, n in order["flagged"].items())
    whose = "by the log's own predictions" if order["is_own"] else "by risk, which tells no rate"
    yield f"{order['ranked']:,} questions are ordered {whose}{flagged}"
    if here := order.get("here"):
        yield (
            f"that order, measured here: AUC {here['auc']:.2f} ({here['low']:.2f} to "
            f"{here['high']:.2f}) for the failure of {here['n']:,} judged questions"
        )


def _said(estimate: TrafficEstimate, k: int) -> str:
    name = estimate["measure"].replace("@k", f"@{k}")
    if estimate["is_count"]:
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
            "they are like the others. Grade them first."
        )
    if not summary["estimates"]:
        yield (
            f"Next: grade each row of {summary['table']} from 0 to 3 (from "
            f"{summary['relevant_from']} on it counts as relevant), then run the same command."
        )
        return
    failure = summary["estimates"][0]
    if failure["is_count"]:
        yield "Nothing is left to judge: these are counts, not estimates."
        return
    more = _for_half(judged, failure["questions"])
    first = "A first look. " if judged < FEW else ""
    yield f"{first}For an interval half as wide judge about {more:,}: --budget {more}."


def _for_half(judged: int, questions: int) -> int:
    """Return how many judgements halve a width: it goes with the root of 1/n - 1/N."""
    return math.ceil(1 / ((1 / judged - 1 / questions) / 4 + 1 / questions))
