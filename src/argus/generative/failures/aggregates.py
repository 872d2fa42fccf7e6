"""Aggregate the rows of all questions: means, shares with intervals, hit rates, deciles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from argus.generative.failures.measures import LENGTHS
from argus.measures.intervals import wilson

if TYPE_CHECKING:
    import pyarrow as pa

Value = str | int | float | None
"""Value of a cell. None if it does not apply."""
Table = dict[str, Any]
"""One table (see `argus.generative.failures.tables`)."""
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """The rows of failures.parquet (docs/autopsy.md): (n,) questions.

    A column that is not there counts as one of which no question has a value. k: of hit_k. seed:
    of the bootstraps. strict: deciles are those of the thesis.
    """

    table: pa.Table
    k: int
    seed: int
    strict: bool = False

    @classmethod
    def of(cls, table: pa.Table, *, k: int, seed: int, strict: bool = False) -> Rows:
        """Order the rows by id, unless strict, so that no sum depends on the order of input."""
        if not strict:
            names = [n for n in ("query_id", "question") if n in table.column_names]
            table = table.sort_by([(name, "ascending") for name in names])
        return cls(table, k, seed, strict)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def number(self, name: str) -> Floats:
        """Values of a column, (n,), NaN where a question has none."""
        if name not in self.table.column_names:
            return np.full(len(self), np.nan)
        import pyarrow as pa

        column = self.table[name].cast(pa.float64())
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)

    def text(self, name: str) -> list[str | None]:
        """Values of a column of texts, None if a question has none."""
        if name not in self.table.column_names:
            return [None] * len(self)
        values: list[str | None] = self.table[name].to_pylist()
        return values

    def lists(self, name: str) -> Floats:
        """Values of a column of lists by length, (questions that have one, LENGTHS)."""
        values = self.table[name].to_pylist() if name in self.table.column_names else []
        return np.array([v for v in values if v is not None], np.float64).reshape(-1, LENGTHS)

    def has(self, name: str) -> bool:
        """Whether any question has a value."""
        return name in self.table.column_names and self.table[name].null_count < len(self)

    @property
    def hits(self) -> dict[str, Floats]:
        """hit_1 and hit_k, NaN without judgements."""
        return {name: self.number(name) for name in ("hit_1", "hit_k")}


def not_applicable(why: str) -> Table:
    """Return the reason for a table that cannot be made."""
    return {"not_applicable": why}


def grid(n: int, columns: str, rows: Iterable[Sequence[Value]], **single: Value) -> Table:
    """Return a table of rows. n: the questions it is made of. columns: names, spaces between."""
    return {"n": n, **single, "columns": columns.split(), "rows": [list(row) for row in rows]}


def known(*columns: Floats) -> Mask:
    """Which questions have a value in all columns, each (n,)."""
    in_all: Mask = np.logical_and.reduce([~np.isnan(column) for column in columns])
    return in_all


def mean(values: Floats) -> float | None:
    """Return the mean of the values that are there. None if there are none."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None


SPREAD = ("n", "mean", "sigma", "median", "min", "max")


def spread(values: Floats) -> Table:
    """Describe the values that are there. sigma: of the population (divided by n)."""
    values = values[~np.isnan(values)]
    if not len(values):
        return dict.fromkeys(SPREAD) | {"n": 0}
    figures = (values.mean(), values.std(), np.median(values), values.min(), values.max())
    return dict(zip(SPREAD, (len(values), *map(float, figures)), strict=True))


def proportion(share: float | None, n: int) -> list[float | None]:
    """Return a share, or a mean of values in [0, 1], with the Wilson interval's ends.

    That of 0 begins at 0 and that of 1 ends at 1, whatever rounding makes of it.
    """
    if share is None or n == 0:
        return [None, None, None]
    low, high = wilson(share, n)
    return [share, float(low) if share > 0 else 0.0, float(high) if share < 1 else 1.0]


def counted(columns: str, counts: Mapping[str, int]) -> Table:
    """Return a table of counts, their shares of all, and the shares' Wilson intervals."""
    n = sum(counts.values())
    rows = [[name, c, *proportion(c / n if n else None, n)] for name, c in counts.items()]
    return grid(n, f"{columns} share low high", rows)


def hits_by(rows: Rows, columns: str, groups: Mapping[tuple[Value, ...], Mask]) -> Table:
    """Return the hit rates of groups of questions. n: of those in any, with known hits.

    columns: names of the parts of a group's key. groups: key -> its questions, (n,).
    """
    hits = rows.hits
    judged = known(*hits.values())
    cells: list[list[Value]] = []
    in_any = np.zeros(len(rows), bool)
    for key, group in groups.items():
        mask = group & judged
        n = int(mask.sum())
        rates = [proportion(mean(hit[mask]), n) for hit in hits.values()]
        cells.append([*key, n, *(value for rate in rates for value in rate)])
        in_any |= mask
    if not in_any.any():
        return not_applicable("No question has both this figure and a known correct passage.")
    names = f"{columns} n hit_1 hit_1_low hit_1_high hit_k hit_k_low hit_k_high"
    return grid(int(in_any.sum()), names, cells)


