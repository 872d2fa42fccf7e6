"""Which questions nobody met, as far as the log tells, and by what that is said.

Bad feedback and empty lists are facts. Little support by words is none: it orders questions, and is
no prediction that they fail. It is told as what it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from argus.traffic.questions.sample import LookedAt

BAD, NOTHING, SUPPORT = "bad feedback", "nothing came back", "least supported by words"
WORTH = "AUC 0.51 to 0.64 against judged failures of BM25 on three collections: weak"
"""What little support tells of failing; measured elsewhere (benchmarks/traffic_support.py)."""
TENTH = 10
WELL = 0.6
"""Support from which a question is not among the least supported, however few are below."""


def mark_unmet(questions: Sequence[LookedAt]) -> list[LookedAt]:
    """Note why each question is unmet; return those that are, the most asked first.

    Least supported is the tenth of questions whose words the corpus holds least of, those whose
    feedback is good left out.
    """
    for one in questions:
        if one.bad > one.good:
            one.why.append(BAD)
        if one.results is not None and not one.results:
            one.why.append(NOTHING)
    measured = [one for one in questions if one.support is not None]
    doubtful = [
        one
        for one in measured
        if one.support is not None and one.support < WELL and one.good <= one.bad
    ]
    doubtful.sort(key=lambda one: (one.support, one.id))
    for one in doubtful[: len(measured) // TENTH]:
        one.why.append(SUPPORT)
    unmet = [one for one in questions if one.why and one.alike is None]
    return sorted(unmet, key=lambda one: (-one.asks, one.id))
