"""The risk by which questions are ordered: the log's own prediction, or the order of its lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from argus.data.types import Document, Query
from argus.traffic.judging.questions import ServedQuestion
from argus.traffic.judging.summary import JudgedOrder
from argus.traffic.risk import rank_by_risk


def with_risk(
    questions: Sequence[ServedQuestion], documents: Sequence[Document]
) -> tuple[list[ServedQuestion], JudgedOrder]:
    """Return the questions with a risk each, from 0 to 1; None where nothing came back.

    Where any has one already, all stay as they are.
    """
    known = sum(q.risk is not None for q in questions)
    if known:
        return list(questions), {"is_own": True, "ranked": known, "flagged": {}}
    run = {q.id: _scores(q) for q in questions}
    order = rank_by_risk([Query(q.id, q.text) for q in questions], run, documents)
    places = order.places
    flagged = dict(Counter(order.flagged.values()))
    made = [replace(q, risk=places.get(q.id)) for q in questions]
    return made, {"is_own": False, "ranked": len(places), "flagged": flagged}


def _scores(question: ServedQuestion) -> dict[str, float]:
    """Return what was served with its scores, or with its places where these are not known."""
    scores = question.scores or [-float(place) for place in range(len(question.documents))]
    return dict(zip(question.documents, scores, strict=True))
