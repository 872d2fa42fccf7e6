"""Group documents by a metadata field and find the group with the worst share (slices).

From documents and trials (found or not) to one row per slice, with Wilson's interval, for the
option --by of `argus check`, `evaluate` and `traffic audit`. A slice is the items that have one
value, or one range of values. The worst slice is the one whose interval is furthest on the wrong
side of the whole's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.fields import Value, payload_values
from argus.data.types import Document
from argus.measures.intervals import share_words, wilson

NONE, OTHER = "(none)", "(other)"
MAX_NUMBERS = 20  # different numbers that are slices of their own. More are cut into ranges
RANGES = 5
MAX_TEXTS = 50  # different texts that are slices of their own. The rarer ones are OTHER
FEW = 20  # trials below which a slice has few
MAX_NAMED = 50  # shares in the summary. The table has all
# A row per share of a slice, as `slice_shares` returns them.
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("field", "slice", "share_of")),
        ("n", pa.int64()),
        *((name, pa.float64()) for name in ("share", "low", "high", "whole", "worse_by")),
        ("is_few", pa.bool_()),
    ]
)


@dataclass(frozen=True)
class Slicing:
    """The slices of one field.

    figures: the field, how many slices it has, how many items are without a value (the slice
    "(none)"), and how many values were cut into few slices ("" if each is its own).
    labels: of each item, at least one.
    names: all of them, in order.
    """

    figures: dict[str, Any]
    labels: Sequence[tuple[str, ...]]
    names: tuple[str, ...]

    def of(self, items: Sequence[Sequence[int]]) -> Slicing:
        """Return the slices of groups of items. A group is in those of its items, or in NONE."""
        labels = [
            tuple(dict.fromkeys(label for i in one for label in self.labels[i])) or (NONE,)
            for one in items
        ]
        return Slicing(self.figures, labels, tuple(dict.fromkeys((*self.names, NONE))))


@dataclass(frozen=True)
class Trials:
    """Trials that a share counts.

    item: (n_trials,) position of each trial's item. value: (n_trials,) from 0 to 1. is_bad: whether
    a high share is the worse one.
    """

    share_of: str
    item: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]
    is_bad: bool = False


def slicings(documents: Sequence[Document], fields: Sequence[str]) -> list[Slicing]:
    """Slice documents by each field. Raises InputError as `payload_values` does."""
    return [
        slicing(field, payload_values(documents, field, "--by")) for field in dict.fromkeys(fields)
    ]


def slicing(
    field: str, values: Sequence[Sequence[Value]], times: Sequence[int] | None = None
) -> Slicing:
    """Slice items by their values of a field. An item with several values is in several slices.

    times: how often each item counts. None counts each once.
    """
    times = [1] * len(values) if times is None else times
    counts: Counter[Value] = Counter()
    for own, n in zip(values, times, strict=True):
        for value in set(own):
            counts[value] += n
    names, cut = slice_names(counts)
    labels = [tuple(dict.fromkeys(names[v] for v in own)) or (NONE,) for own in values]
    without = sum(n for own, n in zip(values, times, strict=True) if not own)
    ordered = tuple(dict.fromkeys([*names.values(), NONE] if without else names.values()))
    figures = {"field": field, "slices": len(ordered), "without": without, "cut": cut}
    return Slicing(figures, labels, ordered)


def slice_names(counts: Mapping[Value, int]) -> tuple[dict[Value, str], str]:
    """Return the slice of each value, slices in order, and how they were cut, in words.

    Numbers are cut into ranges with about as many items. The most frequent texts are slices of
    their own.
    """
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in counts):
        ordered = sorted(counts, key=lambda value: (-counts[value], str(value)))
        names = {value: str(value) for value in ordered[:MAX_TEXTS]}
        names |= dict.fromkeys(ordered[MAX_TEXTS:], OTHER)
        cut = f"{len(counts):,} values: the {MAX_TEXTS} most frequent, and {OTHER}"
        return names, cut if len(counts) > MAX_TEXTS else ""
    numbers = sorted(counts)
    written = [str(int(n)) if n == int(n) else repr(n) for n in map(float, numbers)]
    if len(numbers) <= MAX_NUMBERS:
        return dict(zip(numbers, written, strict=True)), ""
    upto = np.cumsum([counts[number] for number in numbers])
    ends = np.unique(np.searchsorted(upto, upto[-1] * np.arange(1, RANGES + 1) / RANGES))
    names, start = {}, 0
    for end in ends.tolist():
        low, high = written[start], written[end]
        name = low if low == high else f"{low} to {high}"
        names |= dict.fromkeys(numbers[start : end + 1], name)
        start = end + 1
    return names, f"{len(numbers):,} numbers, cut into {len(ends)} ranges"


def slice_shares(slicings: Sequence[Slicing], trials: Iterable[Trials]) -> list[dict[str, Any]]:
    """Return the share of every slice that has a trial.

    field: field of the slices.
    slice: value, or range of values.
    share_of: outcome that is counted, such as "found by their title".
    n: items of the slice.
    share: share of these that is counted.
    low, high: ends of its 95% interval.
    whole: the share of all items.
    worse_by: distance of the interval from the whole's, on the wrong side. 0 or less if they touch.
    is_few: whether the slice has fewer than 20 items.
    """
    shares: list[dict[str, Any]] = []
    for one in (one for one in trials if len(one.item)):
        whole = float(one.value.mean())
        whole_low, whole_high = map(float, wilson(whole, len(one.item)))
        for slicing in slicings:
            values: dict[str, list[float]] = {name: [] for name in slicing.names}
            for item, value in zip(one.item.tolist(), one.value.tolist(), strict=True):
                for label in slicing.labels[item]:
                    values[label].append(value)
            for name, own in values.items():
                if not own:
                    continue
                n, share = len(own), float(np.mean(own))
                low, high = map(float, wilson(share, n))
                worse_by = low - whole_high if one.is_bad else whole_low - high
                row = (slicing.figures["field"], name, one.share_of, n, share, low, high, whole)
                shares.append(dict(zip(SCHEMA.names, (*row, worse_by, n < FEW), strict=True)))
    return shares


def rank_slices(
    fields: Sequence[Mapping[str, Any]], shares: Iterable[Mapping[str, Any]]
) -> tuple[dict[str, Any], pa.Table]:
    """Return the part of a summary and slices.parquet, shares furthest on the wrong side first.

    fields: fields of the slices, see `Slicing`.
    shares: rows of slices.parquet.
    worst: the first 50 of them, the worst first.
    """
    rows = sorted(shares, key=lambda share: -share["worse_by"])
    figures = {"fields": list(fields), "shares": len(rows), "worst": rows[:MAX_NAMED]}
    return figures, pa.Table.from_pylist(rows, schema=SCHEMA)


def slice_lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the line of the worst slice, if any is surely worse than the whole."""
    fields = ", ".join(one["field"] for one in figures["fields"])
    worst = figures["worst"][:1]
    if not worst or worst[0]["worse_by"] <= 0:
        yield f"by {fields}: no slice is surely worse than the whole"
        return
    share = worst[0]
    few = ", which are few" if share["is_few"] else ""
    yield (
        f"worst slice by {fields}: {share['field']} = {share['slice']}, {share['share_of']}: "
        f"{share_words(share)}{few}; of all {share['whole']:.1%}"
    )
