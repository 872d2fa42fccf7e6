"""What tables are made of: means, proportions with intervals, deciles, plain JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from argus.generative.failures.tables.deciles import GROUPS, deciles
from argus.generative.failures.tables.rows import (
    Floats,
    Mask,
    Rows,
    Table,
    known,
    not_applicable,
)
from argus.measures.intervals import wilson

DIGITS = 8
"""Significant digits that are written."""
HITS = ("hit_1", "hit_1_low", "hit_1_high", "hit_k", "hit_k_low", "hit_k_high")
"""Columns of `hit_rates`."""


def plain(value: Any) -> Any:
    """Make a figure JSON: Python numbers of DIGITS significant digits, None for NaN."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def mean(values: Floats) -> float | None:
    """Return the mean of the values that are there; None where there are none."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None


def spread(values: Floats) -> Table:
    """Describe the values that are there; sigma: of the population (divided by n)."""
    values = values[~np.isnan(values)]
    if not len(values):
        return dict.fromkeys(("mean", "sigma", "median", "min", "max")) | {"n": 0}
    return {
        "n": len(values),
        "mean": float(values.mean()),
        "sigma": float(values.std()),
        "median": float(np.median(values)),
        "min": float(values.min()),
        "max": float(values.max()),
    }


def proportion(share: float | None, n: int) -> list[float | None]:
    """Return a share, or a mean of values in [0, 1], with the Wilson interval's ends.

    That of 0 begins at 0 and that of 1 ends at 1, whatever rounding makes of it.
    """
    if share is None or n == 0:
        return [None, None, None]
    low, high = wilson(share, n)
    return [share, float(low) if share > 0 else 0.0, float(high) if share < 1 else 1.0]


def counted(names: Iterable[str], counts: Sequence[int]) -> list[list[Any]]:
    """Return rows of name, count, share of all, and the share's Wilson interval."""
    n = sum(counts)
    return [
        [name, count, *proportion(count / n if n else None, n)]
        for name, count in zip(names, counts, strict=True)
    ]


def hit_rates(rows: Rows, where: Mask) -> list[Any]:
    """Return n, and HITS, over those of the questions of which it is known what is correct."""
    hits = rows.hits
    kept = where & known(*hits.values())
    n = int(kept.sum())
    rates = [proportion(mean(hit[kept]), n) for hit in hits.values()]
    return [n, *(value for rate in rates for value in rate)]


def decile_table(rows: Rows, indicator: str, *needs: str, extra: Sequence[str] = ()) -> Table:
    """Return the hit rates by decile of an indicator, and its spread over the same questions.

    extra: other indicators of which the mean is given in every decile.
    """
    gap = rows.missing(*needs, "correctness")
    if gap is not None:
        return gap
    hits = rows.hits
    values = np.where(known(*hits.values()), rows.number(indicator), np.nan)
    outcomes = hits | {name: rows.number(name) for name in extra}
    found = deciles(values, outcomes)
    if not found:
        n = int(known(values).sum())
        return not_applicable(f"Only {n} questions have this figure; deciles need {GROUPS}.")
    return {
        **spread(values),
        "indicator": indicator,
        "columns": ["decile", "low", "high", "mean", "weight", *outcomes],
        "rows": [
            [d["number"], d["low"], d["high"], d["mean"], d["weight"], *d["outcomes"].values()]
            for d in map(asdict, found)
        ],
    }


def by_group(rows: Rows, column: str, groups: Mapping[str | int, Mask]) -> Table:
    """Return the hit rates of groups of questions; n: of those in any, with known hits."""
    made = [[name, *hit_rates(rows, mask)] for name, mask in groups.items()]
    n = sum(row[1] for row in made)
    if n == 0:
        return not_applicable("No question has both this figure and a known correct passage.")
    return {"n": n, "columns": [column, "n", *HITS], "rows": made}


def by_value(rows: Rows, indicator: str, *needs: str) -> Table:
    """Return the hit rates of every value of an indicator that counts something."""
    gap = rows.missing(*needs, "correctness")
    if gap is not None:
        return gap
    values = rows.number(indicator)
    held = values[known(values, *rows.hits.values())]
    return by_group(rows, indicator, {int(v): values == v for v in np.unique(held)})


def by_presence(rows: Rows, indicators: Mapping[str, str], column: str, *needs: str) -> Table:
    """Return the hit rates where each indicator (name -> column) is above 0, and where it is 0.

    n: of questions that have one of the indicators.
    """
    gap = rows.missing(*needs, "correctness")
    if gap is not None:
        return gap
    made: list[list[Any]] = []
    held = np.zeros(len(rows), bool)
    for name, indicator in indicators.items():
        values = rows.number(indicator)
        held |= known(values, *rows.hits.values())
        made.append([name, "present", *hit_rates(rows, values > 0)])
        made.append([name, "absent", *hit_rates(rows, values == 0)])
    if not held.any():
        return not_applicable("No question has both this figure and a known correct passage.")
    return {"n": int(held.sum()), "columns": [column, "is", "n", *HITS], "rows": made}
