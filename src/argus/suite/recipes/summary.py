"""What a reproduction tells: every cell of a published table, measured, or why it was not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from typing_extensions import TypedDict

from argus.progress import passed


class ReproducedCell(TypedDict):
    """One row per cell of the table, in the unit of the paper.

    row: row of the table.
    column: column of the table.
    published: value of the paper; None without one.
    measured: value that was measured; None without one.
    state: measured, failed or not run.
    """

    row: str
    column: str
    published: float | None
    measured: float | None
    state: Literal["measured", "failed", "not run"]
    reason: str


class ReproduceSummary(TypedDict):
    """A table of a paper.

    recipe: name of the recipe.
    title: title of the table.
    source: paper and table.
    note: what a reader should know; empty for nothing.
    measured: cells that were measured.
    failed: cells that failed.
    not_run: cells that were not run.
    """

    recipe: str
    title: str
    source: str
    note: str
    measured: int
    failed: int
    not_run: int
    cells: list[ReproducedCell]


class Difference(TypedDict):
    """How far cells are from what was published, over those that have both.

    cells: cells with both.
    mean: mean absolute difference.
    largest: largest absolute difference.
    row: row of the largest.
    column: column of the largest.
    """

    cells: int
    mean: float
    largest: float
    row: str
    column: str


class ListedRecipe(TypedDict):
    """A recipe as it is listed.

    name: name of the recipe.
    title: title of the table.
    source: paper and table.
    here: cells that are measured here.
    perhaps: further cells of which only a run can tell.
    cells: cells of the table.
    seconds: seconds that its last run into the folder took; None where it was not run there.
    """

    name: str
    title: str
    source: str
    here: int
    perhaps: int
    cells: int
    seconds: float | None


def headline(summary: ReproduceSummary, digits: int) -> Iterator[str]:
    """Yield the table, a line per row: measured, and the published value after a bar.

    Rows and columns where nothing was run are left out, unless nothing was run at all.
    """
    yield f"{summary['recipe']}: {summary['title']} ({summary['source']})"
    yield "measured | published"
    run = [c for c in summary["cells"] if c["state"] != "not run"] or summary["cells"]
    columns = list(dict.fromkeys(cell["column"] for cell in run))
    rows = list(dict.fromkeys(cell["row"] for cell in run))
    cells = {(cell["row"], cell["column"]): cell for cell in summary["cells"]}
    texts = {key: _text(cell, digits) for key, cell in cells.items()}
    width = max(map(len, rows))
    widths = {c: max(len(c), *(len(texts[row, c]) for row in rows)) for c in columns}
    yield "  ".join(["".ljust(width), *(c.ljust(widths[c]) for c in columns)]).rstrip()
    for row in rows:
        parts = (texts[row, column].ljust(widths[column]) for column in columns)
        yield "  ".join([row.ljust(width), *parts]).rstrip()
    hidden = len(summary["cells"]) - len(rows) * len(columns)
    if hidden:
        yield f"{hidden:,} more cells, in rows and columns where nothing was run, are in the table"
    yield from reasons(summary)
    if summary["note"]:
        yield summary["note"]
    if far := difference(summary["cells"]):
        yield (
            f"{far['cells']} cell{'' if far['cells'] == 1 else 's'} beside a published number: "
            f"{far['mean']:,.{digits}f} apart in the mean, {far['largest']:,.{digits}f} at most "
            f"({far['row']}, {far['column']})"
        )


def difference(cells: Sequence[ReproducedCell]) -> Difference | None:
    """Return how far measured cells are from published ones; None where none has both."""
    both = [
        (abs(cell["measured"] - cell["published"]), cell) for cell in cells
        if cell["measured"] is not None and cell["published"] is not None
    ]  # fmt: skip
    if not both:
        return None
    largest, at = max(both, key=lambda pair: pair[0])
    mean = sum(gap for gap, _ in both) / len(both)
    return {
        "cells": len(both), "mean": mean, "largest": largest, "row": at["row"],
        "column": at["column"],
    }  # fmt: skip


def listed_lines(listed: Sequence[ListedRecipe]) -> Iterator[str]:
    """Yield a line per recipe, and what to do next."""
    for recipe in listed:
        took = "" if recipe["seconds"] is None else f" (its last run: {passed(recipe['seconds'])})"
        yield f"{recipe['name']:<14} {promise(recipe)}: {recipe['title']}{took}"
    here = sum(recipe["here"] > 0 for recipe in listed)
    perhaps = sum(recipe["perhaps"] > 0 and not recipe["here"] for recipe in listed)
    more = f", {perhaps} more perhaps" if perhaps else ""
    yield (
        f"{here} of {len(listed)} tables have cells that are measured here{more}; of the others "
        "argus reproduce NAME says which model or data each wants"
    )
    first = max(listed, key=lambda recipe: recipe["here"] / recipe["cells"])["name"]
    yield f"one of them: argus reproduce {first}"
    if any(recipe["perhaps"] for recipe in listed):
        yield "perhaps: only the run can tell, by what its model writes or how many questions fit"


def promise(recipe: ListedRecipe) -> str:
    """Return how many cells a run measures here, and of how many only that run can tell."""
    perhaps = f", {recipe['perhaps']} more perhaps" if recipe["perhaps"] else ""
    return f"{recipe['here']:>3} of {recipe['cells']:>3} cells here{perhaps}"


def reasons(summary: ReproduceSummary) -> Iterator[str]:
    """Yield why cells were not measured, each reason once with how many it holds for."""
    counts: dict[tuple[str, str], int] = {}
    for cell in summary["cells"]:
        if cell["state"] != "measured":
            key = cell["state"], cell["reason"]
            counts[key] = counts.get(key, 0) + 1
    for (state, reason), n in counts.items():
        yield f"{state}, {n} cell{'' if n == 1 else 's'}: {reason}"


def _text(cell: ReproducedCell, digits: int) -> str:
    left = cell["state"] if cell["measured"] is None else f"{cell['measured']:,.{digits}f}"
    right = "-" if cell["published"] is None else f"{cell['published']:,.{digits}f}"
    return f"{left} | {right}"
