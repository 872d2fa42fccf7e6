"""Measure one table of a paper, every cell that can be measured here (`argus reproduce`)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Literal

import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.folders import MANIFEST, ArtifactFolder, ManifestSection
from argus.data.reading import read_record
from argus.data.writing import one_writer
from argus.errors import ArgusError
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.llm.config import ChatConfig, LocalConfig
from argus.progress import passed, remark
from argus.suite.config import ReproduceConfig
from argus.suite.recipes import (
    BenchmarkRequest,
    Entry,
    FailureRequest,
    Measured,
    Recipe,
    names,
    read_recipe,
)
from argus.suite.released import which_measured
from argus.suite.sources import (
    SOURCES,
    Failed,
    Figures,
    Setting,
    Source,
    how_counted,
)
from argus.suite.tables import TABLES, Figure, Sheet, write_sheets

JOB = "reproduce"
STDLIB, SHARED = "stdlib", "shared"


class ReproducedCell(TypedDict):
    """One row per cell of the table, in the unit of the paper.

    row: row of the table.
    column: column of the table.
    published: value of the paper. None without one.
    measured: value that was measured. None without one.
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
    note: remarks for the reader.
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
    """Distance of measured cells from the published ones.

    cells: cells that have both.
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
    """A recipe in the list of all.

    name: name of the recipe.
    title: title of the table.
    source: paper and table.
    here: cells that are measured here.
    perhaps: further cells of which only a run can tell.
    cells: cells of the table.
    seconds: seconds of its last run into the folder. None if there was none.
    """

    name: str
    title: str
    source: str
    here: int
    perhaps: int
    cells: int
    seconds: float | None


@dataclass(frozen=True, repr=False)
class ReproduceResult(Result):
    """A published table beside the measured one. Everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    data: Path
    """The folder called DATA in reasons and notes."""
    summary: ReproduceSummary
    table: pa.Table
    """One row per cell."""
    sheet: Sheet
    """The table of OUT/tables."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from headline(self.summary, self.sheet.digits)
        if self.summary["not_run"]:
            yield f"DATA: {self.data}"
        yield f"table: {self.folder / TABLES}"


def recipes(
    data: Path | str | None = None,
    out: Path | str = "argus-out",
    model: ChatConfig | LocalConfig | None = None,
) -> list[ListedRecipe]:
    """Return all recipes, and how many cells of each are measured here. Nothing is run.

    model: as for `reproduce`. Recipes that were run into `out` have the time that took.
    """
    config = ReproduceConfig()
    return [_list_recipe(*_open_recipe(name, Path(out), data, config, model)) for name in names()]


@one_writer
def reproduce(
    name: str,
    *,
    out: Path | str,
    data: Path | str | None = None,
    config: ReproduceConfig | None = None,
    model: ChatConfig | LocalConfig | None = None,
    fresh: bool = False,
) -> ReproduceResult:
    """Measure a table of a paper, as far as models and data are here, beside the published one.

    name: of a recipe, such as "car-9" (see `recipes`). data: the folder of data sets that recipes
    name, by default $ARGUS_SHARED/data, else shared/data. Results that take long are under
    OUT/shared for all recipes. model: answers in tables of answers. Without it, no model is asked.
    Raises InputError for an unknown recipe.
    """
    config = config or ReproduceConfig()
    setting, recipe = _open_recipe(name, Path(out), data, config, model)
    folder = ArtifactFolder(setting.home, fresh=fresh)
    settings = {"recipe": name, "data": str(setting.data), "minutes": config.minutes}
    record = Record(JOB, settings | ({"model": model.identity} if model else {}), {})
    record.open(folder)
    remark(f"{name}: {promise(_list_recipe(setting, recipe)).strip()}")
    lacking = {cell: setting.named(_lacking(cell, setting)) for cell in recipe.cells}
    ready = [part for cell, why in lacking.items() if not why for part in cell.parts]
    figures: Figures = {}
    for kind, source in SOURCES.items():
        if requests := list(dict.fromkeys(part for part in ready if type(part) is kind)):
            with record.timed(source.title):
                figures |= _measure(source, requests, setting)
    cells = [_fill_cell(cell, lacking[cell], figures, recipe.scale) for cell in recipe.cells]
    states = Counter(cell["state"] for cell in cells)
    summary: ReproduceSummary = {
        "recipe": recipe.name, "title": recipe.title, "source": recipe.source, "note": recipe.note,
        "measured": states["measured"], "failed": states["failed"], "not_run": states["not run"],
        "cells": cells,
    }  # fmt: skip
    sheet = _make_sheet(recipe, summary)
    table = pa.Table.from_pylist([dict(cell) for cell in cells])
    write_sheets(folder, [sheet])
    folder.write_table("cells", table, csv=True)
    counts = {"measured": summary["measured"], "failed": summary["failed"]}
    folder.write_results(JOB, summary, record.manifest(counts))
    return ReproduceResult(folder.path, setting.data, summary, table, sheet)


def _open_recipe(
    name: str,
    out: Path,
    data: Path | str | None,
    config: ReproduceConfig,
    model: ChatConfig | LocalConfig | None,
) -> tuple[Setting, Recipe]:
    root = Path(os.environ.get("ARGUS_SHARED", "shared")) / "data" if data is None else Path(data)
    own = root / STDLIB
    stdlib = own if own.is_dir() else out / SHARED / STDLIB
    recipe = read_recipe(name, {"data": root, "stdlib": stdlib})
    home, shared = out / name, out / SHARED
    setting = Setting(root, stdlib, home, shared, config.minutes, model, recipe.suite)
    notes, requests = [recipe.note], [cell.parts[0] for cell in recipe.cells if cell.parts]
    if any(isinstance(request, FailureRequest) for request in requests):
        notes.append(how_counted(setting))
    of_benchmarks = [request for request in requests if isinstance(request, BenchmarkRequest)]
    notes += map(setting.named, which_measured(of_benchmarks))
    return setting, replace(recipe, note=" ".join(filter(None, notes)))


def _list_recipe(setting: Setting, recipe: Recipe) -> ListedRecipe:
    ready = [cell.parts for cell in recipe.cells if not _lacking(cell, setting)]
    here = sum(all(SOURCES[type(part)].is_sure(part) for part in parts) for parts in ready)
    sections, seconds = ArtifactFolder(setting.home).read_json(MANIFEST), None
    if JOB in sections:
        where = setting.home / MANIFEST
        section = read_record(ManifestSection, sections[JOB], where=where, section=JOB)
        seconds = sum(section["timings_s"].values())
    return {
        "name": recipe.name, "title": recipe.title, "source": recipe.source, "here": here,
        "perhaps": len(ready) - here, "cells": len(recipe.cells), "seconds": seconds,
    }  # fmt: skip


def _lacking(cell: Entry, setting: Setting) -> str:
    """Return the reason why a cell cannot be measured here, or an empty text."""
    if not cell.parts:
        return cell.reason
    reasons = (SOURCES[type(part)].lacking(part, setting) for part in cell.parts)
    return next(filter(None, reasons), "")


def _measure(source: Source, requests: Sequence[Measured], setting: Setting) -> Figures:
    """Measure requests run by run. The requests of a run that fails get the reason."""
    figures: Figures = {}
    for run in dict.fromkeys(map(source.run, requests)):
        group = [request for request in requests if source.run(request) == run]
        try:
            figures |= source.measure(group, setting)
        except (ArgusError, OSError) as error:
            figures |= dict.fromkeys(group, Failed(setting.named(str(error))))
    return figures


def _fill_cell(cell: Entry, lacking: str, figures: Figures, scale: float) -> ReproducedCell:
    value: float | str | Failed = lacking
    if cell.parts and not lacking:
        values = [figures[part] for part in cell.parts]
        none = next((value for value in values if isinstance(value, str | Failed)), None)
        value = fmean(v for v in values if isinstance(v, float | int)) if none is None else none
    why = value.reason if isinstance(value, Failed) else value if isinstance(value, str) else ""
    return {
        "row": cell.row,
        "column": cell.column,
        "published": cell.published,
        "measured": value * scale if isinstance(value, float | int) else None,
        "state": "failed" if isinstance(value, Failed) else "not run" if why else "measured",
        "reason": why,
    }


def _make_sheet(recipe: Recipe, summary: ReproduceSummary) -> Sheet:
    """Return the table with two columns for each of the paper's: measured, and published."""

    def pair(cell: ReproducedCell) -> tuple[Figure, Figure]:
        missing = "" if cell["state"] == "measured" else cell["state"]
        return Figure(cell["measured"], missing=missing), Figure(cell["published"])

    cells = {(cell["row"], cell["column"]): cell for cell in summary["cells"]}
    body: list[list[str | int | Figure]] = [
        [row, *(figure for column in recipe.columns for figure in pair(cells[row, column]))]
        for row in recipe.rows
    ]
    heads = [f"{column}{end}" for column in recipe.columns for end in ("", ", published")]
    return Sheet(
        recipe.name, f"{recipe.title} ({recipe.source})", ["", *heads], body, recipe.digits,
        [*reasons(summary), *filter(None, [recipe.note])],
    )  # fmt: skip


