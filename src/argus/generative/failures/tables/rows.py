"""Make tables of rows: means, shares with intervals, deciles, and the reason for no table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from argus.generative.failures.columns import LENGTHS
from argus.measures.intervals import wilson

if TYPE_CHECKING:
    import pyarrow as pa


Value = str | int | float | None
"""Value of a cell. None if it does not apply."""
Table = dict[str, Any]
"""One table (see `argus.generative.failures.tables`)."""
Tables = dict[str, Table]
"""By name."""


def is_missing(table: Table) -> bool:
    """Whether there is no table, but why there is none."""
    return "not_applicable" in table


def is_deciles(table: Table) -> bool:
    """Whether a table is of the deciles of an indicator."""
    return "indicator" in table


def has_rows(table: Table) -> bool:
    """Whether a table has columns and rows, not single figures."""
    return "columns" in table


Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_NEEDS = {
    "keys": (
        "score_all",
        "The passages have no n-grams. Give an output with its keys: `argus research generative "
        "search`"
        " always writes them, SEAL and MINDER with --include_keys.",
    ),
    "frequencies": (
        "frequency_all",
        "The n-grams have no corpus frequency. Give an output whose keys are"
        " [n-gram, frequency, score].",
    ),
    "correctness": (
        "hit_1",
        "It is not known which passages are correct. Give an output with positives"
        " (`positive_ctxs`), or, for questions with answers, --correct answer.",
    ),
    "positives": (
        "positives",
        "The questions have no positives. Give an output that has them (`positive_ctxs`).",
    ),
    "answers": (
        "answer_hit_1",
        "The questions have no answers, or the passages no texts. Give an output with both"
        " (`answers`; `text` of every passage).",
    ),
    "index": ("coverage", "This needs the index: --corpus-index."),
    "model": ("pruned", "This needs index and model: --corpus-index and --model."),
    "judge": ("judged", "No language model judged the passages. Give one: --llm."),
}


@dataclass(frozen=True)
class Rows:
    """The rows of failures.parquet (docs/autopsy.md), ordered by id: (n,) questions.

    A column that is not there counts as one of which no question has a value. strict: deciles are
    those of the thesis.
    """

    table: pa.Table
    k: int
    seed: int
    strict: bool = False

    @classmethod
    def of(cls, table: pa.Table, *, k: int, seed: int, strict: bool = False) -> Rows:
        """Order the rows, unless strict, so that no sum depends on the order of input."""
        if strict:
            return cls(table, k, seed, strict)
        keys = [(name, "ascending") for name in ("query_id", "question") if _holds(table, name)]
        return cls(table.sort_by(keys), k, seed, strict)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def number(self, name: str) -> Floats:
        """Values of a column, (n,), NaN where a question has none."""
        if not _holds(self.table, name):
            return np.full(len(self), np.nan)
        import pyarrow as pa

        column = self.table[name].cast(pa.float64())
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)

    def text(self, name: str) -> list[str | None]:
        """Values of a column of texts, None if a question has none."""
        if not _holds(self.table, name):
            return [None] * len(self)
        values: list[str | None] = self.table[name].to_pylist()
        return values

    def lists(self, name: str) -> Floats:
        """Values of a column of lists by length, (questions that have one, LENGTHS)."""
        values = self.table[name].to_pylist() if _holds(self.table, name) else []
        return np.array([v for v in values if v is not None], np.float64).reshape(-1, LENGTHS)

    def has(self, name: str) -> bool:
        """Whether any question has a value."""
        return _holds(self.table, name) and self.table[name].null_count < len(self)

    def missing(self, *needs: str) -> Table | None:
        """Return the reason for a missing table that needs these. None if they are there."""
        for need in needs:
            column, why = _NEEDS[need]
            if not self.has(column):
                return not_applicable(why)
        return None

    @property
    def hits(self) -> dict[str, Floats]:
        """hit_1 and hit_k, NaN without judgements."""
        return {name: self.number(name) for name in ("hit_1", "hit_k")}


def _holds(table: pa.Table, name: str) -> bool:
    return name in table.column_names


def not_applicable(why: str) -> Table:
    """Return the reason for a table that cannot be made."""
    return {"not_applicable": why}


def known(*columns: Floats) -> Mask:
    """Which questions have a value in all columns, each (n,)."""
    in_all: Mask = np.logical_and.reduce([~np.isnan(column) for column in columns])
    return in_all


GROUPS = 10

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Decile:
    """One of the groups. number: from 1, the lowest values.

    low, high: the least and the greatest value of the questions that belong to it, wholly or in
    part. weight: how many questions it counts for, n / groups. mean: of the values.
    """

    number: int
    low: float
    high: float
    weight: float
    mean: float
    outcomes: dict[str, float | None]
    """Mean of every outcome over the questions that have it. None if none has."""


def deciles(
    values: npt.ArrayLike, outcomes: Mapping[str, npt.ArrayLike], groups: int = GROUPS
) -> list[Decile]:
    """Part questions into `groups` of equal weight by their value. None with fewer values.

    values and every outcome: (n,), None or NaN where a question has none. A question whose value
    is tied across a border belongs to both groups in proportion: as if ties were broken at
    random, on average. Nothing depends on the order of the questions.
    """
    value = np.asarray(values, np.float64)
    there = ~np.isnan(value)
    n = int(there.sum())
    if n < groups:
        return []
    different, place = np.unique(value[there], return_inverse=True)
    counts = np.bincount(place)
    shares = _memberships(counts, groups)  # (groups, m)
    rates = {
        name: _means(shares / counts, place, np.asarray(outcome, np.float64)[there])
        for name, outcome in outcomes.items()
    }
    parts = []
    for group, share in enumerate(shares):
        members = np.flatnonzero(share)
        parts.append(
            Decile(
                number=group + 1,
                low=float(different[members[0]]),
                high=float(different[members[-1]]),
                weight=n / groups,
                mean=float(share @ different / n),
                outcomes={name: rate[group] for name, rate in rates.items()},
            )
        )
    return parts


def published_deciles(
    values: npt.ArrayLike, outcomes: Mapping[str, npt.ArrayLike], *, by_rank: bool
) -> list[Decile]:
    """Part questions as the thesis does. None below ten values.

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
    of_outcomes = {name: np.asarray(o, np.float64)[there] for name, o in outcomes.items()}
    return [
        _decile(number, value[members], {name: o[members] for name, o in of_outcomes.items()})
        for number, members in enumerate((group == g for g in np.unique(group)), start=1)
    ]


