"""The demonstration's part of summary.json, and its section."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from argus.data.tables import read_records
from argus.reports.section import Section, table


class QuestionRow(TypedDict):
    """One row per judged question of the demo.

    wanted: ids of the relevant entities, parted by ", ".
    rank: best rank of a wanted entity, None beyond the depth of the search.
    rps: RPS of the entity of that rank, None without a score.
    first: id of the first result.
    implicit: whether it shares no content word with a relevant name.
    """

    query_id: str
    question: str
    wanted: str
    rank: int | None
    rps: float | None
    first: str
    implicit: bool


class QuestionGroup(TypedDict):
    """Some of the questions, and the measures over them.

    name: name of the group.
    queries: questions of the group.
    """

    name: str
    queries: int
    measures: dict[str, float]


class QuestionsSummary(TypedDict):
    """The figures of the judged questions.

    queries: questions that were asked.
    implicit: questions that share no content word with a relevant name.
    """

    queries: int
    implicit: int
    groups: list[QuestionGroup]


class DemoSummary(TypedDict, total=False):
    """summary.json: a section per job. Here stand those that are read back. It has others."""

    questions: QuestionsSummary
    index: dict[str, Any]
    diagnosis: dict[str, Any]
    blend: dict[str, Any]
    remedy: dict[str, Any]


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
