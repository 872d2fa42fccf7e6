"""Build the report's section of a generative search: passages per question, and their n-grams.

generative_search.parquet and the summary, which `search` writes -> tables for the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.reports.section import MAX_ROWS, Section, naming, table

FILE = "generative_search.parquet"


def section(folder: Path, summary: dict[str, Any]) -> Section:
    """Build it from generative_search.parquet."""
    rows = read_table(folder / FILE).slice(0, MAX_ROWS).to_pylist()
    columns = {
        "question": "text", "first passage": "text", "score": "share", "found by": "text",
        "n-grams": "count", "passages": "count",
    }  # fmt: skip
    cells = [
        [
            f"{row['question']} · {row['query_id']}",
            naming(row["title"], row["first"]) if row["first"] is not None else "nothing found",
            row["score"], row["keys"] or "", row["n_keys"], row["hits"],
        ]
        for row in rows
    ]  # fmt: skip
    questions, shares = summary["questions"], summary["view_shares"]
    total = questions["total"]
    views = [[view, share] for view, share in shares.items()]
    tables = {
        "generative_questions": table(columns, cells, total=total),
        "generative_views": table({"scores come from": "text", "share": "share"}, views),
    }
    brief = f"{questions['answered']:,} of {total:,} questions answered by {summary['mode']}"
    return Section({}, tables, brief)
