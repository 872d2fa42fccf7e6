"""The exposure's section: concentration, hubs, misses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, naming, table


def section(folder: Path, exposure: dict[str, Any]) -> Section:
    """Build it from misses.parquet."""
    spread = exposure["concentration"]
    misses = pq.read_table(folder / "misses.parquet").to_pylist()
    return Section(
        {"lorenz": figures.lorenz(spread["lorenz"], spread["gini"])},
        {"misses": _misses(misses), "hubs": _hubs(exposure["hubs"])},
        _brief(exposure),
    )


def _brief(exposure: dict[str, Any]) -> str:
    names = {"sentence": "a sentence of their own", "title": "their title"}
    found = ", ".join(
        f"{exposure[kind]['success_at_k']:.1%} by {name}"
        for kind, name in names.items()
        if exposure[kind]["probes"]
    )
    never = f"{exposure['never_retrieved']:,} of {exposure['documents']['total']:,} never come back"
    return f"{found} come back in the top {exposure['k']}; {never}" if found else never


def _misses(misses: list[dict[str, Any]]) -> Any:
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


def _hubs(hubs: list[dict[str, Any]]) -> Any:
    return table(
        {"document": "text", "lists": "count", "share of all lists": "share"},
        [[naming(hub["label"], hub["id"]), hub["lists"], hub["share"]] for hub in hubs],
    )
