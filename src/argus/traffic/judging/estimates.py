"""Estimate rates over all asks of a log from grades, and describe them: summary, lines, table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import NotRequired

import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.types import State, StateCounts
from argus.measures.intervals import discrimination, wilson
from argus.measures.rater_agreement import nominal_alpha
from argus.reports.section import Section, table
from argus.traffic.config import JudgingConfig
from argus.traffic.judging.sample import JudgedOrder, Sample, ServedQuestion
from argus.traffic.judging.table import Pair, ToGrade
from argus.traffic.risk import calibrate_risk

FAILURE, HITS, NDCG = "failure rate", "hits@k", "nDCG@k"
"""Estimated measures. hits@k is 1 less the failure rate."""
FEW = 20
"""Judged questions below which an estimate is called a first look."""
NO_GRADE = "a document of it has no grade"
JUDGING = pa.schema(
    [
        ("query_id", pa.string()), ("asks", pa.int64()), ("served", pa.int64()),
        ("risk", pa.float64()), ("probability", pa.float64()), ("drawn", pa.bool_()),
        ("state", pa.string()), ("failure", pa.float64()), ("ndcg", pa.float64()),
    ]
)  # fmt: skip
"""One row per question whose results are known, drawn or not.

asks: number of asks.
served: number of documents that came back.
risk: its own prediction, or its place by risk, 1 for the likeliest to fail: an order.
probability: of failure, from risk and 30 judgements or more. Null before.
drawn: whether it is to be judged.
failure: 1 where nothing relevant came, else 0. Null where not judged.
ndcg: nDCG of the served documents, from 0 to 1.
"""


class TrafficEstimate(TypedDict):
    """A mean over all asks.

    measure: failure rate, hits@k or nDCG@k.
    mean: mean over all asks.
    judged: questions that were judged.
    questions: questions of the log.
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
    alpha: Krippendorff's alpha. None where it is not defined.
    """

    documents: int
    equal: float | None
    alpha: float | None


class JudgingSummary(TypedDict):
    """Judged traffic.

    questions: questions whose results are known.
    asked: number of asks.
    unknown: questions whose results nobody knows.
    nothing_served: questions for which nothing came back.
    budget: questions to judge.
    relevant_from: least grade that is relevant.
    documents: documents to grade.
    graded: pairs of question and document that have a grade.
    judge: people, a model, or both with the number of documents.
    judges: documents that each of them graded.
    judged: drawn questions by state.
    skipped: questions drawn before the last judged one, and not judged.
    estimates: figures over all asks.
    table: file that is filled in.
    notes: remarks on how questions were drawn.
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


@dataclass(frozen=True, slots=True)
class QuestionVerdict:
    """Failure (1 or 0) and nDCG of a judged question, over its served documents."""

    failure: float
    ndcg: float


