"""Which questions nobody met, as far as the log tells, and by what that is said.

Bad feedback and empty lists are facts. Risk orders questions, and little support by words does,
which is worth less. Each is told as what it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from argus.traffic.questions.sample import LookedAt
from argus.traffic.risk import NOTHING

BAD, SUPPORT = "bad feedback", "least supported by words"
RISK = "first by risk"
WORTH = "AUC 0.51 to 0.64 against judged failures of BM25 on three collections: weak"
"""Measured on cranfield, theoremqa and impliret (docs/traffic.md)."""
TENTH = 10
WELL = 0.6
"""Support from which a question is not among the least supported, however few are below."""


def mark_unmet(questions: Sequence[LookedAt]) -> list[LookedAt]:
    """Note why each question is unmet; return those that are, the most asked first.

    Doubtful are the tenth of questions that stand first by risk and the tenth whose words the
    corpus holds least of. Good feedback clears.
    """
    for one in questions:
        if one.bad > one.good:
            one.why.append(BAD)
        if one.results is not None and not one.results:
            one.why.append(NOTHING)
    ranks = {one.id: one.risk_rank for one in questions if one.risk_rank is not None}
    _mark(RISK, ranks, questions)
    known = {one.id: one.support for one in questions if one.support is not None}
    _mark(SUPPORT, known, [one for one in questions if known.get(one.id, WELL) < WELL])
    unmet = [one for one in questions if one.why and one.alike is None]
    return sorted(unmet, key=lambda one: (-one.asks, one.id))


def _mark(why: str, order: Mapping[int, float], questions: Sequence[LookedAt]) -> None:
    """Mark the first tenth of what is ordered, among questions without good feedback."""
    doubtful = [one for one in questions if one.id in order and one.good <= one.bad]
    doubtful.sort(key=lambda one: (order[one.id], one.id))
    for one in doubtful[: len(order) // TENTH]:
        one.why.append(why)
