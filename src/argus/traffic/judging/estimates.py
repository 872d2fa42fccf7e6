"""Estimate rates over all asks of a log from grades, and describe them: summary, lines, table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Any

import pyarrow as pa

from argus.data.types import State
from argus.measures.intervals import discrimination, wilson
from argus.measures.rater_agreement import nominal_alpha
from argus.reports.section import Section, table
from argus.traffic.config import JudgingConfig
from argus.traffic.judging.sample import Sample, ServedQuestion
from argus.traffic.judging.table import Pair, ToGrade
from argus.traffic.risk import calibrate_risk

FAILURE, HITS, NDCG = "failure rate", "hits@k", "nDCG@k"
"""Estimated measures. hits@k is 1 less the failure rate."""
MIN_SURE = 20
"""Judged questions below which an estimate is called a first look."""
NO_GRADE = "a document of it has no grade"
PEOPLE = "people"
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
Verdict = tuple[float, float]
"""Failure (1 or 0) and nDCG of a judged question, over its served documents."""


def verdict(grades: Sequence[int], relevant_from: int) -> Verdict:
    """Judge a question by the grades of its served documents, best ranked first.

    It fails where no grade reaches `relevant_from`, and where nothing was served. The gain of nDCG
    is the grade. Its ideal is the same documents in their best order: it knows nothing of relevant
    documents that were not served.
    """

    def dcg(gains: Sequence[int]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    gains = [grade if grade >= relevant_from else 0 for grade in grades]
    best = dcg(sorted(gains, reverse=True))
    return float(not any(gains)), dcg(gains) / best if best else 0.0


def estimate_failures(
    questions: Sequence[ServedQuestion], sample: Sample, verdicts: Mapping[str, Verdict]
) -> list[dict[str, Any]]:
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
    failure, ndcg = (sum(column) / n for column in zip(*own, strict=True))
    rows = []
    for measure, mean, unserved in ((FAILURE, failure, 1), (HITS, 1 - failure, 0), (NDCG, ndcg, 0)):
        ends: tuple[float, ...] = (mean, mean)
        if n != served:
            ends = tuple(map(float, wilson(mean, n * (served - 1) / (served - n))))
        mean, low, high = (
            (served * end + (asks - served) * unserved) / asks for end in (mean, *ends)
        )
        row = {"measure": measure, "mean": mean, "low": low, "high": high}
        counts = {"judged": len(verdicts), "questions": len(questions), "is_count": n == served}
        rows.append(row | counts)
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

    judges: the number of documents that each judge graded. failed: why a model gave no grade.
    """

    of: Mapping[Pair, tuple[int, ...]]
    judges: Mapping[str, int]
    failed: Mapping[Pair, str]


def judging_summary(
    draw: Draw,
    config: JudgingConfig,
    grades: Grades,
    unknown: int,
    order: Mapping[str, Any],
    table: Path,
) -> dict[str, Any]:
    """Return the section of summary.json, see `JudgingResult`.

    unknown: questions whose results nobody knows. order: see `with_risk`.
    """
    verdicts, failed = _verdicts(draw, config, grades)
    known = {q.id: q.risk for q in draw.questions if q.id in verdicts and q.risk is not None}
    failing = [verdicts[id_][0] > 0.5 for id_ in known]
    reasons, drawn = Counter(failed.values()), draw.drawn
    if waiting := len(drawn) - len(verdicts) - len(failed):
        reasons[NO_GRADE] = waiting
    several = [votes for votes in grades.of.values() if len(votes) > 1]
    units = [[str(grade >= config.relevant_from) for grade in votes] for votes in several]
    judge = next(iter(grades.judges), PEOPLE)
    if len(grades.judges) > 1:
        judge = " and ".join(f"{name} ({n:,} documents)" for name, n in grades.judges.items())
    return {
        "questions": len(draw.questions),
        "asked": sum(q.times for q in draw.questions),
        "unknown": unknown,
        "nothing_served": sum(not q.documents for q in draw.questions),
        "risk": {**order, "here": discrimination([*known.values()], failing) if known else None},
        "budget": config.budget,
        "k": config.k,
        "relevant_from": config.relevant_from,
        "documents": len(draw.rows),
        "graded": len(grades.of),
        "judge": judge,
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
        "agreement": {
            "documents": len(units),
            "equal": sum(len(set(unit)) == 1 for unit in units) / len(units) if units else None,
            "alpha": nominal_alpha(units),
        },
        "table": str(table),
        "notes": list(draw.notes),
    }


