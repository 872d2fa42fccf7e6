"""Results with titles, pseudo-queries or unigrams switched off, from the file alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from argus.generative.failures.measures.columns import SWITCHED_OFF
from argus.generative.failures.tables.rows import Rows, Table, known
from argus.measures.significance import paired_difference

RESAMPLES = 2_000
"""Of every test and interval: p-values down to 0.001, in seconds for thousands of questions."""
_FIGURES = ("r_precision", "hit_1", "hit_k")


def ablations(rows: Rows) -> dict[str, Table]:
    """Return the table of this section by name."""
    return {"ablations": _ablations(rows)}


def _ablations(rows: Rows) -> Table:
    """Paired over questions; difference: without them, minus as it is."""
    gap = rows.missing("keys", "correctness")
    if gap is not None:
        return gap
    made = [
        found
        for what in SWITCHED_OFF
        for figure in _FIGURES
        if (found := _row(rows, what, figure)) is not None
    ]
    columns = [
        "without", "figure", "n", "as_is", "changed", "difference", "low", "high", "p_value",
        "improved", "harmed", "no_interval",
    ]  # fmt: skip
    n = max((row[2] for row in made), default=0)
    return {"n": n, "columns": columns, "rows": made}


def _row(rows: Rows, what: str, figure: str) -> list[Any] | None:
    before, after = rows.number(figure), rows.number(f"{figure}_without_{what}")
    kept = np.flatnonzero(known(before, after))
    if not len(kept):
        return None
    # Rows are ordered by id; their places stand for ids, which a file may hold twice.
    places = [f"{place:012d}" for place in kept]
    found = paired_difference(
        dict(zip(places, before[kept], strict=True)),
        dict(zip(places, after[kept], strict=True)),
        seed=rows.seed,
        resamples=RESAMPLES,
    )
    return [
        what, figure, found.queries, found.mean_before, found.mean_after, found.mean_difference,
        found.low, found.high, found.p_value, found.improved, found.harmed, found.no_interval,
    ]  # fmt: skip
