"""Slice documents by a field of the payload, and compare a share between slices.

A slice is the items that have one value, or one range of values. Every share has its Wilson
interval. The worst slice is the one whose interval is furthest on the wrong side of the whole's.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.fields import Value, payload_values
from argus.data.types import Document
from argus.measures.intervals import share_words, wilson

NONE, OTHER = "(none)", "(other)"
MAX_NUMBERS = 20  # different numbers that are slices of their own. More are cut into ranges
RANGES = 5
MAX_TEXTS = 50  # different texts that are slices of their own. The rarer ones are OTHER
FEW = 20  # trials below which a slice has few
MAX_NAMED = 50  # shares in the summary. The table has all
_WHOLE = re.compile(r"-?\d{1,300}\Z")
"""A whole number that is no more than a float holds."""


SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("field", "slice", "share_of")),
        ("n", pa.int64()),
        *((name, pa.float64()) for name in ("share", "low", "high", "whole", "worse_by")),
        ("is_few", pa.bool_()),
    ]
)
"""A row per share of a slice, as `slice_shares` returns them."""
SliceShare = dict[str, Any]
SliceFigures = dict[str, Any]
"""Shares by slice in a summary, see `slice_figures`."""


class Sliced(TypedDict, total=False):
    """A summary's shares by slice, if any field was named."""

    slices: SliceFigures


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
        names = self.names if all(items) else tuple(dict.fromkeys((*self.names, NONE)))
        return Slicing(self.figures, labels, names)


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
    present = {label for own in labels for label in own}
    ordered = [name for name in dict.fromkeys(names.values()) if name in present]
    ordered += [NONE] if NONE in present else []
    without = sum(n for own, n in zip(values, times, strict=True) if not own)
    figures = {"field": field, "slices": len(ordered), "without": without, "cut": cut}
    return Slicing(figures, labels, tuple(ordered))


def slice_names(counts: Mapping[Value, int]) -> tuple[dict[Value, str], str]:
    """Return the slice of each value, slices in order, and how they were cut, in words.

    Numbers, also as text (7, not 007), are cut into ranges with about as many items. The most
    frequent texts are slices of their own.
    """
    numbers = {value: number for value in counts if (number := _number(value)) is not None}
    if len(numbers) == len(counts):
        return _numbers(numbers, counts)
    texts = Counter({str(value): n for value, n in counts.items()})
    alone, cut = sorted(texts, key=lambda text: (-texts[text], text)), ""
    if len(alone) > MAX_TEXTS:
        cut = f"{len(texts):,} values: the {MAX_TEXTS} most frequent, and {OTHER}"
        alone = alone[:MAX_TEXTS]
    order = {name: place for place, name in enumerate([*alone, OTHER])}
    names = {v: str(v) if str(v) in order else OTHER for v in counts}
    return dict(sorted(names.items(), key=lambda pair: order[pair[1]])), cut


def _number(value: Value) -> int | float | None:
    """Return the number that a value is, if it is a finite one.

    A text is one only where the number is written so: "1.10" is not 1.1, nor "007" 7.
    """
    if isinstance(value, int):
        return value
    try:
        number = float(value) if isinstance(value, float) or not _WHOLE.match(value) else int(value)
    except ValueError:
        return None
    if not math.isfinite(number) or (isinstance(value, str) and _written(number) != value):
        return None
    return number


def _numbers(
    numbers: Mapping[Value, int | float], counts: Mapping[Value, int]
) -> tuple[dict[Value, str], str]:
    ordered = sorted(numbers, key=lambda value: (numbers[value], str(value)))
    distinct = sorted(set(numbers.values()))
    if len(distinct) <= MAX_NUMBERS:
        return {value: _written(numbers[value]) for value in ordered}, ""
    weights = Counter[int | float]()
    for value in ordered:
        weights[numbers[value]] += counts[value]
    upto = np.cumsum([weights[number] for number in distinct])
    ends = np.searchsorted(upto, upto[-1] * np.arange(1, RANGES + 1) / RANGES)
    edges = sorted({min(int(end), len(distinct) - 1) for end in ends})
    names: dict[int | float, str] = {}
    start = 0
    for end in edges:
        low, high = distinct[start], distinct[end]
        name = _written(low) if low == high else f"{_written(low)} to {_written(high)}"
        names |= dict.fromkeys(distinct[start : end + 1], name)
        start = end + 1
    cut = f"{len(distinct):,} numbers, cut into {len(edges)} ranges"
    return {value: names[numbers[value]] for value in ordered}, cut


def _written(number: int | float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def slice_shares(slicings: Sequence[Slicing], trials: Trials) -> list[SliceShare]:
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
    if not len(trials.item):
        return []
    whole = float(trials.value.mean())
    low, high = (float(end) for end in wilson(whole, len(trials.item)))
    shares: list[SliceShare] = []
    for slicing in slicings:
        for name, values in _by_slice(slicing, trials).items():
            n, share, field = len(values), float(np.mean(values)), slicing.figures["field"]
            own_low, own_high = (float(end) for end in wilson(share, n))
            worse_by = own_low - high if trials.is_bad else low - own_high
            interval = (share, own_low, own_high, whole, worse_by)
            row = (field, name, trials.share_of, n, *interval, n < FEW)
            shares.append(dict(zip(SCHEMA.names, row, strict=True)))
    return shares


def _by_slice(slicing: Slicing, trials: Trials) -> dict[str, list[float]]:
    """Return the values of the trials in each slice, slices in order."""
    values: dict[str, list[float]] = {name: [] for name in slicing.names}
    for item, value in zip(trials.item.tolist(), trials.value.tolist(), strict=True):
        for label in slicing.labels[item]:
            values[label].append(value)
    return {name: own for name, own in values.items() if own}


def worst_first(shares: Sequence[SliceShare]) -> list[SliceShare]:
    """Sort shares by how far their interval is worse than the whole's."""
    return sorted(shares, key=lambda share: -share["worse_by"])


def slice_figures(slicings: Sequence[Slicing], shares: Sequence[SliceShare]) -> SliceFigures:
    """Return the part of a summary. shares: the worst first.

    fields: fields of the slices, see `Slicing`.
    shares: rows of slices.parquet.
    worst: the first 50 of them, the worst first.
    """
    fields = [slicing.figures for slicing in slicings]
    return {"fields": fields, "shares": len(shares), "worst": list(shares[:MAX_NAMED])}


def slice_table(shares: Sequence[SliceShare]) -> pa.Table:
    """Return one row per share, for slices.parquet."""
    return pa.Table.from_pylist(list(shares), schema=SCHEMA)


def slice_lines(figures: SliceFigures) -> Iterator[str]:
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
