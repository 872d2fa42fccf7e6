"""The order of questions by their risk, and which are flagged beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from typing_extensions import TypedDict

from argus.data.types import Document, Query
from argus.traffic.questions.sample import LookedAt
from argus.traffic.risk import rank_by_risk


class RiskFigures(TypedDict):
    """How many questions are ordered by their risk, and how many are flagged.

    ranked: questions in the order.
    flagged: why questions are to be looked at whatever their rank, to how many.
    """

    ranked: int
    flagged: dict[str, int]


def measure_risk(
    questions: Sequence[LookedAt], documents: Sequence[Document]
) -> RiskFigures | None:
    """Fill in the rank of each question of which it is known what came; None without a corpus.

    No text is embedded. Questions that another stands for have none.
    """
    known = [one for one in questions if one.results is not None and one.text and not one.alike]
    if not documents or not known:
        return None
    run = {one.name: _scores(one) for one in known}
    risk = rank_by_risk([Query(one.name, one.text or "") for one in known], run, documents)
    rank = {id_: i for i, id_ in enumerate(risk.order, 1)}
    for one in known:
        one.risk_rank, one.flag = rank.get(one.name), risk.flagged.get(one.name, "")
    return {"ranked": len(rank), "flagged": dict(Counter(risk.flagged.values()))}


def _scores(one: LookedAt) -> dict[str, float]:
    """Return what came with its scores, or with its places where a score is missing."""
    results = one.results or []
    if any(score is None for _, score in results):
        return {id_: -float(place) for place, (id_, _) in enumerate(results)}
    return {id_: float(score or 0) for id_, score in results}