def headline(summary: ReproduceSummary, digits: int) -> Iterator[str]:
    """Yield the table, a line per row: measured, and the published value after a bar.

    Rows and columns without any run cell are left out, unless nothing was run at all.
    """
    yield f"{summary['recipe']}: {summary['title']} ({summary['source']})"
    yield "measured | published"
    run = [c for c in summary["cells"] if c["state"] != "not run"] or summary["cells"]
    columns = list(dict.fromkeys(cell["column"] for cell in run))
    rows = list(dict.fromkeys(cell["row"] for cell in run))
    texts: dict[tuple[str, str], str] = {}
    for cell in summary["cells"]:
        measured, published = cell["measured"], cell["published"]
        left = cell["state"] if measured is None else f"{measured:,.{digits}f}"
        right = "-" if published is None else f"{published:,.{digits}f}"
        texts[cell["row"], cell["column"]] = f"{left} | {right}"
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
    """Return the distance of measured cells from published ones, or None if no cell has both."""
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
    """Yield a line per recipe, and the next command."""
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
    """Yield each reason why cells were not measured, with the number of cells."""
    missing = [cell for cell in summary["cells"] if cell["state"] != "measured"]
    counts: Mapping[tuple[str, str], int] = Counter((c["state"], c["reason"]) for c in missing)
    for (state, reason), n in counts.items():
        yield f"{state}, {n} cell{'' if n == 1 else 's'}: {reason}"
