"""Measure one table of a paper, every cell that can be measured here (`research reproduce`)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa

from argus.data.folders import MANIFEST, ArtifactFolder
from argus.data.reading import WRITTEN, reading
from argus.data.writing import one_writer
from argus.errors import ArgusError
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.llm.config import ChatConfig, LocalConfig
from argus.progress import passed, remark
from argus.suite.config import ReproduceConfig
from argus.suite.recipes import Entry, Recipe, names, read_recipe
from argus.suite.requests import BenchmarkRequest, Figures, Measured, Place, which_measured
from argus.suite.sources import KINDS, FailureRequest, how_counted
from argus.suite.tables import TABLES, Figure, Sheet, write_sheets

JOB = "reproduce"


@dataclass(frozen=True, repr=False)
class ReproduceResult(Result):
    """A published table beside the measured one. Everything in it is also in `folder`.

    Keys of the summary:
    recipe, title: names of the recipe and of the table.
    source: paper and table.
    note: remarks for the reader.
    measured, failed, not_run: numbers of cells.
    cells: row, column, published and measured (values in the unit of the paper, or None), state
    (measured, failed or not run) and reason of each cell.
    """

    TABLES = ("table",)
    folder: Path
    data: Path
    """The folder called DATA in reasons and notes."""
    summary: dict[str, Any]
    table: pa.Table
    """One row per cell."""
    sheet: Sheet
    """The table of OUT/tables."""

    def headline(self) -> Iterator[str]:
        """Yield the table, a line per row: measured, and the published value after a bar.

        Rows and columns without any run cell are left out, unless nothing was run at all.
        """
        summary, digits = self.summary, self.sheet.digits
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
        if more := len(summary["cells"]) - len(rows) * len(columns):
            yield (
                f"{more:,} more cells, in rows and columns where nothing was run, are in the table"
            )
        yield from _reasons(summary["cells"])
        if summary["note"]:
            yield summary["note"]
        if far := difference(summary["cells"]):
            yield (
                f"{_count(far['cells'])} beside a published number: {far['mean']:,.{digits}f} "
                f"apart in the mean, {far['largest']:,.{digits}f} at most "
                f"({far['row']}, {far['column']})"
            )
        if summary["not_run"]:
            yield f"DATA: {self.data}"
        yield f"table: {self.folder / TABLES}"


def recipes(
    data: Path | str | None = None,
    out: Path | str = "argus-out",
    model: ChatConfig | LocalConfig | None = None,
) -> list[dict[str, Any]]:
    """Return all recipes, and how many cells of each are measured here. Nothing is run.

    model: as for `reproduce`. Keys of each:

    name, title: names of the recipe and of the table.
    source: paper and table.
    here: cells that are measured here.
    perhaps: further cells of which only a run can tell.
    cells: cells of the table.
    seconds: seconds of its last run into `out`. None if there was none.
    """
    minutes = ReproduceConfig().minutes
    return [_describe(*_open(name, Path(out), data, minutes, model)) for name in names()]


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
    place, recipe = _open(name, Path(out), data, config.minutes, model)
    folder = ArtifactFolder(place.home, fresh=fresh)
    settings = {"recipe": name, "data": str(place.data), "minutes": config.minutes}
    record = Record(JOB, settings | ({"model": model.identity} if model else {}), {})
    record.open(folder)
    remark(f"{name}: {_promise(_describe(place, recipe)).strip()}")
    lacking = {cell: place.named(_lacking(cell, place)) for cell in recipe.cells}
    ready = [part for cell, why in lacking.items() if not why for part in cell.parts]
    figures: Figures = {}
    for kind in KINDS:
        runs: dict[str, list[Measured]] = {}
        for request in dict.fromkeys(part for part in ready if type(part) is kind):
            runs.setdefault(request.run, []).append(request)
        if runs:
            with record.timed(kind.__name__):
                for requests in runs.values():
                    try:
                        figures |= kind.compute(requests, place)
                    except (ArgusError, OSError) as error:
                        figures |= dict.fromkeys(requests, error)
    cells = [_fill(cell, lacking[cell], figures, recipe.scale, place) for cell in recipe.cells]
    states = Counter(cell["state"] for cell in cells)
    counts = {"measured": states["measured"], "failed": states["failed"]}
    summary = {
        "recipe": recipe.name, "title": recipe.title, "source": recipe.source, "note": recipe.note,
        **counts, "not_run": states["not run"], "cells": cells,
    }  # fmt: skip
    sheet = _make_sheet(recipe, cells)
    table = pa.Table.from_pylist(cells)
    write_sheets(folder, [sheet])
    folder.write_table("cells", table, csv=True)
    folder.write_results(JOB, summary, record.manifest(counts))
    return ReproduceResult(folder.path, place.data, summary, table, sheet)


def _open(
    name: str,
    out: Path,
    data: Path | str | None,
    minutes: float,
    model: ChatConfig | LocalConfig | None,
) -> tuple[Place, Recipe]:
    root = Path(os.environ.get("ARGUS_SHARED", "shared")) / "data" if data is None else Path(data)
    shared = out / "shared"
    stdlib = root / "stdlib" if (root / "stdlib").is_dir() else shared / "stdlib"
    recipe = read_recipe(name, {"data": root, "stdlib": stdlib})
    place = Place(root, stdlib, out / name, shared, minutes, model, recipe.suite)
    notes, requests = [recipe.note], [cell.parts[0] for cell in recipe.cells if cell.parts]
    if any(isinstance(request, FailureRequest) for request in requests):
        notes.append(how_counted(place))
    of_benchmarks = [request for request in requests if isinstance(request, BenchmarkRequest)]
    notes += map(place.named, which_measured(of_benchmarks))
    return place, replace(recipe, note=" ".join(filter(None, notes)))


def _describe(place: Place, recipe: Recipe) -> dict[str, Any]:
    ready = [cell.parts for cell in recipe.cells if not _lacking(cell, place)]
    here = sum(all(part.is_sure for part in parts) for parts in ready)
    section: Any = ArtifactFolder(place.home).read_json(MANIFEST).get(JOB)
    with reading(place.home / MANIFEST, expected="the file as Argus wrote it", fix=WRITTEN):
        seconds = None if section is None else sum(section["timings_s"].values())
    return {
        "name": recipe.name, "title": recipe.title, "source": recipe.source, "here": here,
        "perhaps": len(ready) - here, "cells": len(recipe.cells), "seconds": seconds,
    }  # fmt: skip


def _lacking(cell: Entry, place: Place) -> str:
    """Return the reason why a cell cannot be measured here, or an empty text."""
    if not cell.parts:
        return cell.reason
    return next(filter(None, (part.lacking(place) for part in cell.parts)), "")


def _fill(
    cell: Entry, lacking: str, figures: Figures, scale: float, place: Place
) -> dict[str, Any]:
    """Return a cell of the summary."""
    values = [figures[part] for part in cell.parts] if not lacking else [lacking]
    why = next((value for value in values if isinstance(value, str | Exception)), "")
    state = "failed" if isinstance(why, Exception) else "not run" if why else "measured"
    numbers = [value for value in values if isinstance(value, float | int)]
    return {
        "row": cell.row,
        "column": cell.column,
        "published": cell.published,
        "measured": None if why else fmean(numbers) * scale,
        "state": state,
        "reason": place.named(str(why)) if state == "failed" else why,
    }


def _make_sheet(recipe: Recipe, cells: Sequence[Mapping[str, Any]]) -> Sheet:
    """Return the table with two columns for each of the paper's: measured, and published."""
    body: list[list[str | int | Figure]] = [[row] for row in recipe.rows]
    for i, cell in enumerate(cells):
        missing = "" if cell["state"] == "measured" else cell["state"]
        pair = Figure(cell["measured"], missing=missing), Figure(cell["published"])
        body[i // len(recipe.columns)] += pair
    heads = [f"{column}{end}" for column in recipe.columns for end in ("", ", published")]
    return Sheet(
        recipe.name, f"{recipe.title} ({recipe.source})", ["", *heads], body, recipe.digits,
        [*_reasons(cells), *filter(None, [recipe.note])],
    )  # fmt: skip


def _reasons(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each reason why cells were not measured, with the number of cells."""
    missing = Counter((c["state"], c["reason"]) for c in cells if c["state"] != "measured")
    for (state, reason), n in missing.items():
        yield f"{state}, {_count(n)}: {reason}"


def _count(n: int) -> str:
    return f"{n} cell{'' if n == 1 else 's'}"


def difference(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the distance of measured cells from published ones, or None if no cell has both.

    cells: cells that have both.
    mean, largest: mean and largest absolute difference.
    row, column: place of the largest.
    """
    gaps = [
        (abs(cell["measured"] - cell["published"]), cell) for cell in cells
        if cell["measured"] is not None and cell["published"] is not None
    ]  # fmt: skip
    if not gaps:
        return None
    largest, at = max(gaps, key=lambda pair: pair[0])
    mean = sum(gap for gap, _ in gaps) / len(gaps)
    return {
        "cells": len(gaps), "mean": mean, "largest": largest, "row": at["row"],
        "column": at["column"],
    }  # fmt: skip


def listed_lines(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line per recipe, and the next command."""
    for recipe in listed:
        took = "" if recipe["seconds"] is None else f" (its last run: {passed(recipe['seconds'])})"
        yield f"{recipe['name']:<14} {_promise(recipe)}: {recipe['title']}{took}"
    here = sum(recipe["here"] > 0 for recipe in listed)
    perhaps = sum(recipe["perhaps"] > 0 and not recipe["here"] for recipe in listed)
    more = f", {perhaps} more perhaps" if perhaps else ""
    yield (
        f"{here} of {len(listed)} tables have cells that are measured here{more}; of the others "
        "argus research reproduce NAME says which model or data each wants"
    )
    first = max(listed, key=lambda recipe: recipe["here"] / recipe["cells"])["name"]
    yield f"one of them: argus research reproduce {first}"
    if any(recipe["perhaps"] for recipe in listed):
        yield "perhaps: only the run can tell, by what its model writes or how many questions fit"


def _promise(recipe: Mapping[str, Any]) -> str:
    """Return how many cells a run measures here, and of how many only that run can tell."""
    perhaps = f", {recipe['perhaps']} more perhaps" if recipe["perhaps"] else ""
    return f"{recipe['here']:>3} of {recipe['cells']:>3} cells here{perhaps}"
