"""What a suite tells: a row per retriever, remedy and task, and per average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from typing_extensions import TypedDict

from argus.measures.significance import DifferenceFigures, with_interval

Scope = Literal["task", "group", "all"]


class CellCounts(TypedDict):
    """Cells by what became of them.

    total: cells of the suite.
    measured: cells that were measured.
    kept: of these, cells that an earlier run measured.
    failed: cells that failed.
    """

    total: int
    measured: int
    kept: int
    failed: int


class SuiteRow(TypedDict):
    """One retriever under one remedy, on a task, or averaged over a benchmark or over all tasks.

    remedy: name of the remedy; original without one.
    scope: task, group (an average over a benchmark) or all.
    name: task or benchmark.
    reason: why a cell failed, or what is doubtful about it.
    queries: queries that were measured.
    queries_failed: queries that failed.
    comparison: headline measure against the original; None for that, or where one is missing.
    mean_rank, median_rank: rank of the first relevant document; None where k hides some.
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
    """The vectors that the store of an encoder holds.

    vectors: vectors in its store.
    """

    retriever: str
    vectors: int


class SuiteTaskNote(TypedDict):
    """A task as the suite has it.

    name: name of the task.
    group: benchmark that it belongs to.
    shown: whether tables show it.
    documents: documents of the task.
    queries: queries of the task.
    metrics: measures of its own.
    """

    name: str
    group: str
    shown: bool
    documents: int
    queries: int
    metrics: list[str]


class SuiteSummary(TypedDict):
    """The figures of a suite.

    measures: measures that were taken.
    headline: measure that remedies are judged by.
    rows: a row per cell, and per average.
    encoded: vectors that stores hold.
    tables: files under OUT/tables, without their endings.
    """

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
