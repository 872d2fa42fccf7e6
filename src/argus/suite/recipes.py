"""Read a recipe: a published table with its numbers, and the request that measures each cell here.

Recipes are TOML files in this package. A cell has the keys of its column and of its row, the row's
first. `reason` says why Argus cannot measure a cell at all. A column with `mean_of` has the means
of other columns, which it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from argus.data.reading import read_toml
from argus.data.yaml_file import nearest
from argus.errors import InputError
from argus.suite.config import Suite
from argus.suite.reading import Table, suite_of
from argus.suite.requests import Measured
from argus.suite.sources import KINDS

HOME = Path(str(files("argus.suite"))) / "published"
ABOUT = ("title", "source", "note", "scale", "digits", "columns", "rows")


@dataclass(frozen=True)
class Entry:
    """A cell of a published table.

    published: as printed, None if nothing is. parts: figures to measure, of which the cell is the
    mean, nearly always one. reason: why there are none.
    """

    row: str
    column: str
    published: float | None
    parts: tuple[Measured, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Recipe:
    """A published table. scale: factor from our figures to theirs. suite: the grid of its file."""

    name: str
    title: str
    source: str
    note: str
    scale: float
    digits: int
    columns: list[str]
    rows: list[str]
    cells: list[Entry]
    suite: Suite | None


def names() -> list[str]:
    """Return the names of all recipes: by paper, then by table."""
    stems = [file.stem for file in HOME.glob("*.toml")]
    return sorted(stems, key=lambda n: (n.rpartition("-")[0], int(n.rpartition("-")[2])))


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
    file = HOME / f"{name}.toml"
    table: Any = _fill(read_toml(file), places)
    columns, rows = table["columns"], table["rows"]
    cells = {
        (row["name"], column["name"]): _read_cell(row, column, i)
        for row in rows
        for i, column in enumerate(columns)
    }
    means = {column["name"]: column["mean_of"] for column in columns if "mean_of" in column}
    for (row, mean), cell in cells.items():
        if mean in means and not cell.reason:
            of = [cells[row, column] for column in means[mean]]
            missing = next((part.reason for part in of if not part.parts), "")
            parts = () if missing else tuple(request for part in of for request in part.parts)
            cells[row, mean] = Entry(row, mean, cell.published, parts, missing)
    return Recipe(
        name, table["title"], table["source"], table.get("note", ""), table.get("scale", 1.0),
        table.get("digits", 3), [column["name"] for column in columns],
        [row["name"] for row in rows], [*cells.values()],
        suite_of(Table(table, file), ABOUT, strict=False) if "retrievers" in table else None,
    )  # fmt: skip


def _read_cell(row: Mapping[str, Any], column: Mapping[str, Any], number: int) -> Entry:
    """Return a cell, with its request unless it is a mean. number: of its column."""
    printed = row.get("published", [])[number : number + 1]
    published = float(printed[0]) if printed and not isinstance(printed[0], str) else None
    values = {**column, **row}
    values["weight"] = values.get("lambda", 1.0)
    if "average" in values:
        values["task"] = ""
    names, reason = (row["name"], column["name"]), values.get("reason", "")
    if reason or "mean_of" in column:
        return Entry(*names, published, reason=reason)
    for kind in KINDS:
        given = {f.name: values[f.name] for f in fields(kind) if f.name in values}
        if all(f.name in given for f in fields(kind) if f.default is MISSING):
            return Entry(*names, published, (kind(**given),))
    return Entry(*names, published, reason="nothing in Argus measures it")


def _fill(value: object, places: Mapping[str, Path]) -> object:
    """Put the places' paths into all texts of a file."""
    if isinstance(value, dict):
        return {key: _fill(inner, places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, places) for inner in value]
    if isinstance(value, str):
        for name, path in places.items():
            value = value.replace("{" + name + "}", str(path))
    return value
