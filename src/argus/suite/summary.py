"""What a suite tells: a row per retriever, remedy and task, and per average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from typing_extensions import TypedDict

from argus.measures.significance import DifferenceFigures, with_interval

Scope = Literal["task", "group", "all"]


class CellCounts(TypedDict):
    """Cells by what became of them. kept: of those measured, by an earlier run."""

    total: int
    measured: int
    kept: int
    failed: int


class SuiteRow(TypedDict):
    """One retriever under one remedy, on a task, or averaged over a benchmark or over all tasks.

    name: of task or benchmark. reason: why a cell failed, or what is doubtful about one that was
    measured, such as a remedy that changed nothing. comparison: by the headline measure, against
    the original; None for the original itself, and where one of the two was not measured.
    mean_rank, median_rank: of the first relevant document; None where k hides some.
    """

    retriever: str
    remedy: str
    scope: Scope
    name: str
    state: Literal["measured", "failed"]
    reason: str
    queries: int
    queries_failed: int
    measures: dict[str, float]
    comparison: DifferenceFigures | None
    mean_rank: float | None
    median_rank: float | None


class EncodedTexts(TypedDict):
    """The vectors that the store of an encoder holds."""

    retriever: str
    vectors: int


class SuiteTaskNote(TypedDict):
    """A task as the suite has it. metrics: its own."""

    name: str
    group: str
    shown: bool
    documents: int
    queries: int
    metrics: list[str]


class SuiteSummary(TypedDict):
    """The figures of a suite. tables: files under OUT/tables, without their endings."""

    k: int
    measures: list[str]
    headline: str
    cells: CellCounts
    tasks: list[SuiteTaskNote]
    rows: list[SuiteRow]
    encoded: list[EncodedTexts]
    tables: list[str]


def headline(summary: SuiteSummary) -> Iterator[str]:
    """Yield a line per retriever and remedy with its average, then what failed."""
    counts = summary["cells"]
    yield (
        f"{counts['measured']:,} of {counts['total']:,} cells measured, {counts['kept']:,} of them "
        f"by an earlier run; {counts['failed']:,} failed"
    )
    measure = summary["headline"]
    for row in summary["rows"]:
        if row["scope"] == "all" and row["state"] == "measured":
            against, change = row["comparison"], ""
            if against is not None:
                harmed = f"harmed {against['harmed']:,}, improved {against['improved']:,}"
                change = f", {with_interval(against)} {against['verdict']}".rstrip() + f", {harmed}"
            value = row["measures"][measure]
            yield f"{row['retriever']}, {row['remedy']}: {measure} {value:.3f}{change}"
    for row in summary["rows"]:
        if row["scope"] == "task" and row["state"] == "failed":
            yield f"failed: {row['retriever']} x {row['remedy']} x {row['name']}: {row['reason']}"
