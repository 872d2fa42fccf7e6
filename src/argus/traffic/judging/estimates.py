"""From grades to rates over all that was asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from argus.errors import InputError
from argus.measures.prediction_powered import PoweredMean, powered_mean
from argus.traffic.judging.picking import Stratum
from argus.traffic.judging.questions import ServedQuestion
from argus.traffic.judging.summary import FAILURE, HITS, NDCG, TrafficEstimate, finite

Floats = npt.NDArray[np.float64]
UNPREDICTED = 0.5
"""What stands for a risk that was not predicted; within its stratum any constant is the same."""


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
    questions: Iterable[ServedQuestion],
    strata: Sequence[Stratum],
    verdicts: Mapping[str, QuestionVerdict],
) -> list[TrafficEstimate]:
    """Return failure rate, hits@k and nDCG@k over all that was asked, with 95% intervals.

    By prediction-powered inference within the strata, see
    `argus.measures.prediction_powered.powered_mean`; a question counts as often as it was asked.
    questions: all of the log; one to which nothing was served failed, and needs no judge. verdicts:
    of judged ones. No verdict, no estimate. Raises InputError for a question that was asked less
    than once, and for a served one that is in no stratum.
    """
    questions = list(questions)
    of = {id_: number for number, stratum in enumerate(strata) for id_ in stratum.order}
    served = [q for q in questions if q.documents]
    _check(questions, served, of)
    rows = [i for i, q in enumerate(served) if q.id in verdicts]
    if not rows:
        return []
    risk = np.array([UNPREDICTED if q.risk is None else q.risk for q in served])
    labels = [verdicts[served[i].id] for i in rows]
    failures = np.array([label.failure for label in labels])
    ndcg = np.array([label.ndcg for label in labels])
    total = sum(q.times for q in questions)
    share = sum(q.times for q in served) / total

    def mean(values: Floats, predictions: Floats, otherwise: float) -> PoweredMean:
        """Return the mean over all; `otherwise` is the value where nothing was served."""
        of_served = powered_mean(
            predictions, rows, values,
            strata=[of[q.id] for q in served], weights=[q.times for q in served],
        )  # fmt: skip
        return _among_all(of_served, share, otherwise)

    means = {
        FAILURE: mean(failures, risk, 1.0),
        HITS: mean(1 - failures, 1 - risk, 0.0),
        NDCG: mean(ndcg, 1 - risk, 0.0),
    }
    return [_row(name, value, len(rows), len(questions)) for name, value in means.items()]


def _check(
    questions: Sequence[ServedQuestion], served: Sequence[ServedQuestion], of: Mapping[str, int]
) -> None:
    for question in questions:
        if not question.times >= 1:
            raise InputError(
                f"question {question.id!r}: times={question.times}",
                expected="how often it was asked, from 1",
                fix="Leave out what was never asked.",
            )
    for question in served:
        if question.id not in of:
            raise InputError(
                f"question {question.id!r} is in no stratum",
                expected="strata of all questions to which something was served",
                fix="Draw the strata of these questions.",
            )


def _among_all(value: PoweredMean, share: float, otherwise: float) -> PoweredMean:
    rest = (1 - share) * otherwise
    return replace(
        value,
        mean=share * value.mean + rest,
        low=share * value.low + rest,
        high=share * value.high + rest,
    )


def _row(measure: str, value: PoweredMean, judged: int, questions: int) -> TrafficEstimate:
    return {
        "measure": measure,
        "mean": value.mean,
        "low": value.low,
        "high": value.high,
        "judged": judged,
        "questions": questions,
        "tuning": value.tuning,
        "effective": finite(value.effective),
    }
