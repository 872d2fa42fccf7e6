"""A recipe: a published table with its numbers, and what measures each of them here.

Recipes are TOML files in this package. A cell takes the keys of its column and those of its row,
the row's first; `reason` in one of them says why the cell cannot be measured by Argus at all. A
column with `mean_of` has the means of other columns, which it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from argus.data.text_files import read_toml
from argus.data.yaml_file import nearest
from argus.errors import InputError
from argus.suite.config import Suite
from argus.suite.reading import suite_of
from argus.suite.recipes.requests import KEYS, KINDS, MeanRequest, Measured, Request
from argus.suite.toml import Table, Value

HOME = Path(str(files("argus.suite.recipes"))) / "published"
ABOUT = ("title", "source", "note", "scale", "digits", "columns", "rows")
OWN = ("name", "published", "reason", "mean_of")
PLACES = ("{data}", "{stdlib}")
"""What a recipe's paths begin with: the folder of data sets, the standard library's documents."""


@dataclass(frozen=True)
class Entry:
    """A cell of a published table. published: as printed, None where nothing is.

    request: what measures it; reason: why nothing does.
    """

    row: str
    column: str
    published: float | None
    request: Request | None
    reason: str = ""


@dataclass(frozen=True)
class Recipe:
    """A published table. scale: of ours to theirs."""

    name: str
    title: str
    source: str
    note: str
    scale: float
    digits: int
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Entry]
    table: Table

    @cached_property
    def suite(self) -> Suite | None:
        """The grid that it asks, as the file says it; None where it asks none."""
        if "retrievers" not in self.table.values:
            return None
        return suite_of(self.table, ABOUT, strict=False)


def names() -> list[str]:
    """Return the names of all recipes: by paper, then by table."""
    stems = [file.stem for file in HOME.glob("*.toml")]
    return sorted(stems, key=lambda n: (n.rpartition("-")[0], int(n.rpartition("-")[2])))


def read_recipe(name: str, places: Mapping[str, Path]) -> Recipe:
    """Read a recipe by name. places: what {data} and {stdlib} stand for, without the braces.

    Raises InputError for an unknown name.
    """
    if name not in names():
        raise InputError(
            f"no recipe {name!r}", expected=f"one of {', '.join(names())}",
            fix=nearest(name, names()), where="argus reproduce",
        )  # fmt: skip
    file = HOME / f"{name}.toml"
    table = Table(_filled(read_toml(file), places), file)  # type: ignore[arg-type]
    columns, rows = table.tables("columns"), table.tables("rows")
    for part in (*columns, *rows):
        part.check([*OWN, *KEYS])
    cells = [_cell(row, column, i) for row in rows for i, column in enumerate(columns)]
    means = {column.text("name"): column.texts("mean_of") for column in columns}
    scale, digits = table.values.get("scale", 1.0), table.values.get("digits", 3)
    assert isinstance(scale, int | float) and isinstance(digits, int)
    return Recipe(
        name, table.text("title"), table.text("source"), str(table.values.get("note", "")),
        float(scale), digits,
        [column.text("name") for column in columns], [row.text("name") for row in rows],
        [_mean(cell, means[cell.column], cells) for cell in cells], table,
    )  # fmt: skip


def _cell(row: Table, column: Table, number: int) -> Entry:
    published = row.values.get("published", [])
    assert isinstance(published, list)
    value = published[number] if number < len(published) else None
    printed = float(value) if isinstance(value, int | float) else None
    values = {**column.values, **row.values}
    own = {key: v for key, v in values.items() if key not in OWN}
    names = row.text("name"), column.text("name")
    if reason := str(values.get("reason", "")):
        return Entry(*names, printed, None, reason)
    if "mean_of" in column.values:
        return Entry(*names, printed, None)
    kind = next((kind for kind, keys in KINDS if own.keys() >= set(keys)), None)
    if kind is None:
        return Entry(*names, printed, None, "nothing in Argus measures it")
    table = Table(own, row.file, row.place)
    return Entry(*names, printed, table.config(kind))


def _mean(cell: Entry, columns: Sequence[str], cells: Sequence[Entry]) -> Entry:
    """Return a cell of a column of means as what asks for it; others as they are."""
    if not columns:
        return cell
    parts = [part for part in cells if part.row == cell.row and part.column in columns]
    requests = [part.request for part in parts if isinstance(part.request, Measured)]
    if len(requests) < len(columns):
        return replace(cell, reason=next(p.reason for p in parts if p.request is None))
    return replace(cell, request=MeanRequest(tuple(requests)))


def _filled(value: Value, places: Mapping[str, Path]) -> Value:
    """Return what a file says, with the places' paths in all texts."""
    if isinstance(value, dict):
        return {key: _filled(inner, places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, places) for inner in value]
    if isinstance(value, str):
        for name, path in places.items():
            value = value.replace("{" + name + "}", str(path))
    return value
