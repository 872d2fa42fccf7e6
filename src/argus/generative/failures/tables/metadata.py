"""Tables of the score by titles and pseudo-queries (thesis, §6 "Metadata Dependency")."""

from __future__ import annotations

import numpy as np

from argus.generative.failures.measures.columns import NEGLIGIBLE
from argus.generative.failures.tables.records import (
    Grid,
    NotApplicable,
    Tables,
    TitleDifference,
    Value,
)
from argus.generative.failures.tables.rows import Floats, Mask, Rows, known, not_applicable
from argus.generative.failures.tables.shape import mean, spread


def metadata(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "score_shares_all": _score_shares(rows, ""),
        "score_shares_correct": _score_shares(rows, "_correct"),
        "answer_title_gain": _answer_title_gain(rows),
        "title_score_difference": _title_score_difference(rows),
    }


def _score_shares(rows: Rows, which: str) -> Grid | NotApplicable:
    """Share of titles and pseudo-queries, over all passages ("") or correct ones ("_correct")."""
    gap = rows.missing("keys", *(["correctness"] if which else []))
    if gap is not None:
        return gap
    whole = rows.number("score_correct" if which else "score_all")
    parts = {
        name: rows.number(f"{column}{which}")
        for name, column in (("titles", "score_title"), ("pseudo_queries", "score_query"))
    }
    divides = np.logical_and.reduce([_divides(whole, np.nan_to_num(v)) for v in parts.values()])
    n = int(divides.sum())
    if n == 0:
        return not_applicable("No question has a score of such passages that is above 0.")
    shares: list[list[Value]] = [
        [name, *_shares(part[divides], whole[divides])] for name, part in parts.items()
    ]
    return {"n": n, "columns": ["identifiers", "pooled", "mean"], "rows": shares}


def _divides(whole: Floats, part: Floats) -> Mask:
    """Which questions have both, and a whole that is above 0 and not as good as 0 to its part."""
    divides: Mask = known(whole, part) & (whole > 0) & (whole >= NEGLIGIBLE * np.abs(part))
    return divides


def _shares(part: Floats, whole: Floats) -> list[float | None]:
    """Pooled share, and mean of the questions' shares."""
    return [float(np.nansum(part) / whole.sum()), mean(part / whole)]


def _answer_title_gain(rows: Rows) -> Grid | NotApplicable:
    gap = rows.missing("keys", "answers")
    if gap is not None:
        return gap
    everywhere = spread(rows.number("answer_title_gain"))
    if everywhere["n"] == 0:
        return not_applicable("In no passage is an answer both a title n-gram and another n-gram.")
    correct = spread(rows.number("answer_title_gain_correct"))
    gains: list[list[Value]] = [
        [passages, gain["n"], gain["mean"], gain["sigma"], gain["median"]]
        for passages, gain in (("all", everywhere), ("correct", correct))
    ]
    columns = ["passages", "n", "mean", "sigma", "median"]
    return {"n": everywhere["n"], "columns": columns, "rows": gains}


def _title_score_difference(rows: Rows) -> TitleDifference | NotApplicable:
    """Title score of correct passages / that of wrong ones - 1, over questions that have both."""
    gap = rows.missing("keys", "correctness")
    if gap is not None:
        return gap
    correct, wrong = rows.number("title_score_correct"), rows.number("title_score_wrong")
    both = np.flatnonzero(_divides(wrong, correct))
    if not len(both):
        return not_applicable("No question has title n-grams in both correct and wrong passages.")
    difference = correct[both] / wrong[both] - 1
    extreme = int(both[np.argmax(difference)])  # of equal ones, the least id
    return {
        **spread(difference),
        "extreme_id": rows.text("query_id")[extreme],
        "extreme_question": rows.text("question")[extreme],
    }
