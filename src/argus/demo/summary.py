"""Build the report's section on the demo's judged questions, worst rank first.

`questions.parquet`, which `argus demo` writes -> a table for the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.reports.section import Section, table


def section(folder: Path, questions: Mapping[str, Any]) -> Section:
    """Build it from questions.parquet, worst rank first."""
    rows = read_table(folder / "questions.parquet").to_pylist()
    rows.sort(key=lambda row: (-(row["rank"] or 1 << 30), row["query_id"]))
    columns = {
        "question": "text",
        "wanted": "text",
        "rank (none: over 1,000)": "count",
        "RPS of wanted": "share",
        "returned first": "text",
    }
    values = [
        [row["question"], row["wanted"], row["rank"], row["rps"], row["first"]] for row in rows
    ]
    overall = questions["groups"][0]
    brief = (
        f"nDCG@10 {overall['measures']['nDCG@10']:.3f} on {overall['queries']:,} judged ones, "
        f"{questions['implicit']:,} of them without a word of the name they ask for"
    )
    return Section(tables={"questions": table(columns, values)}, brief=brief)