def _verdicts(
    draw: Draw, config: JudgingConfig, grades: Grades
) -> tuple[dict[str, Verdict], dict[str, str]]:
    """Return verdicts of questions whose documents are all graded, and why others failed."""
    verdicts: dict[str, Verdict] = {}
    failed: dict[str, str] = {}
    by_id = {q.id: q for q in draw.questions}
    for id_ in draw.drawn:
        pairs = [(id_, doc) for doc in by_id[id_].documents[: config.k]]
        if all(pair in grades.of for pair in pairs):
            medians = [median_low(grades.of[pair]) for pair in pairs]
            verdicts[id_] = verdict(medians, config.relevant_from)
        elif reasons := [grades.failed[pair] for pair in pairs if pair in grades.failed]:
            failed[id_] = reasons[0]
    return verdicts, failed


def judging_table(draw: Draw, config: JudgingConfig, grades: Grades) -> pa.Table:
    """Return a table of JUDGING."""
    verdicts, _ = _verdicts(draw, config, grades)
    drawn = set(draw.drawn)
    risk = {q.id: q.risk for q in draw.questions if q.risk is not None}
    probability = calibrate_risk(risk, {id_: own[0] for id_, own in verdicts.items()}) or {}
    rows: list[tuple[Any, ...]] = []
    for q in draw.questions:
        state = State.FAILED if q.id in drawn else State.NOT_APPLICABLE
        state = State.MEASURED if q.id in verdicts else state
        known = (q.id, q.times, len(q.documents), q.risk, probability.get(q.id), q.id in drawn)
        rows.append((*known, state.value, *verdicts.get(q.id, (None, None))))
    return pa.table([*zip(*rows, strict=True)], schema=JUDGING)


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the draw, the estimates, and the next step."""
    yield (
        f"{summary['judged']['total']:,} of {summary['questions']:,} questions drawn, "
        f"{summary['judged']['measured']:,} judged by {summary['judge']} ({summary['graded']:,} of "
        f"{summary['documents']:,} documents graded)"
    )
    yield from summary["notes"]
    if summary["unknown"]:
        yield f"not in any figure: {summary['unknown']:,} questions with unknown results"
    order = summary["risk"]
    flagged = "".join(f"; flagged: {n:,}, {why}" for why, n in order["flagged"].items())
    whose = "by the log's own predictions" if order["is_own"] else "by risk, which tells no rate"
    yield f"{order['ranked']:,} questions are ordered {whose}{flagged}"
    if here := order["here"]:
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
    if summary["skipped"]:
        yield (
            f"{summary['skipped']:,} drawn questions were passed over: the interval holds only if "
            "they are like the others. Grade them first."
        )
    yield _next_step(summary)


def _next_step(summary: Mapping[str, Any]) -> str:
    if not summary["estimates"]:
        return (
            f"Next: grade each row of {summary['table']} from 0 to 3 (from "
            f"{summary['relevant_from']} on it counts as relevant), then run the same command."
        )
    failure, judged = summary["estimates"][0], summary["judged"]["measured"]
    if failure["is_count"]:
        return "Nothing is left to judge: these are counts, not estimates."
    n = failure["questions"]  # a width goes with the root of 1/judged - 1/n
    more = math.ceil(1 / ((1 / judged - 1 / n) / 4 + 1 / n))
    first = "A first look. " if judged < MIN_SURE else ""
    return f"{first}For an interval half as wide judge about {more:,}: --budget {more}."


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section from summary.json alone."""
    brief, rows = "no question is judged yet", []
    for one in summary["estimates"]:
        name = one["measure"].replace("@k", f"@{summary['k']}")
        interval = f"{one['low']:.3f} to {one['high']:.3f}"
        rows.append([name, one["mean"], interval, one["judged"], one["questions"]])
    if rows:
        failure = summary["estimates"][0]
        interval = f"({failure['low']:.1%} to {failure['high']:.1%})"
        brief = f"{failure['mean']:.1%} of what is asked fails {interval}"
    columns = {
        "measure": "text", "mean": "share", "95% interval": "text", "judged": "count",
        "questions": "count",
    }  # fmt: skip
    return Section({}, {"judging_estimates": table(columns, rows)}, brief)
