"""The exposure's section: concentration, hubs, misses."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
from typing_extensions import TypedDict

from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, table
from argus.retrievability.exposure.summary import ExposureSummary, Hub, KindFigures


class Miss(TypedDict):
    """A row of misses.parquet."""

    id: str
    label: str
    probe: str
    query: str
    rank: int | None
    """None where the list of a retriever ended before it."""
    displaced_by: str


def section(folder: Path, summary: ExposureSummary) -> Section:
    """Build it from misses.parquet."""
    spread = summary["concentration"]
    misses: list[Miss] = pq.read_table(folder / "misses.parquet").to_pylist()
    return Section(
        {"lorenz": figures.lorenz(spread["lorenz"], spread["gini"])},
        {"misses": _misses(misses), "hubs": _hubs(summary["hubs"])},
        _brief(summary),
    )


def _brief(summary: ExposureSummary) -> str:
    never = f"{summary['never_retrieved']:,} of {summary['documents']['total']:,} never come back"
    shares = [
        _share(summary["sentence"], "a sentence of their own"),
        _share(summary["title"], "their title"),
    ]
    backs = ", ".join(share for share in shares if share)
    return f"{backs} come back in the top {summary['k']}; {never}" if backs else never


def _share(figures: KindFigures, name: str) -> str:
    share = figures["success_at_k"]
    return "" if share is None else f"{share:.1%} by {name}"


def _misses(misses: list[Miss]) -> Table:
    return table(
        {
            "document": "text",
            "asked by": "text",
            "query": "text",
            "rank": "count",
            "returned instead": "text",
        },
        [
            [
                naming(row["label"], row["id"]),
                row["probe"],
                row["query"],
                row["rank"],
                row["displaced_by"],
            ]
            for row in misses[:MAX_ROWS]
        ],
        total=len(misses),
    )


def _hubs(hubs: list[Hub]) -> Table:
    return table(
        {"document": "text", "lists": "count", "share of all lists": "share"},
        [[naming(hub["label"], hub["id"]), hub["lists"], hub["share"]] for hub in hubs],
    )
