"""The section of the demo's judged questions."""

from __future__ import annotations

from pathlib import Path

from argus.data.parquet import read_records
from argus.demo.summary import QuestionRow, QuestionsSummary
from argus.reports.section import Section, table


def section(folder: Path, questions: QuestionsSummary) -> Section:
    """Build it from questions.parquet, worst rank first."""
    rows = read_records(QuestionRow, folder / "questions.parquet")
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
