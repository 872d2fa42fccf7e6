"""Look for an answer in passages that nobody annotated (thesis, appendix A)."""

from __future__ import annotations

from argus.generative.failures.case import Case
from argus.generative.failures.measures.answers import texts_with_answer
from argus.generative.failures.measures.columns import Annotation

HIT, UNANNOTATED, ABSENT = "hit", "unannotated", "absent"


def annotation(case: Case, k: int) -> Annotation:
    """Return the columns of `Annotation` (thesis, Table 9).

    Both are None without answers, or without positives: where correctness goes by answers, nobody
    annotated anything.
    """
    texts = texts_with_answer(case, k)
    if texts is None or not case.positives:
        return {"answer_outcome": None, "answer_rank": None}
    if any(passage.correct for passage in case.passages[:k]):
        return {"answer_outcome": HIT, "answer_rank": None}
    if any(texts):
        return {"answer_outcome": UNANNOTATED, "answer_rank": texts.index(True) + 1}
    return {"answer_outcome": ABSENT, "answer_rank": None}