def _decile(number: int, values: Floats, outcomes: Mapping[str, Floats]) -> Decile:
    """Return a group of whole questions."""
    means = {}
    for name, outcome in outcomes.items():
        measured = outcome[~np.isnan(outcome)]
        means[name] = float(measured.mean()) if len(measured) else None
    low, high = float(values.min()), float(values.max())
    return Decile(number, low, high, float(len(values)), float(values.mean()), means)


def _memberships(counts: Ints, groups: int) -> Ints:
    """Part of every value in every group, in `groups`-ths of a question: (groups, m).

    counts: (m,) questions per value, sorted. Whole numbers: value v covers groups * counts[v] of a
    line of groups * n, of which each group is a stretch of n.
    """
    ends = np.cumsum(counts) * groups  # (m,)
    starts = ends - counts * groups
    n = int(counts.sum())
    left = np.arange(groups)[:, None] * n  # (groups, 1)
    overlap: Ints = np.minimum(ends, left + n) - np.maximum(starts, left)
    return np.maximum(overlap, 0)


def _means(per_question: Floats, place: Ints, outcome: Floats) -> list[float | None]:
    """Mean outcome of every group. per_question: (groups, m) weight of a question of a value."""
    has = ~np.isnan(outcome)
    order = np.lexsort((outcome[has], place[has]))  # sums must not depend on the questions' order
    place, outcome = place[has][order], outcome[has][order]
    m = per_question.shape[1]
    sums = per_question @ np.bincount(place, weights=outcome, minlength=m)  # (groups,)
    weights = per_question @ np.bincount(place, minlength=m)
    return [float(s / w) if w > 0 else None for s, w in zip(sums, weights, strict=True)]


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


def spread(values: Floats) -> Table:
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
) -> Table:
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


def by_group(rows: Rows, column: str, groups: Mapping[str | int, Mask]) -> Table:
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


def by_value(rows: Rows, indicator: str, *needs: str) -> Table:
    """Return the hit rates of every value of an indicator that counts something."""
    gap = rows.missing(*needs, "correctness")
    if gap is not None:
        return gap
    values = rows.number(indicator)
    judged = values[known(values, *rows.hits.values())]
    return by_group(rows, indicator, {int(v): values == v for v in np.unique(judged)})


def by_presence(rows: Rows, indicators: Mapping[str, str], column: str, *needs: str) -> Table:
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
