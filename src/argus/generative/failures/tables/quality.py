"""Tables of the quality of results (thesis, §5 "Evaluation Metrics" and Table 16)."""

from __future__ import annotations

import numpy as np

from argus.generative.failures.tables.records import Grid, NotApplicable, Spread, Tables, Value
from argus.generative.failures.tables.rows import Floats, Rows, known
from argus.generative.failures.tables.shape import counted, mean, proportion, spread

_MEASURES = ("r_precision", "hit_1", "hit_k", "answer_hit_1", "answer_hit_k")
_OUTCOMES = ("PP", "PN", "NP", "NN")
_BINS = [*((v, v) for v in range(1, 11)), *((v, v + 9) for v in range(11, 100, 10))]
"""Bins of the histogram of positives. One more holds larger values."""


def quality(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "quality": _means(rows),
        "positives": _positives(rows),
        "positives_histogram": _histogram(rows),
        "t16_outcomes": _outcomes(rows),
    }


def _means(rows: Rows) -> Grid | NotApplicable:
    gap = rows.missing("correctness")
    if gap is not None and not rows.has("answer_hit_1"):
        return gap
    means: list[list[Value]] = []
    for name in _MEASURES:
        values = rows.number(name)
        n = int(known(values).sum())
        if n:
            means.append([name, n, *proportion(mean(values), n)])
    return {"n": len(rows), "columns": ["measure", "n", "mean", "low", "high"], "rows": means}


def _positives(rows: Rows) -> Spread | NotApplicable:
    return rows.missing("positives") or spread(rows.number("positives"))


def _histogram(rows: Rows) -> Grid | NotApplicable:
    gap = rows.missing("positives")
    if gap is not None:
        return gap
    values = rows.number("positives")
    values = values[known(values)]
    bins: list[list[Value]] = [[low, high, _between(values, low, high)] for low, high in _BINS]
    above = int((values > _BINS[-1][1]).sum())
    if above:
        bins.append([_BINS[-1][1] + 1, int(values.max()), above])
    while bins and bins[-1][2] == 0:
        bins.pop()
    return {"n": len(values), "columns": ["from", "to", "questions"], "rows": bins}


def _between(values: Floats, low: int, high: int) -> int:
    return int(np.count_nonzero((values >= low) & (values <= high)))


def _outcomes(rows: Rows) -> Grid | NotApplicable:
    gap = rows.missing("correctness")
    if gap is not None:
        return gap
    outcomes = [v for v in rows.text("outcome") if v is not None]
    return {
        "n": len(outcomes),
        "columns": ["outcome", "questions", "share", "low", "high"],
        "rows": counted(_OUTCOMES, [outcomes.count(outcome) for outcome in _OUTCOMES]),
    }