def verdict(grades: Sequence[int], relevant_from: int) -> QuestionVerdict:
    """Judge a question by the grades of its served documents, best ranked first.

    It fails where no grade reaches `relevant_from`, and where nothing was served. The gain of nDCG
    is the grade. Its ideal is the same documents in their best order: it knows nothing of relevant
    documents that were not served.
    """

    def dcg(gains: Sequence[int]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    gains = [grade if grade >= relevant_from else 0 for grade in grades]
    best = dcg(sorted(gains, reverse=True))
    return QuestionVerdict(float(not any(gains)), dcg(gains) / best if best else 0.0)


def estimate_failures(
    questions: Sequence[ServedQuestion], sample: Sample, verdicts: Mapping[str, QuestionVerdict]
) -> list[TrafficEstimate]:
    """Return failure rate, hits@k and nDCG@k over all asks, with 95% intervals.

    The mean over the drawn asks of judged questions, with Wilson's interval. Its number of asks is
    corrected for a finite log: n(N - 1)/(N - n). questions: all of the log. One that was served
    nothing failed, without a judge. verdicts: of judged ones. Without any there is no estimate.
    """
    own = [verdicts[id_] for id_ in sample.judged_asks(verdicts)]
    if not own:
        return []
    n, asks = len(own), sum(q.times for q in questions)
    served = sum(q.times for q in questions if q.documents)
    failure, ndcg = sum(one.failure for one in own) / n, sum(one.ndcg for one in own) / n
    rows = []
    for measure, mean, unserved in ((FAILURE, failure, 1), (HITS, 1 - failure, 0), (NDCG, ndcg, 0)):
        ends: tuple[float, ...] = (mean, mean)
        if n != served:
            ends = tuple(map(float, wilson(mean, n * (served - 1) / (served - n))))
        mean, low, high = (
            (served * end + (asks - served) * unserved) / asks for end in (mean, *ends)
        )
        row: TrafficEstimate = {
            "measure": measure,
            "mean": mean,
            "low": low,
            "high": high,
            "judged": len(verdicts),
            "questions": len(questions),
            "is_count": n == served,
        }
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Draw:
    """Questions to judge. rows: documents to grade, in display order. notes: on the draw."""

    questions: Sequence[ServedQuestion]
    sample: Sample
    rows: Sequence[ToGrade]
    notes: Sequence[str] = ()

    @property
    def drawn(self) -> list[str]:
        """Questions to judge, in their order."""
        return list(dict.fromkeys(row.question_id for row in self.rows))


@dataclass(frozen=True)
class Grades:
    """All grades of each document.

    judges: the number of documents that each judge graded. judge: these in words. failed: why a
    model gave no grade.
    """

    of: Mapping[Pair, tuple[int, ...]]
    judges: Mapping[str, int]
    judge: str
    failed: Mapping[Pair, str]


def judging_summary(
    draw: Draw, config: JudgingConfig, grades: Grades, unknown: int, order: JudgedOrder, table: Path
) -> JudgingSummary:
    """Return the section of summary.json. unknown: questions whose results nobody knows."""
    verdicts, failed = _verdicts(draw, config, grades)
    known = {q.id: q.risk for q in draw.questions if q.id in verdicts and q.risk is not None}
    failing = [verdicts[id_].failure > 0.5 for id_ in known]
    here = discrimination([*known.values()], failing) if known else None
    reasons, drawn = Counter(failed.values()), draw.drawn
    if waiting := len(drawn) - len(verdicts) - len(failed):
        reasons[NO_GRADE] = waiting
    units = [
        [str(grade >= config.relevant_from) for grade in votes]
        for votes in grades.of.values()
        if len(votes) > 1
    ]
    equal = sum(len(set(unit)) == 1 for unit in units) / len(units) if units else None
    return {
        "questions": len(draw.questions),
        "asked": sum(q.times for q in draw.questions),
        "unknown": unknown,
        "nothing_served": sum(not q.documents for q in draw.questions),
        "risk": {**order, "here": here},
        "budget": config.budget,
        "k": config.k,
        "relevant_from": config.relevant_from,
        "documents": len(draw.rows),
        "graded": len(grades.of),
        "judge": grades.judge,
        "judges": dict(grades.judges),
        "judged": {
            "total": len(drawn),
            "measured": len(verdicts),
            "failed": len(failed),
            "not applicable": waiting,
            "reasons": dict(reasons),
        },
        "skipped": draw.sample.skipped(verdicts),
        "estimates": estimate_failures(draw.questions, draw.sample, verdicts),
        "agreement": {"documents": len(units), "equal": equal, "alpha": nominal_alpha(units)},
        "table": str(table),
        "notes": list(draw.notes),
    }


def _verdicts(
    draw: Draw, config: JudgingConfig, grades: Grades
) -> tuple[dict[str, QuestionVerdict], dict[str, str]]:
    """Return verdicts of questions whose documents are all graded, and why others failed."""
    verdicts: dict[str, QuestionVerdict] = {}
    failed: dict[str, str] = {}
    by_id = {q.id: q for q in draw.questions}
    for id_ in draw.drawn:
        pairs = [(id_, doc) for doc in by_id[id_].documents[: config.k]]
        why = next((grades.failed[pair] for pair in pairs if pair in grades.failed), None)
        if all(pair in grades.of for pair in pairs):
            medians = [median_low(grades.of[pair]) for pair in pairs]
            verdicts[id_] = verdict(medians, config.relevant_from)
        elif why is not None:
            failed[id_] = why
    return verdicts, failed


def judging_table(draw: Draw, config: JudgingConfig, grades: Grades) -> pa.Table:
    """Return a table of JUDGING."""
    verdicts, _ = _verdicts(draw, config, grades)
    drawn = set(draw.drawn)
    risk = {q.id: q.risk for q in draw.questions if q.risk is not None}
    failures = {id_: one.failure for id_, one in verdicts.items()}
    probability = calibrate_risk(risk, failures) or {}

    def row(q: ServedQuestion) -> dict[str, object]:
        state = State.FAILED if q.id in drawn else State.NOT_APPLICABLE
        return {
            "query_id": q.id,
            "asks": q.times,
            "served": len(q.documents),
            "risk": q.risk,
            "probability": probability.get(q.id),
            "drawn": q.id in drawn,
            "state": (State.MEASURED if q.id in verdicts else state).value,
            "failure": failures.get(q.id),
            "ndcg": verdicts[q.id].ndcg if q.id in verdicts else None,
        }

    return pa.Table.from_pylist([row(q) for q in draw.questions], schema=JUDGING)


def headline(summary: JudgingSummary) -> Iterator[str]:
    """Yield the draw, the estimates, and the next step."""
    judged = summary["judged"]["measured"]
    yield (
        f"{summary['judged']['total']:,} of {summary['questions']:,} questions drawn, "
        f"{judged:,} judged by {summary['judge']} ({summary['graded']:,} of "
        f"{summary['documents']:,} documents graded)"
    )
    yield from summary.get("notes", [])
    if summary["unknown"]:
        yield f"not in any figure: {summary['unknown']:,} questions with unknown results"
    order = summary["risk"]
    flagged = "".join(f"; flagged: {n:,}, {why}" for why, n in order["flagged"].items())
    whose = "by the log's own predictions" if order["is_own"] else "by risk, which tells no rate"
    yield f"{order['ranked']:,} questions are ordered {whose}{flagged}"
    if here := order.get("here"):
        yield (
            f"that order, measured here: AUC {here['auc']:.2f} ({here['low']:.2f} to "
            f"{here['high']:.2f}) for the failure of {here['n']:,} judged questions"
        )
    for why, n in summary["judged"]["reasons"].items():
        yield f"not judged: {n:,}, {why}"
    for one in summary["estimates"]:
        name = one["measure"].replace("@k", f"@{summary['k']}")
        text = f"{name}: {one['mean']:.1%}"
        if one["is_count"]:
            yield f"{text}, all {one['questions']:,} questions judged"
        else:
            yield (
                f"{text} (95% {one['low']:.1%} to {one['high']:.1%}), from {one['judged']:,} of "
                f"{one['questions']:,} questions"
            )
    yield from _next(summary)


def _next(summary: JudgingSummary) -> Iterator[str]:
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
    n = failure["questions"]  # a width goes with the root of 1/judged - 1/n
    more = math.ceil(1 / ((1 / judged - 1 / n) / 4 + 1 / n))
    first = "A first look. " if judged < FEW else ""
    yield f"{first}For an interval half as wide judge about {more:,}: --budget {more}."


def section(folder: Path, summary: JudgingSummary) -> Section:
    """Build the report's section from summary.json alone."""
    brief = "no question is judged yet"
    if summary["estimates"]:
        failure = summary["estimates"][0]
        brief = (
            f"{failure['mean']:.1%} of what is asked fails "
            f"({failure['low']:.1%} to {failure['high']:.1%})"
        )
    rows: list[list[object]] = [
        [
            one["measure"].replace("@k", f"@{summary['k']}"), one["mean"],
            f"{one['low']:.3f} to {one['high']:.3f}", one["judged"], one["questions"],
        ]
        for one in summary["estimates"]
    ]  # fmt: skip
    columns = {
        "measure": "text", "mean": "share", "95% interval": "text", "judged": "count",
        "questions": "count",
    }  # fmt: skip
    return Section({}, {"judging_estimates": table(columns, rows)}, brief)
