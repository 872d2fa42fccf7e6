"""The comparison's section: documents and entities gained and lost, queries whose lists changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.reports.sections.base import MAX_ROWS, Section, naming, table


def section(folder: Path, comparison: dict[str, Any]) -> Section:
    """Build it from comparison.parquet, and comparison_queries.parquet for two indexes."""
    rows = pq.read_table(folder / "comparison.parquet").to_pylist()
    changed = [row for row in rows if row["verdict"] != "same"]
    tables = {
        "comparison": table(
            {
                "what": "text",
                "name": "text",
                "verdict": "text",
                "before": "text",
                "after": "text",
                "RPS or rank by title, before": "share",
                "after ": "share",
            },
            [
                [
                    row["kind"],
                    naming(row["label"], row["id"]),
                    row["verdict"],
                    row["before"] or "",
                    row["after"] or "",
                    row["value_before"],
                    row["value_after"],
                ]
                for row in changed[:MAX_ROWS]
            ],
            total=len(changed),
        )
    }
    if comparison["of"] == "indexes":
        tables["comparison_queries"] = _queries(folder)
    return Section({}, tables)


def _queries(folder: Path) -> Any:
    rows = pq.read_table(folder / "comparison_queries.parquet").to_pylist()
    changed = [row for row in rows if row["changed"]]
    return table(
        {"query": "text", "enter the top k": "text", "leave it": "text", "changes": "count"},
        [[row["text"], row["entered"], row["left"], row["changed"]] for row in changed[:MAX_ROWS]],
        total=len(changed),
    )
