"""From grades to rates over all that was asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argus.measures.intervals import wilson
from argus.traffic.judging.questions import ServedQuestion
from argus.traffic.judging.sample import Sample
from argus.traffic.judging.summary import FAILURE, HITS, NDCG, TrafficEstimate


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
