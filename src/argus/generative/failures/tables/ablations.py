"""Results with titles, pseudo-queries or unigrams switched off, from the file alone."""

from __future__ import annotations

import numpy as np

from argus.generative.failures.measures.columns import SWITCHED_OFF
from argus.generative.failures.tables.records import Grid, NotApplicable, Tables, Value
from argus.generative.failures.tables.rows import Rows, known
from argus.measures.significance import PairedDifference, paired_difference

RESAMPLES = 2_000
"""Resamples of every test and interval. Gives p-values down to 0.001 in seconds."""
_FIGURES = ("r_precision", "hit_1", "hit_k")


def ablations(rows: Rows) -> Tables:
    """Return the table of this section by name."""
    return {"ablations": _ablations(rows)}


def _ablations(rows: Rows) -> Grid | NotApplicable:
    """Paired over questions. difference: without them, minus as it is."""
    gap = rows.missing("keys", "correctness")
    if gap is not None:
        return gap
    cells: list[list[Value]] = []
    most = 0
    for what in SWITCHED_OFF:
        for figure in _FIGURES:
            change = _change(rows, what, figure)
            if change is not None:
                cells.append([what, figure, *_cells(change)])
                most = max(most, change.queries)
    columns = [
        "without", "figure", "n", "as_is", "changed", "difference", "low", "high", "p_value",
        "improved", "harmed", "no_interval",
    ]  # fmt: skip
    return {"n": most, "columns": columns, "rows": cells}


def _change(rows: Rows, what: str, figure: str) -> PairedDifference | None:
    before, after = rows.number(figure), rows.number(f"{figure}_without_{what}")
    both = np.flatnonzero(known(before, after))
    if not len(both):
        return None
    # Rows are ordered by id; their places stand for ids, which a file may hold twice.
    places = [f"{place:012d}" for place in both]
    return paired_difference(
        dict(zip(places, before[both], strict=True)),
        dict(zip(places, after[both], strict=True)),
        seed=rows.seed,
        resamples=RESAMPLES,
    )


def _cells(change: PairedDifference) -> list[Value]:
    return [
        change.queries, change.mean_before, change.mean_after, change.mean_difference,
        change.low, change.high, change.p_value, change.improved, change.harmed,
        change.no_interval,
    ]  # fmt: skip
