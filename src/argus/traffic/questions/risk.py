"""The predicted risk of each question that is looked at: an order, until judgements say more."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from argus.data.types import Document, Query
from argus.traffic.questions.sample import LookedAt
from argus.traffic.risk.predict import TrafficRisk, predict_risk


class RiskFigures(TypedDict):
    """Of how many questions a risk is predicted, and what its order was seen to be worth.

    predicted: questions with a prediction.
    abstained: questions without one.
    auc: AUC by question, on families of questions that the model was not made of.
    notes: what a reader should know.
    """

    predicted: int
    abstained: int
    why: str
    """Why it abstained, most often; empty where it did not."""
    auc: float
    low: float
    high: float
    notes: list[str]


def measure_risk(
    questions: Sequence[LookedAt], documents: Sequence[Document]
) -> RiskFigures | None:
    """Fill in the risk of each question of which it is known what came; None without a corpus.

    From words and scores alone: no text is embedded. Questions that another stands for have none.
    """
    known = [one for one in questions if one.results and one.text and one.alike is None]
    if not documents or not known:
        return None
    run = {one.name: _scores(one) for one in known}
    risk = predict_risk([Query(one.name, one.text or "") for one in known], run, documents)
    for one in known:
        one.risk = risk.by_id[one.name]
    return _figures(risk)


def _scores(one: LookedAt) -> dict[str, float]:
    """Return what came with its scores, or with its places where a score is missing."""
    results = one.results or []
    if any(score is None for _, score in results):
        return {id_: -float(place) for place, (id_, _) in enumerate(results)}
    return {id_: float(score or 0) for id_, score in results}


def _figures(risk: TrafficRisk) -> RiskFigures:
    reasons = list(risk.reasons.values())
    worth = risk.variant["worth"]
    return {
        "predicted": sum(value is not None for value in risk.by_id.values()),
        "abstained": len(reasons),
        "why": max(reasons, key=reasons.count) if reasons else "",
        "auc": worth["auc"],
        "low": worth["low"],
        "high": worth["high"],
        "notes": list(risk.notes),
    }
