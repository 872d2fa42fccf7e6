"""`argus research reproduce`: measure a published table of a paper, as far as this machine can.

`argus research recipes` lists the tables. A recipe is one table with its numbers and the request
that measures each cell here: TOML, a file for each paper. A cell has the keys of its column and of
its row, the row's first. `reason` says why Argus cannot measure a cell at all. A column with
`mean_of` has the means of other columns, which it names. `aggregate` is the place of a cell in the
paper's own data: a file in DATA/thesis_figures, and its keys, spaces between. {KEY} in it stands
for another key of the cell. The requests are in `argus.suite.requests` and `argus.suite.sources`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.reading import parse_json, read_text, read_toml, reading
from argus.data.writing import one_writer
from argus.data.yaml_file import nearest
from argus.errors import ArgusError, InputError
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.progress import remark
from argus.settings import Doc, Gt, Option
from argus.suite.config import Suite
from argus.suite.reading import Table, suite_of
from argus.suite.requests import BenchmarkRequest, Figures, Measured, Place, which_measured
from argus.suite.sources import KINDS, FailureRequest, how_counted
from argus.visible import aligned

JOB = "reproduce"
MINUTES = 4.0
ReproducedData = Annotated[
    Path | str | None, Doc("Folder of data sets; default: $ARGUS_SHARED/data, else shared/data.")
]
HOME = Path(str(files("argus.suite"))) / "published"
OF_CELLS = ("aggregate", "factor")
ABOUT = ("title", "source", "note", "scale", "digits", "columns", "rows", *OF_CELLS)
Values = Mapping[str, Any]
OWN_DATA = "thesis_figures"
MAX_NAMED = 5


@dataclass(frozen=True)
class Entry:
    """A cell of a published table.

    published: as printed, None if nothing is. parts: figures to measure, of which the cell is the
    mean, nearly always one. reason: why there are none. aggregate, factor: its place in the paper's
    own data, and the factor from their unit to the table's.
    """

    row: str
    column: str
    published: float | None
    parts: tuple[Measured, ...] = ()
    reason: str = ""
    aggregate: str = ""
    factor: float = 1.0

    @classmethod
    def read(cls, row: Values, column: Values, number: int, table: Values) -> Entry:
        """Read a cell, with its request unless it is a mean. number: of its column."""
        printed = row.get("published", [])[number : number + 1]
        published = float(printed[0]) if printed and not isinstance(printed[0], str) else None
        values = {name: table[name] for name in OF_CELLS if name in table} | {**column, **row}
        values["aggregate"] = values.get("aggregate", "").format(**values)
        values["weight"] = values.get("lambda", 1.0)
        if "average" in values:
            values["task"] = ""
        about = {f.name: values[f.name] for f in fields(cls)[4:] if f.name in values}
        cell = cls(row["name"], column["name"], published, **about)
        if cell.reason or "mean_of" in column:
            return cell
        for kind in KINDS:
            given = {f.name: values[f.name] for f in fields(kind) if f.name in values}
            if all(f.name in given for f in fields(kind) if f.default is MISSING):
                return replace(cell, parts=(kind(**given),))
        return replace(cell, reason="nothing in Argus measures it")

    def own(self, data: Path) -> float | None:
        """Return its figure in the paper's own data, in the table's unit. None if not there."""
        place, *keys = self.aggregate.split() or ("",)
        if not (file := data / OWN_DATA / place).is_file():
            return None
        form, fix = f"a number at {' '.join(keys)}", "Take the file as it was published."
        value = parse_json(read_text(file, form))
        with reading(file, expected=form, fix=fix):
            for key in keys:
                if isinstance(value, list):  # of objects, whose first value is their name
                    value = {str(next(iter(each.values()))): each for each in value}
                value = value[key]
            return float(value) * self.factor

    def lacking(self, place: Place) -> str:
        """Return the reason why it cannot be measured here, or an empty text."""
        if not self.parts:
            return self.reason
        return next(filter(None, chain.from_iterable(p.lacking(place) for p in self.parts)), "")

    def filled(self, lacking: str, figures: Figures, scale: float, place: Place) -> dict[str, Any]:
        """Return it as the summary has it. figures: of all requests that lack nothing."""
        values: list[float | str | Exception | None] = [lacking]
        if not lacking:
            found = ((part, figures[part]) for part in self.parts)
            values = [part.none if value is None else value for part, value in found]
        why = next((value for value in values if isinstance(value, str | Exception)), "")
        state = "failed" if isinstance(why, Exception) else "not run" if why else "measured"
        numbers = [value for value in values if isinstance(value, float | int)]
        return {
            "row": self.row, "column": self.column, "published": self.published,
            "aggregate": self.own(place.data),
            "measured": None if why else fmean(numbers) * scale, "state": state,
            "reason": place.named(str(why)) if state == "failed" else why,
        }  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """A published table. scale: factor from our figures to theirs. suite: the grid of its file."""

    name: str
    title: str
    source: str
    note: str
    scale: float
    digits: int
    cells: list[Entry]
    suite: Suite | None


@cache
def _published() -> dict[str, Any]:
    """Return the published tables of all papers, by name."""
    return {
        name: of for file in sorted(HOME.glob("*.toml")) for name, of in read_toml(file).items()
    }


def names() -> list[str]:
    """Return the names of all recipes: by paper, then by table."""
    return [*_published()]


def read_recipe(name: str, places: Mapping[str, Path]) -> Recipe:
    """Read a recipe by name.

    places: paths to put in place of {data}, the folder of data sets, and {stdlib}, the standard
    library's documents. Raises InputError for an unknown name.
    """
    if name not in names():
        raise InputError(
            f"no recipe {name!r}", expected=f"one of {', '.join(names())}",
            fix=nearest(name, names()), where="argus research reproduce",
        )  # fmt: skip
    text = json.dumps(_published()[name])
    for place, path in places.items():
        text = text.replace("{" + place + "}", json.dumps(str(path))[1:-1])
    table = json.loads(text)
    columns, rows = table["columns"], table["rows"]
    cells = {
        (row["name"], column["name"]): Entry.read(row, column, i, table)
        for row in rows
        for i, column in enumerate(columns)
    }
    means = {column["name"]: column["mean_of"] for column in columns if "mean_of" in column}
    for (row, mean), cell in cells.items():
        if mean in means and not cell.reason:
            of = [cells[row, column] for column in means[mean]]
            missing = next((part.reason for part in of if not part.parts), "")
            parts = () if missing else tuple(request for part in of for request in part.parts)
            cells[row, mean] = replace(cell, parts=parts, reason=missing)
    return Recipe(
        name, table["title"], table["source"], table.get("note", ""), table.get("scale", 1.0),
        table.get("digits", 3), [*cells.values()],
        suite_of(Table(table, HOME), ABOUT, strict=False) if "retrievers" in table else None,
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class ReproduceResult(Result):
    """A published table beside the measured one. Everything in it is also in `folder`.

    Keys of the summary:
    recipe, title: names of the recipe and of the table.
    source: paper and table.
    note: remarks for the reader.
    measured, failed, not_run: numbers of cells.
    cells: row, column, published, aggregate (of the paper's own data) and measured (values in the
    unit of the paper, or None), state (measured, failed or not run) and reason of each cell.
    """

    TABLES = ("table",)
    folder: Path
    # The folder called DATA in reasons and notes.
    data: Path
    summary: dict[str, Any]
    # One row per cell.
    table: pa.Table
    # Digits that the paper prints behind the point.
    digits: int

    def headline(self) -> Iterator[str]:
        """Yield the table, a line per row: measured, then the published value.

        A third value is that of the paper's own data, if any is here. Cells are named in which
        printed number and data differ by more than rounding.
        Rows and columns without any run cell are left out, unless nothing was run at all.
        """
        summary, digits = self.summary, self.digits
        yield f"{summary['recipe']}: {summary['title']} ({summary['source']})"
        has_own = any(cell["aggregate"] is not None for cell in summary["cells"])
        compared = ("measured", "published", *["aggregate"] * has_own)
        yield "measured | published" + " | the paper's own data" * has_own
        run = [c for c in summary["cells"] if c["state"] != "not run"] or summary["cells"]
        used = {cell["column"] for cell in run}
        columns = [c for c in dict.fromkeys(c["column"] for c in summary["cells"]) if c in used]
        lines = {row: [row] for row in dict.fromkeys(cell["row"] for cell in run)}
        for cell in summary["cells"]:
            if cell["row"] in lines and cell["column"] in columns:
                none = {"measured": cell["state"]}
                values = (none.get(k, "-") if cell[k] is None else cell[k] for k in compared)
                texts = (v if isinstance(v, str) else f"{v:,.{digits}f}" for v in values)
                lines[cell["row"]].append(" | ".join(texts))
        table = [["", *columns], *lines.values()]
        yield from aligned(table)
        if more := len(summary["cells"]) - len(lines) * len(columns):
            yield (
                f"{more:,} more cells, in rows and columns where nothing was run, are in the table"
            )
        missing = Counter((c["state"], c["reason"]) for c in summary["cells"] if c["reason"])
        for (state, reason), n in missing.items():
            yield f"{state}, {n} cell{'' if n == 1 else 's'}: {reason}"
        if has_own:
            yield from differences(summary["cells"])
        if summary["note"]:
            yield summary["note"]
        if summary["not_run"]:
            yield f"DATA: {self.data}"
        yield f"table: {self.folder / 'cells.csv'}"


def differences(cells: Sequence[Values]) -> Iterator[str]:
    """Yield how many printed numbers are no rounding of the data, and the farthest of them."""
    both = [c for c in cells if None not in (c["published"], c["aggregate"])]
    gaps = [abs(cell["published"] - cell["aggregate"]) for cell in both]
    places = [len(str(cell["published"]).partition(".")[2]) for cell in both]
    apart = [i for i, gap in enumerate(gaps) if round(gap, places[i])]
    yield f"printed numbers that its own data do not round to: {len(apart)} of {len(both)}"
    for i in sorted(apart, key=lambda i: -gaps[i])[:MAX_NAMED]:
        at, (printed, own) = both[i], (f"{both[i][k]:,.6g}" for k in ("published", "aggregate"))
        yield f"  {at['row']}, {at['column']}: {printed} printed, {own} in the data"


def recipes(
    data: ReproducedData = None,
    out: o.Out = o.OUT,
) -> list[dict[str, Any]]:
    """List all recipes, with how many cells of each are measured here. Nothing is run.

    They are the tables of four papers (ARGUS, SPIKE, the thesis on SEAL and MINDER, CAR), and the
    figures of ARGUS. Of some cells only a run can tell.

    name, title: names of the recipe and of the table.
    source: paper and table.
    here: cells that are measured here.
    perhaps: further cells of which only a run can tell.
    cells: cells of the table.
    """
    return [_describe(*_open(name, Path(out), data, MINUTES)) for name in names()]


@one_writer
def reproduce(
    name: Annotated[str, Option(argument="NAME")],
    *,
    data: ReproducedData = None,
    minutes: Annotated[float, Gt(0), Option(("--train-minutes",))] = MINUTES,
    out: o.Out = o.OUT,
    fresh: o.Fresh = False,
) -> ReproduceResult:
    """Measure a published table as far as models and data are here, beside what was published.

    A cell that cannot be measured here has its reason. Nothing is downloaded. All recipes share
    OUT/shared, for what takes long.

    Raises InputError for an unknown recipe.

    Args:
        name: A recipe, such as car-9; argus research recipes lists them.
        minutes: Of training, where the thesis' tables are made of a model trained here.
    """
    place, recipe = _open(name, Path(out), data, minutes)
    folder = ArtifactFolder(place.home, fresh=fresh)
    settings = {"recipe": name, "data": str(place.data), "minutes": minutes}
    record = Record(JOB, settings, {})
    record.open(folder)
    remark(f"{name}: {_promise(_describe(place, recipe)).strip()}")
    lacking = {cell: place.named(cell.lacking(place)) for cell in recipe.cells}
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
    cells = [cell.filled(lacking[cell], figures, recipe.scale, place) for cell in recipe.cells]
    states = Counter(cell["state"] for cell in cells)
    counts = {"measured": states["measured"], "failed": states["failed"]}
    summary = {
        "recipe": recipe.name, "title": recipe.title, "source": recipe.source, "note": recipe.note,
        **counts, "not_run": states["not run"], "cells": cells,
    }  # fmt: skip
    table = pa.Table.from_pylist(cells)
    folder.write_table("cells", table, csv=True)
    folder.write_results(JOB, summary, record.manifest(counts))
    return ReproduceResult(folder.path, place.data, summary, table, recipe.digits)


def _open(
    name: str,
    out: Path,
    data: Path | str | None,
    minutes: float,
) -> tuple[Place, Recipe]:
    root = Path(os.environ.get("ARGUS_SHARED", "shared")) / "data" if data is None else Path(data)
    shared = out / "shared"
    stdlib = root / "stdlib" if (root / "stdlib").is_dir() else shared / "stdlib"
    recipe = read_recipe(name, {"data": root, "stdlib": stdlib})
    place = Place(root, stdlib, out / name, shared, minutes, recipe.suite)
    notes, requests = [recipe.note], [cell.parts[0] for cell in recipe.cells if cell.parts]
    if any(isinstance(request, FailureRequest) for request in requests):
        notes.append(how_counted(place))
    if any(cell.aggregate for cell in recipe.cells) and not (root / OWN_DATA).is_dir():
        notes.append(f"The paper's own figures are not here (DATA/{OWN_DATA}).")
    of_benchmarks = [request for request in requests if isinstance(request, BenchmarkRequest)]
    notes += map(place.named, which_measured(of_benchmarks))
    return place, replace(recipe, note=" ".join(filter(None, notes)))


def _describe(place: Place, recipe: Recipe) -> dict[str, Any]:
    ready = [cell.parts for cell in recipe.cells if not cell.lacking(place)]
    here = sum(all(part.is_sure for part in parts) for parts in ready)
    return {
        "name": recipe.name, "title": recipe.title, "source": recipe.source, "here": here,
        "perhaps": len(ready) - here, "cells": len(recipe.cells),
    }  # fmt: skip


def listed_lines(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line per recipe, and the next command."""
    for recipe in listed:
        yield f"{recipe['name']:<14} {_promise(recipe)}: {recipe['title']}"
    here = sum(recipe["here"] > 0 for recipe in listed)
    perhaps = sum(recipe["perhaps"] > 0 and not recipe["here"] for recipe in listed)
    more = f", {perhaps} more perhaps" if perhaps else ""
    yield (
        f"{here} of {len(listed)} tables have cells that are measured here{more}; of the others "
        "argus research reproduce NAME says which model or data each wants"
    )
    if find_spec("torch") is None:
        yield "most of the others need torch: pip install 'argus-retrieval[torch]'"


def _promise(recipe: Mapping[str, Any]) -> str:
    """Return how many cells a run measures here, and of how many only that run can tell."""
    perhaps = f", {recipe['perhaps']} more perhaps" if recipe["perhaps"] else ""
    return f"{recipe['here']:>3} of {recipe['cells']:>3} cells here{perhaps}"
