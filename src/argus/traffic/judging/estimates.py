"""Turn grades into rates over all that was asked, and describe them: summary, lines, table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NotRequired

import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.types import State, StateCounts
from argus.measures.intervals import discrimination, wilson
from argus.measures.rater_agreement import nominal_alpha
from argus.reports.section import Section, table
from argus.traffic.config import JudgingConfig
from argus.traffic.judging.grading import Judged, one_grade
from argus.traffic.judging.sample import JudgedOrder, Sample, ServedQuestion
from argus.traffic.judging.table import ToGrade
from argus.traffic.risk import calibrate_risk

FAILURE, HITS, NDCG = "failure rate", "hits@k", "nDCG@k"
"""What is estimated. hits@k is one less the failure rate."""
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

asks: how often it was asked.
served: how many documents came back.
risk: its own prediction, or its place by risk, 1 for the likeliest to fail: an order.
probability: of failure, made of risk and 30 judgements or more; null before.
drawn: whether it is to be judged.
failure: 1 where nothing relevant came, else 0; null where not judged.
ndcg: nDCG of what came, from 0 to 1.
"""


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


@dataclass(frozen=True, slots=True)
class QuestionVerdict:
    """What a judged question comes to. ndcg: of the documents that were served."""

    failure: float
    ndcg: float


def verdict(grades: Sequence[int], relevant_from: int) -> QuestionVerdict:
    """Return what the grades of served documents, best ranked first, come to.

    The question fails where no grade reaches `relevant_from`. nDCG has the grade as gain, and as
    ideal the same documents in their best order: of relevant ones that were not served it knows
    nothing. Nothing served is a failure.
    """
    gains = [grade if grade >= relevant_from else 0 for grade in grades]
    best = _dcg(sorted(gains, reverse=True))
    return QuestionVerdict(float(not any(gains)), _dcg(gains) / best if best else 0.0)


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def estimate_failures(
    questions: Sequence[ServedQuestion],
    sample: Sample,
    verdicts: Mapping[str, QuestionVerdict],
) -> list[TrafficEstimate]:
    """Return failure rate, hits@k and nDCG@k over all that was asked, with 95% intervals.

    The mean over the drawn asks of judged questions, with Wilson's interval, whose number of asks
    is corrected for a finite log: n(N - 1)/(N - n). questions: all of the log; one to which nothing
    was served failed, and needs no judge. verdicts: of judged ones. No verdict, no estimate.
    """
    own = [verdicts[id_] for id_ in sample.judged_asks(verdicts)]
    if not own:
        return []
    asks = sum(q.times for q in questions)
    served = sum(q.times for q in questions if q.documents)
    failure = sum(one.failure for one in own) / len(own)
    ndcg = sum(one.ndcg for one in own) / len(own)
    rows = []
    for measure, mean, otherwise in (
        (FAILURE, failure, 1.0), (HITS, 1 - failure, 0.0), (NDCG, ndcg, 0.0),
    ):  # fmt: skip
        ends = _interval(mean, len(own), served)
        mean, low, high = (
            (served * end + (asks - served) * otherwise) / asks for end in (mean, *ends)
        )
        row: TrafficEstimate = {
            "measure": measure, "mean": mean, "low": low, "high": high, "judged": len(verdicts),
            "questions": len(questions), "is_count": len(own) == served,
        }  # fmt: skip
        rows.append(row)
    return rows


def _interval(mean: float, n: int, population: int) -> tuple[float, float]:
    if n == population:
        return mean, mean
    low, high = wilson(mean, n * (population - 1) / (population - n))
    return float(low), float(high)


@dataclass(frozen=True)
class Draw:
    """Questions to judge. rows: documents to grade, in the order in which they are shown."""

    questions: Sequence[ServedQuestion]
    sample: Sample
    rows: Sequence[ToGrade]
    notes: Sequence[str] = ()
    """Remarks on how it was drawn."""

    @cached_property
    def by_id(self) -> Mapping[str, ServedQuestion]:
        """The questions by their ids."""
        return {q.id: q for q in self.questions}

    @property
    def drawn(self) -> list[str]:
        """Questions to judge, in their order."""
        return list(dict.fromkeys(row.question_id for row in self.rows))


def judging_summary(
    draw: Draw,
    config: JudgingConfig,
    judged: Judged,
    unknown: int,
    order: JudgedOrder,
    table: Path,
) -> JudgingSummary:
    """Return the section of summary.json; unknown: questions that no figure is of."""
    verdicts, failed = _verdicts(draw, config, judged)
    known = {
        id_: q.risk for q in draw.questions if (id_ := q.id) in verdicts and q.risk is not None
    }
    failing = [verdicts[id_].failure > 0.5 for id_ in known]
    here = discrimination([*known.values()], failing) if known else None
    reasons = Counter(failed.values())
    if waiting := len(draw.drawn) - len(verdicts) - len(failed):
        reasons[NO_GRADE] = waiting
    units = [
        [str(grade >= config.relevant_from) for grade in votes]
        for votes in judged.grades.values()
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
        "graded": len(judged.grades),
        "judge": judged.judge,
        "judges": dict(judged.judges),
        "judged": {
            "total": len(draw.drawn),
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
    draw: Draw, config: JudgingConfig, judged: Judged
) -> tuple[dict[str, QuestionVerdict], dict[str, str]]:
    """Return the verdict of each question all of whose documents are graded, and why not else."""
    verdicts: dict[str, QuestionVerdict] = {}
    failed: dict[str, str] = {}
    for id_ in draw.drawn:
        pairs = [(id_, doc) for doc in draw.by_id[id_].documents[: config.k]]
        why = next((judged.failed[pair] for pair in pairs if pair in judged.failed), None)
        if all(pair in judged.grades for pair in pairs):
            grades = [one_grade(judged.grades[pair]) for pair in pairs]
            verdicts[id_] = verdict(grades, config.relevant_from)
        elif why is not None:
            failed[id_] = why
    return verdicts, failed


def judging_table(draw: Draw, config: JudgingConfig, judged: Judged) -> pa.Table:
    """Return a table of JUDGING."""
    verdicts, _ = _verdicts(draw, config, judged)
    drawn = set(draw.drawn)
    risk = {q.id: q.risk for q in draw.questions if q.risk is not None}
    failures = {id_: one.failure for id_, one in verdicts.items()}
    probability = calibrate_risk(risk, failures) or {}
    rows = [
        {
            "query_id": q.id, "asks": q.times, "served": len(q.documents), "risk": q.risk,
            "probability": probability.get(q.id), "drawn": q.id in drawn,
            "state": (
                State.MEASURED if q.id in verdicts
                else State.FAILED if q.id in drawn else State.NOT_APPLICABLE
            ).value,
            "failure": failures.get(q.id),
            "ndcg": verdicts[q.id].ndcg if q.id in verdicts else None,
        }
        for q in draw.questions
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=JUDGING)


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
    for one in summary["estimates"]:
        name = one["measure"].replace("@k", f"@{summary['k']}")
        all_judged = f"{name}: {one['mean']:.1%}, all {one['questions']:,} questions judged"
        yield (
            all_judged
            if one["is_count"]
            else (
                f"{name}: {one['mean']:.1%} (95% {one['low']:.1%} to {one['high']:.1%}), "
                f"from {one['judged']:,} of {one['questions']:,} questions"
            )
        )
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
