"""What goes wrong by slice: counted where the log lies, so that no ask is held."""

from __future__ import annotations

from collections.abc import Sequence

from argus.data.payload import Value
from argus.measures import wilson
from argus.measures.slices import FEW, NONE, SlicedField, SliceShare, slice_names
from argus.traffic.figures.outcomes import OUTCOMES
from argus.traffic.log.book import LogBook


def slice_shares(
    book: LogBook, outcomes: Sequence[str]
) -> tuple[list[SlicedField], list[SliceShare]]:
    """Return the fields that figures are told by, and every outcome's share by their slices."""
    fields, shares = [], []
    for i, field in enumerate(book.slices):
        values: dict[Value, int] = {
            value: n
            for value, n in book.rows(f"SELECT s{i}, COUNT(*) FROM asks GROUP BY 1")
            if value is not None
        }
        names, cut = slice_names(values)
        (without,) = book.one(f"SELECT COUNT(*) FROM asks WHERE s{i} IS NULL")
        slices = len(set(names.values())) + bool(without)
        figures: SlicedField = {"field": field, "slices": slices, "without": without, "cut": cut}
        fields.append(figures)
        for outcome in outcomes:
            shares += _shares(book, i, field, outcome, names)
    return fields, shares


def _shares(
    book: LogBook, i: int, field: str, outcome: str, names: dict[Value, str]
) -> list[SliceShare]:
    rows = book.rows(
        f"SELECT s{i}, COUNT(*), SUM({outcome}) FROM outcomes WHERE {outcome} IS NOT NULL "
        "GROUP BY 1"
    )
    counts: dict[str, list[int]] = {}
    for value, n, bad in rows:
        own = counts.setdefault(NONE if value is None else names[value], [0, 0])
        own[0] += n
        own[1] += bad
    total, bad_total = (sum(own[j] for own in counts.values()) for j in (0, 1))
    if not total:
        return []
    whole = bad_total / total
    (_, high), shares = wilson(whole, total), list[SliceShare]()
    for name, (n, bad) in counts.items():
        low, own_high = wilson(bad / n, n)
        shares.append(
            {
                "field": field, "slice": name, "share_of": OUTCOMES[outcome], "n": n,
                "share": bad / n, "low": float(low), "high": float(own_high), "whole": whole,
                "worse_by": float(low - high), "is_few": n < FEW,
            }
        )  # fmt: skip
    return shares
