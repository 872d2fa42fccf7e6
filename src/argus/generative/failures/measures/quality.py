"""Measure the answer to a question: R-precision, hits, and rank of the first correct passage."""

from __future__ import annotations

from collections.abc import Sequence

from argus.generative.failures.case import Case
from argus.generative.failures.measures.answers import texts_with_answer
from argus.generative.failures.measures.arrays import Arrays
from argus.generative.failures.measures.columns import Quality, Ranking


def quality(case: Case, k: int) -> Quality:
    """Return the columns of `Quality` (thesis, §5, Table 16)."""
    correct = Arrays.of(case).correct.tolist() if case.judged else None
    texts = texts_with_answer(case, k)
    return {
        "positives": len(case.positives) if case.positives else None,
        **ranking(case, correct, k),
        "first_correct": correct.index(True) + 1 if correct and any(correct) else None,
        "outcome": None if correct is None else _outcome(correct),
        "answer_hit_1": None if texts is None else int(any(texts[:1])),
        "answer_hit_k": None if texts is None else int(any(texts)),
    }


def ranking(case: Case, correct: Sequence[bool] | None, k: int) -> Ranking:
    """Return R-precision and hits of a ranking of the question's passages.

    correct: of each passage, best first. None if it is not known, and nothing applies.
    """
    if correct is None:
        return {"r_precision": None, "hit_1": None, "hit_k": None}
    r = len(case.positives or ())
    return {
        "r_precision": sum(correct[:r]) / r if r else None,
        "hit_1": int(any(correct[:1])),
        "hit_k": int(any(correct[:k])),
    }


def _outcome(correct: Sequence[bool]) -> str:
    first_two = [*correct[:2], False, False][:2]
    return "".join("P" if one else "N" for one in first_two)
