"""`argus reproduce`: one table of a paper, every cell measured that can be measured here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa

from argus.data.folders import MANIFEST, ArtifactFolder, ManifestSection
from argus.data.reading import read_record
from argus.data.writing import one_writer
from argus.errors import ArgusError
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.llm.config import ChatConfig, LocalConfig
from argus.progress import remark
from argus.suite.job import TABLES, write_sheets
from argus.suite.layout import Entry as LaidOut
from argus.suite.layout import Figure, Sheet
from argus.suite.recipes.audits import OfProbes, OfReach
from argus.suite.recipes.authority_sources import OfGap, OfHarm
from argus.suite.recipes.benchmarks import which_measured
from argus.suite.recipes.config import ReproduceConfig
from argus.suite.recipes.failures import OfFailures
from argus.suite.recipes.gold import OfGold
from argus.suite.recipes.outputs import how_counted
from argus.suite.recipes.recipe import Entry, Recipe, names, read_recipe
from argus.suite.recipes.requests import (
    AblationRequest,
    AuthorityRequest,
    BenchmarkRequest,
    FailureRequest,
    GapRequest,
    GoldRequest,
    GridRequest,
    HarmRequest,
    Measured,
    ProbeRequest,
    ReachRequest,
    Request,
    parts_of,
)
from argus.suite.recipes.setting import Setting
from argus.suite.recipes.sources import (
    Failed,
    Figures,
    OfAblation,
    OfAuthority,
    OfGrid,
    Source,
)
from argus.suite.recipes.summary import (
    ListedRecipe,
    ReproducedCell,
    ReproduceSummary,
    headline,
    promise,
    reasons,
)

JOB = "reproduce"
STDLIB, SHARED = "stdlib", "shared"
Sources = Mapping[type, Source[Any]]


@dataclass(frozen=True, repr=False)
class ReproduceResult(Result):
    """A published table beside what was measured; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    data: Path
    """What DATA stands for in reasons and notes."""
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

    model: as for `reproduce`. Of one that was run into OUT, how long that took.
    """
    opened = (_opened(name, Path(out), data, ReproduceConfig(), model) for name in names())
    return [_listed(setting, recipe, _sources(setting, recipe)) for setting, recipe in opened]


def _listed(setting: Setting, recipe: Recipe, ways: Sources) -> ListedRecipe:
    ready = [parts_of(cell.request) for cell in recipe.cells if not _lacking(cell, ways)]
    here = sum(all(ways[type(part)].is_sure(part) for part in parts) for parts in ready)
    return {
        "name": recipe.name, "title": recipe.title, "source": recipe.source, "here": here,
        "perhaps": len(ready) - here, "cells": len(recipe.cells),
        "seconds": _seconds(setting.home),
    }  # fmt: skip


def _seconds(home: Path) -> float | None:
    sections = ArtifactFolder(home).read_json(MANIFEST)
    if JOB not in sections:
        return None
    section = read_record(ManifestSection, sections[JOB], where=home / MANIFEST, section=JOB)
    return sum(section["timings_s"].values())


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
    """Measure a table of a paper as far as models and data are here, beside what was published.

    name: of a recipe, such as "car-9" (see `recipes`). data: the folder of data sets that recipes
    name; default $ARGUS_SHARED/data, else shared/data. What takes long is kept under OUT/shared for
    all recipes. model: who answers in tables of answers; without it, nobody is asked. Raises
    InputError for an unknown recipe.
    """
    config = config or ReproduceConfig()
    setting, recipe = _opened(name, Path(out), data, config, model)
    folder = ArtifactFolder(setting.home, fresh=fresh)
    settings = {"recipe": name, "data": str(setting.data), "minutes": config.minutes}
    record = Record(JOB, settings | ({"model": model.identity} if model else {}), {})
    record.open(folder)
    ways = _sources(setting, recipe)
    remark(f"{name}: {promise(_listed(setting, recipe, ways)).strip()}")
    lacking = {cell: setting.named(_lacking(cell, ways)) for cell in recipe.cells}
    figures: Figures = {}
    for kind, way in ways.items():
        requests = [
            part for cell, why in lacking.items() if not why
            for part in parts_of(cell.request) if isinstance(part, kind)
        ]  # fmt: skip
        if requests:
            with record.timed(kind.__name__):
                figures |= _measured(way, list(dict.fromkeys(requests)), setting)
    cells = [_cell(cell, lacking[cell], figures, recipe.scale) for cell in recipe.cells]
    return _keep(recipe, setting, cells, folder, record)


def _opened(
    name: str,
    out: Path,
    data: Path | str | None,
    config: ReproduceConfig,
    model: ChatConfig | LocalConfig | None = None,
) -> tuple[Setting, Recipe]:
    root = Path(os.environ.get("ARGUS_SHARED", "shared")) / "data" if data is None else Path(data)
    own = root / STDLIB
    stdlib = own if own.is_dir() else out / SHARED / STDLIB
    recipe = read_recipe(name, {"data": root, "stdlib": stdlib})
    setting = Setting(root, stdlib, out / name, out / SHARED, config.minutes, model)
    notes = [recipe.note]
    if any(isinstance(cell.request, FailureRequest) for cell in recipe.cells):
        notes.append(how_counted(setting))
    asks = [c.request for c in recipe.cells if isinstance(c.request, BenchmarkRequest)]
    notes += map(setting.named, which_measured(asks))
    return setting, replace(recipe, note=" ".join(filter(None, notes)))


def _sources(setting: Setting, recipe: Recipe) -> Sources:
    ways: dict[type, Source[Any]] = {
        AuthorityRequest: OfAuthority(setting),
        GapRequest: OfGap(setting),
        HarmRequest: OfHarm(setting),
        AblationRequest: OfAblation(setting),
        FailureRequest: OfFailures(setting),
        ReachRequest: OfReach(setting),
        ProbeRequest: OfProbes(setting),
        GoldRequest: OfGold(setting),
    }
    if recipe.suite is not None:
        ways[GridRequest] = OfGrid(setting, recipe.suite)
    return ways


def _lacking(cell: Entry, ways: Sources) -> str:
    """Return why a cell cannot be measured here; empty where it can."""
    if cell.request is None:
        return cell.reason
    reasons = (ways[type(part)].lacking(part) for part in parts_of(cell.request))
    return next(filter(None, reasons), "")


def _measured(way: Source[Any], requests: Sequence[Measured], setting: Setting) -> Figures:
    """Return the figures of requests, run by run; where a run fails, why."""
    figures: Figures = {}
    for run in dict.fromkeys(map(way.run_of, requests)):
        group = [request for request in requests if way.run_of(request) == run]
        try:
            figures |= way.measure(group)
        except (ArgusError, OSError) as error:
            figures |= dict.fromkeys(group, Failed(setting.named(str(error))))
    return figures


def _cell(cell: Entry, lacking: str, figures: Figures, scale: float) -> ReproducedCell:
    value = lacking if cell.request is None or lacking else _value(cell.request, figures)
    why = value.reason if isinstance(value, Failed) else value if isinstance(value, str) else ""
    return {
        "row": cell.row,
        "column": cell.column,
        "published": cell.published,
        "measured": value * scale if isinstance(value, float | int) else None,
        "state": "failed" if isinstance(value, Failed) else "not run" if why else "measured",
        "reason": why,
    }


def _value(request: Request, figures: Figures) -> float | str | Failed:
    """Return a figure, or the mean of several; where one is none, why."""
    values = [figures[part] for part in parts_of(request)]
    none = next((value for value in values if isinstance(value, str | Failed)), None)
    return fmean(v for v in values if isinstance(v, float | int)) if none is None else none


def _keep(
    recipe: Recipe,
    setting: Setting,
    cells: list[ReproducedCell],
    folder: ArtifactFolder,
    record: Record,
) -> ReproduceResult:
    states = [cell["state"] for cell in cells]
    summary: ReproduceSummary = {
        "recipe": recipe.name, "title": recipe.title, "source": recipe.source, "note": recipe.note,
        "measured": states.count("measured"), "failed": states.count("failed"),
        "not_run": states.count("not run"), "cells": cells,
    }  # fmt: skip
    sheet = _sheet(recipe, summary)
    table = pa.Table.from_pylist([dict(cell) for cell in cells])
    write_sheets(folder, [sheet])
    folder.write_table("cells", table, csv=True)
    counts = {"measured": summary["measured"], "failed": summary["failed"]}
    folder.write_results(JOB, summary, record.manifest(counts))
    return ReproduceResult(folder.path, setting.data, summary, table, sheet)


def _sheet(recipe: Recipe, summary: ReproduceSummary) -> Sheet:
    """Return the table with two columns for each of the paper's: measured, and published."""
    cells = {(cell["row"], cell["column"]): cell for cell in summary["cells"]}
    body: list[list[LaidOut]] = [
        [row, *(figure for column in recipe.columns for figure in _pair(cells[row, column]))]
        for row in recipe.rows
    ]
    heads = [f"{column}{end}" for column in recipe.columns for end in ("", ", published")]
    return Sheet(
        recipe.name, f"{recipe.title} ({recipe.source})", ["", *heads], body, recipe.digits,
        [*reasons(summary), *filter(None, [recipe.note])],
    )  # fmt: skip


def _pair(cell: ReproducedCell) -> tuple[Figure, Figure]:
    missing = "" if cell["state"] == "measured" else cell["state"]
    return Figure(cell["measured"], missing=missing), Figure(cell["published"])