def hits_by_presence(rows: Rows, column: str, indicators: Mapping[str, str]) -> Table:
    """Return the hit rates where each indicator (name -> column) is above 0, and where it is 0."""
    groups: dict[tuple[Value, ...], Mask] = {}
    for name, indicator in indicators.items():
        values = rows.number(indicator)
        groups |= {(name, "present"): values > 0, (name, "absent"): values == 0}
    return hits_by(rows, f"{column} is", groups)


def hits_by_value(rows: Rows, indicator: str) -> Table:
    """Return the hit rates of every value of an indicator that counts something."""
    values = rows.number(indicator)
    judged = values[known(values, *rows.hits.values())]
    return hits_by(rows, indicator, {(int(v),): values == v for v in np.unique(judged)})


GROUPS = 10


def hits_by_decile(
    rows: Rows, indicator: str, extra: Sequence[str] = (), *, by_rank: bool = False
) -> Table:
    """Return the hit rates by decile of an indicator, and its spread over the same questions.

    extra: other indicators of which the mean is given in every decile. by_rank: where the thesis is
    followed strictly, see `published_deciles`.
    """
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
    columns = ["decile", "low", "high", "mean", "weight", *outcomes]
    return {**spread(values), "indicator": indicator, "columns": columns, "rows": groups}


def deciles(
    values: npt.ArrayLike, outcomes: Mapping[str, npt.ArrayLike], groups: int = GROUPS
) -> list[list[Value]]:
    """Part questions into `groups` of equal weight by their value. None with fewer values.

    values and every outcome: (n,), None or NaN where a question has none. A question whose value
    is tied across a border belongs to both groups in proportion: as if ties were broken at
    random, on average. Nothing depends on the order of the questions.

    Each group is a row: its number, from 1 for the lowest values, the least and the greatest value
    of the questions that belong to it, wholly or in part, the mean value, how many questions it
    counts for (n / groups), and the mean of every outcome. None where no question has it.
    """
    value = np.asarray(values, np.float64)
    there = ~np.isnan(value)
    n = int(there.sum())
    if n < groups:
        return []
    different, place = np.unique(value[there], return_inverse=True)
    counts = np.bincount(place)
    # Part of every value in every group, in groups-ths of a question, (groups, m): value v covers
    # groups * counts[v] of a line of groups * n, of which each group is a stretch of n.
    ends = np.cumsum(counts) * groups
    left = np.arange(groups)[:, None] * n
    shares = np.minimum(ends, left + n) - np.maximum(ends - counts * groups, left)
    shares = np.maximum(shares, 0)
    rates = []
    for outcome in outcomes.values():
        measured = np.asarray(outcome, np.float64)[there]
        has = ~np.isnan(measured)
        order = np.lexsort((measured[has], place[has]))  # sums must not depend on the order
        at, measured = place[has][order], measured[has][order]
        each = shares / counts
        sums = each @ np.bincount(at, weights=measured, minlength=len(counts))  # (groups,)
        weights = each @ np.bincount(at, minlength=len(counts))
        rates.append([float(s / w) if w > 0 else None for s, w in zip(sums, weights, strict=True)])
    rows: list[list[Value]] = []
    for group, share in enumerate(shares):
        members = different[np.flatnonzero(share)]
        middle = float(share @ different / n)
        of_outcomes = [rate[group] for rate in rates]
        rows.append(
            [group + 1, float(members[0]), float(members[-1]), middle, n / groups, *of_outcomes]
        )
    return rows


def published_deciles(
    values: npt.ArrayLike, outcomes: Mapping[str, npt.ArrayLike], *, by_rank: bool
) -> list[list[Value]]:
    """Part questions as the thesis does, into rows as `deciles`. None below ten values.

    Equal values stay together: a group ends at a tenth's quantile (linear between two values),
    which belongs to it, and of equal quantiles one counts. So groups differ in size (Table 13).
    by_rank: groups of n // 10 questions by value, then by order. The last takes the rest (Table
    12).
    """
    value = np.asarray(values, np.float64)
    there = np.flatnonzero(~np.isnan(value))
    n = len(there)
    if n < GROUPS:
        return []
    value = value[there]
    if by_rank:
        rank = np.empty(n, np.int64)
        rank[np.argsort(value, kind="stable")] = np.arange(n)
        group = np.minimum(rank // (n // GROUPS), GROUPS - 1)
    else:
        ends = np.unique(np.quantile(value, np.arange(1, GROUPS) / GROUPS))
        group = np.searchsorted(ends, value)
    of_outcomes = [np.asarray(outcome, np.float64)[there] for outcome in outcomes.values()]
    rows: list[list[Value]] = []
    for number, members in enumerate((group == g for g in np.unique(group)), start=1):
        mine = value[members]
        figures = (float(mine.min()), float(mine.max()), float(mine.mean()), float(len(mine)))
        rows.append([number, *figures, *(mean(outcome[members]) for outcome in of_outcomes)])
    return rows


DIGITS = 8
"""Significant digits that are written."""


def plain(value: Any) -> Any:
    """Make figures JSON: Python numbers of DIGITS significant digits, None for NaN."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value
