"""The rows of a comparison: entities and documents, what became of each, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from argus.evaluation.compare.summary import ComparisonRow, Verdicts

GAINED, LOST, SAME = "gained", "lost", "same"
ONLY_BEFORE, ONLY_AFTER, NOT_COMPARABLE = "only before", "only after", "not comparable"
VERDICTS = (LOST, GAINED, ONLY_BEFORE, ONLY_AFTER, NOT_COMPARABLE, SAME)
SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("id", pa.string()),
        ("label", pa.string()),
        ("verdict", pa.string()),
        ("before", pa.string()),
        ("after", pa.string()),
        ("value_before", pa.float64()),
        ("value_after", pa.float64()),
        ("rps_change", pa.float64()),
        ("rank_change", pa.int64()),
    ]
)
"""Rows are `ComparisonRow`s."""

QUERY_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "text", "entered", "left")]
    + [("changed", pa.int64())]
)
"""Rows are `QueryRow`s."""

ONLY_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "text", "doc_id", "label", "only")]
    + [("rank", pa.int64()), ("grade", pa.int64())]
)
"""Rows are `OnlyRow`s."""


@dataclass(frozen=True, slots=True)
class RelevantPair:
    """A relevant document of a query, and whether it is in the top k, before and after."""

    document: str
    before: bool
    after: bool

    @property
    def verdict(self) -> str:
        """Lost, gained or the same."""
        return SAME if self.before == self.after else GAINED if self.after else LOST


def row_order(row: ComparisonRow) -> tuple[str, int, float, str]:
    """Sort key: kinds apart, what was lost first, the greatest change first, then by id."""
    change = row["rps_change"] or row["rank_change"] or 0
    return row["kind"], VERDICTS.index(row["verdict"]), -abs(change), row["id"]


def count_verdicts(rows: Sequence[ComparisonRow]) -> Verdicts:
    """Count verdicts per kind, all of them, at 0 where there is none."""
    return {
        kind: {v: sum(r["kind"] == kind and r["verdict"] == v for r in rows) for v in VERDICTS}
        for kind in sorted({row["kind"] for row in rows})
    }
