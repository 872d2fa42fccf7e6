"""What drawn and judged questions come to: counts, estimates and a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from argus.data.types import State, StateCounts
from argus.measures.intervals import Discrimination, discrimination
from argus.measures.rater_agreement import nominal_alpha
from argus.traffic.judging.asking import one_grade
from argus.traffic.judging.config import JudgingConfig
from argus.traffic.judging.estimates import QuestionVerdict, estimate_failures, verdict
from argus.traffic.judging.judges import Judged
from argus.traffic.judging.questions import ServedQuestion
from argus.traffic.judging.sample import Sample
from argus.traffic.judging.summary import GradeAgreement, JudgedOrder, JudgingSummary
from argus.traffic.judging.table import ToGrade
from argus.traffic.risk import calibrate_risk

NO_GRADE = "a document of it has no grade"
Verdicts = Mapping[str, QuestionVerdict]


@dataclass(frozen=True)
class Draw:
    """What is to be judged. rows: documents to grade, in the order in which they are shown."""

    questions: Sequence[ServedQuestion]
    sample: Sample
    rows: Sequence[ToGrade]
    by_id: Mapping[str, ServedQuestion]
    notes: Sequence[str] = ()
    """What a reader should know of how it was drawn."""

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
    return {
        "questions": len(draw.questions),
        "asked": sum(q.times for q in draw.questions),
        "unknown": unknown,
        "nothing_served": sum(not q.documents for q in draw.questions),
        "risk": {**order, "here": _worth_here(draw, verdicts)},
        "budget": config.budget,
        "k": config.k,
        "relevant_from": config.relevant_from,
        "documents": len(draw.rows),
        "graded": len(judged.grades),
        "judge": judged.judge,
        "judges": dict(judged.judges),
        "judged": _counts(draw, verdicts, failed),
        "skipped": draw.sample.skipped(verdicts),
        "estimates": estimate_failures(draw.questions, draw.sample, verdicts),
        "agreement": _agreement(judged, config.relevant_from),
        "table": str(table),
        "notes": list(draw.notes),
    }


def _worth_here(draw: Draw, verdicts: Verdicts) -> Discrimination | None:
    """Return how well the risk tells judged questions that failed from the others."""
    rows = [
        (risk, one.failure > 0.5)
        for id_, one in verdicts.items()
        if (risk := draw.by_id[id_].risk) is not None
    ]
    return discrimination([r for r, _ in rows], [f for _, f in rows]) if rows else None


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


def _counts(draw: Draw, verdicts: Verdicts, failed: Mapping[str, str]) -> StateCounts:
    total = len(draw.drawn)
    waiting = total - len(verdicts) - len(failed)
    reasons = dict(Counter(failed.values()))
    if waiting:
        reasons[NO_GRADE] = waiting
    return {
        "total": total,
        "measured": len(verdicts),
        "failed": len(failed),
        "not applicable": waiting,
        "reasons": reasons,
    }


def _agreement(judged: Judged, relevant_from: int) -> GradeAgreement:
    units = [
        [str(grade >= relevant_from) for grade in votes]
        for votes in judged.grades.values()
        if len(votes) > 1
    ]
    equal = sum(len(set(unit)) == 1 for unit in units) / len(units) if units else None
    return {"documents": len(units), "equal": equal, "alpha": nominal_alpha(units)}


def judging_table(draw: Draw, config: JudgingConfig, judged: Judged) -> pa.Table:
    """Return one row per question whose results are known, drawn or not.

    asks: how often it was asked.
    served: how many documents came back.
    risk: its own prediction, or its place by risk, 1 for the likeliest to fail: an order.
    probability: of failure, made of risk and 30 judgements or more; null before.
    drawn: whether it is to be judged.
    failure: 1 where nothing relevant came, else 0; null where not judged.
    ndcg: nDCG of what came, from 0 to 1.
    """
    verdicts, _ = _verdicts(draw, config, judged)
    drawn = set(draw.drawn)
    risk = {q.id: q.risk for q in draw.questions if q.risk is not None}
    failures = {id_: one.failure for id_, one in verdicts.items()}
    probability = calibrate_risk(risk, failures) or {}
    columns: dict[str, pa.Array] = {
        "query_id": pa.array([q.id for q in draw.questions], pa.string()),
        "asks": pa.array([q.times for q in draw.questions], pa.int64()),
        "served": pa.array([len(q.documents) for q in draw.questions], pa.int64()),
        "risk": pa.array([q.risk for q in draw.questions], pa.float64()),
        "probability": pa.array([probability.get(q.id) for q in draw.questions], pa.float64()),
        "drawn": pa.array([q.id in drawn for q in draw.questions], pa.bool_()),
        "state": pa.array([_state(q, drawn, verdicts) for q in draw.questions], pa.string()),
        "failure": pa.array([failures.get(q.id) for q in draw.questions], pa.float64()),
        "ndcg": pa.array(
            [verdicts[q.id].ndcg if q.id in verdicts else None for q in draw.questions],
            pa.float64(),
        ),
    }
    return pa.table(columns)


def _state(question: ServedQuestion, drawn: set[str], verdicts: Verdicts) -> str:
    if question.id in verdicts:
        return State.MEASURED.value
    return (State.FAILED if question.id in drawn else State.NOT_APPLICABLE).value
