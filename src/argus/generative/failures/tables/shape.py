"""Parts of tables: means, proportions with intervals, deciles, plain JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, cast

import numpy as np

from argus.generative.failures.tables.deciles import GROUPS, deciles, published_deciles
from argus.generative.failures.tables.records import Deciles, Grid, NotApplicable, Spread, Value
from argus.generative.failures.tables.rows import Floats, Mask, Rows, known, not_applicable
from argus.measures.intervals import wilson

DIGITS = 8
"""Significant digits that are written."""
HITS = ("hit_1", "hit_1_low", "hit_1_high", "hit_k", "hit_k_low", "hit_k_high")
"""Columns of `hit_rates`."""

T = TypeVar("T")


def plain(figures: T) -> T:
    """Make figures JSON: Python numbers of DIGITS significant digits, None for NaN."""
    return cast(T, _plain(figures))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def mean(values: Floats) -> float | None:
    """Return the mean of the values that are there. None if there are none."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None


def spread(values: Floats) -> Spread:
    """Describe the values that are there. sigma: of the population (divided by n)."""
    values = values[~np.isnan(values)]
    if not len(values):
        return {"n": 0, "mean": None, "sigma": None, "median": None, "min": None, "max": None}
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


def counted(names: Iterable[str], counts: Sequence[int]) -> list[list[Value]]:
    """Return rows of name, count, share of all, and the share's Wilson interval."""
    n = sum(counts)
    return [
        [name, count, *proportion(count / n if n else None, n)]
        for name, count in zip(names, counts, strict=True)
    ]


def hit_rates(rows: Rows, where: Mask) -> tuple[int, list[float | None]]:
    """Return n, and HITS, over the judged questions."""
    hits = rows.hits
    judged = where & known(*hits.values())
    n = int(judged.sum())
    rates = [proportion(mean(hit[judged]), n) for hit in hits.values()]
    return n, [value for rate in rates for value in rate]


def decile_table(
    rows: Rows, indicator: str, *needs: str, extra: Sequence[str] = (), by_rank: bool = False
) -> Deciles | NotApplicable:
    """Return the hit rates by decile of an indicator, and its spread over the same questions.

    extra: other indicators of which the mean is given in every decile. by_rank: where the thesis is
    followed strictly, see `published_deciles`.
    """
    gap = rows.missing(*needs, "correctness")
    if gap is not None:
        return gap
    hits = rows.hits
    values = np.where(known(*hits.values()), rows.number(indicator), np.nan)
    outcomes = hits | {name: rows.number(name) for name in extra}
    groups = (
        published_deciles(values, outcomes, by_rank=by_rank)
        if rows.strict
        else deciles(values, outcomes)
    )
    if not groups:
        n = int(known(values).sum())
        return not_applicable(f"Only {n} questions have this figure; deciles need {GROUPS}.")
    return {
        **spread(values),
        "indicator": indicator,
        "columns": ["decile", "low", "high", "mean", "weight", *outcomes],
        "rows": [[d.number, d.low, d.high, d.mean, d.weight, *d.outcomes.values()] for d in groups],
    }


def by_group(rows: Rows, column: str, groups: Mapping[str | int, Mask]) -> Grid | NotApplicable:
    """Return the hit rates of groups of questions. n: of those in any, with known hits."""
    cells: list[list[Value]] = []
    total = 0
    for name, mask in groups.items():
        n, rates = hit_rates(rows, mask)
        cells.append([name, n, *rates])
        total += n
    if total == 0:
        return not_applicable("No question has both this figure and a known correct passage.")
    return {"n": total, "columns": [column, "n", *HITS], "rows": cells}


def by_value(rows: Rows, indicator: str, *needs: str) -> Grid | NotApplicable:
    """Return the hit rates of every value of an indicator that counts something."""
    gap = rows.missing(*needs, "correctness")
    if gap is not None:
        return gap
    values = rows.number(indicator)
    judged = values[known(values, *rows.hits.values())]
    return by_group(rows, indicator, {int(v): values == v for v in np.unique(judged)})


def by_presence(
    rows: Rows, indicators: Mapping[str, str], column: str, *needs: str
) -> Grid | NotApplicable:
    """Return the hit rates where each indicator (name -> column) is above 0, and where it is 0.

    n: of questions that have one of the indicators.
    """
    gap = rows.missing(*needs, "correctness")
    if gap is not None:
        return gap
    cells: list[list[Value]] = []
    judged = np.zeros(len(rows), bool)
    for name, indicator in indicators.items():
        values = rows.number(indicator)
        judged |= known(values, *rows.hits.values())
        for is_, where in (("present", values > 0), ("absent", values == 0)):
            n, rates = hit_rates(rows, where)
            cells.append([name, is_, n, *rates])
    if not judged.any():
        return not_applicable("No question has both this figure and a known correct passage.")
    return {"n": int(judged.sum()), "columns": [column, "is", "n", *HITS], "rows": cells}
