"""Run the grid of a suite, retrievers x remedies x tasks, cell by cell (`argus suite`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, file_hash
from argus.data.writing import one_writer, take_lock
from argus.data.yaml_file import nearest
from argus.encoders.store import KEY_BYTES
from argus.engine import Engine, EngineConfig
from argus.errors import ArgusError, InputError, NothingMeasured
from argus.indexes.header import FILE
from argus.indexes.views import ViewIndex
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.measures.significance import with_interval
from argus.progress import announce
from argus.retrievers.dense import parse_index
from argus.retrievers.names import input_path, is_index
from argus.suite.cells import (
    Cell,
    CellFolder,
    CellRecord,
    SuiteRow,
    digest,
    failed,
    measure_cell,
    suite_rows,
)
from argus.suite.config import ORIGINAL, Suite, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.reading import read_suite
from argus.suite.remedies import paths_in, served, settings_of
from argus.suite.retrievers import VECTORS, Ask, Models, passing_indexes
from argus.suite.tables import TABLES, Sheet, suite_sheets, thesis_sheets, write_sheets
from argus.suite.toml import Table
from argus.tasks.opening import READERS, open_task
from argus.tasks.spec import parse_task_spec
from argus.tasks.task import Task

JOB = "suite"
INDEXES = ".indexes.partial"  # no folder of a user has this name: it is emptied
IN_MEMORY = Path("suite")  # name in messages of a suite without a file

_TEXT, _COUNT, _VALUE = pa.string(), pa.int64(), pa.float64()
_OF_ROW = dict.fromkeys(("retriever", "remedy", "scope", "name", "state", "reason"), _TEXT) | {
    "queries": _COUNT, "mean_rank": _VALUE, "median_rank": _VALUE,
}  # fmt: skip
_OF_CHANGE = dict.fromkeys(("mean_difference", "low", "high", "p_value"), _VALUE) | {
    "improved": _COUNT, "harmed": _COUNT, "verdict": _TEXT,
}  # fmt: skip


class SuiteTaskNote(TypedDict):
    """A task of the suite.

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


class EncodedTexts(TypedDict):
    """The number of vectors in the store of an encoder."""

    retriever: str
    vectors: int


class SuiteSummary(TypedDict):
    """The figures of a suite.

    measures: measures that were taken.
    headline: measure that remedies are judged by.
    cells: number of cells: total, measured, kept (of an earlier run) and failed.
    rows: a row per cell, and per average.
    encoded: vectors in the stores.
    tables: files under OUT/tables, without their endings.
    """

    k: int
    measures: list[str]
    headline: str
    cells: dict[str, int]
    tasks: list[SuiteTaskNote]
    rows: list[SuiteRow]
    encoded: list[EncodedTexts]
    tables: list[str]


@dataclass(frozen=True, repr=False)
class SuiteResult(Result):
    """The rows and tables of a suite. Everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    summary: SuiteSummary
    table: pa.Table
    """One row per retriever, remedy and task or average, with a column per measure.

    A comparison by the headline measure with the original adds mean_difference, low, high, p_value,
    improved, harmed and verdict, null for the original itself.
    """
    sheets: Sequence[Sheet]
    """The tables of OUT/tables."""

    def headline(self) -> Iterator[str]:
        """Yield a line per retriever and remedy with its average, then failures."""
        counts, measure = self.summary["cells"], self.summary["headline"]
        yield (
            f"{counts['measured']:,} of {counts['total']:,} cells measured, {counts['kept']:,} of "
            f"them by an earlier run; {counts['failed']:,} failed"
        )
        for row in self.summary["rows"]:
            if row["scope"] == "all" and row["state"] == "measured":
                against, change = row["comparison"], ""
                if against is not None:
                    change = f", {with_interval(against)} {against['verdict']}".rstrip()
                    change += f", harmed {against['harmed']:,}, improved {against['improved']:,}"
                value = row["measures"][measure]
                yield f"{row['retriever']}, {row['remedy']}: {measure} {value:.3f}{change}"
        for row in self.summary["rows"]:
            if row["scope"] == "task" and row["state"] == "failed":
                cell = Cell(row["retriever"], row["remedy"], row["name"])
                yield f"failed: {cell}: {row['reason']}"
        yield f"tables: {self.folder / TABLES}"


@dataclass
class _Run:
    """One run of a suite: its output, open models, and the cells so far.

    tasks: by name, with an error text in place of a task that cannot be read. again: number of
    cells that an earlier run measured.
    """

    suite: Suite
    folder: ArtifactFolder
    file: Path
    models: Models
    kept: CellFolder
    tasks: dict[str, Task | str] = field(default_factory=dict)
    records: dict[Cell, CellRecord] = field(default_factory=dict)
    again: int = 0


@one_writer
def run_suite(
    suite: Suite | Path | str,
    *,
    out: Path | str,
    store: Path | None = None,
    engine: EngineConfig | Engine | None = None,
    fresh: bool = False,
) -> SuiteResult:
    """Run a suite, or resume one: cells that were measured with these inputs stay.

    suite: a TOML file, or the result of `read_suite`. A cell that fails has its reason, and the
    others go on. The next run tries it again. Every text is embedded once per encoder. Its vectors
    are in a folder of `store`, by default OUT/embeddings. Raises InputError for a bad file and
    absent tasks, ArgusError if another run writes to OUT and if nothing could be measured.
    """
    file = IN_MEMORY if isinstance(suite, Suite) else Path(suite)
    suite = suite if isinstance(suite, Suite) else read_suite(file)
    for i, task in enumerate(suite.tasks):
        _require_task(task.place, Table({}, file, f"tasks[{i}]"))
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(JOB, {"suite": asdict(suite)}, {"suite": file if file.is_file() else None})
    with (
        _exclusive(folder, record),
        open_engine(engine) as running,
        passing_indexes(folder.own(INDEXES)) as indexes,
    ):
        record.runs_on(running)
        models = Models(folder.path, store or folder.own(VECTORS), indexes, running)
        run = _Run(suite, folder, file, models, CellFolder(folder.own("cells")))
        for retriever in suite.retrievers:
            for task in suite.tasks:
                with record.timed(f"{retriever.name} on {task.name}"):
                    _measure(run, retriever, task)
        return _write(run, record)


def _require_task(place: str, table: Table) -> None:
    """Raise InputError for a task of an unknown kind, and for an absent one."""
    spec = parse_task_spec(place, READERS)
    if spec.place.exists():
        return
    kind, colon, rest = place.partition(":")
    if colon and not spec.kind and "/" not in kind and rest:
        raise table.error(
            "task", f"unknown kind of task {kind!r}", f"KIND:PLACE, of {', '.join(READERS)}",
            nearest(kind, list(READERS)),
        )  # fmt: skip
    fix = "Check the path: nothing is downloaded."
    raise table.error("task", f"{spec.place} is absent", "the files of a task", fix)


@contextmanager
def _exclusive(folder: ArtifactFolder, record: Record) -> Iterator[None]:
    """Open the folder for this run only. Raises ArgusError if another one writes to it."""
    folder.path.mkdir(parents=True, exist_ok=True)
    busy = f"{folder.path} is in use by another suite; wait for it, or give another --out."
    with take_lock(folder.path / ".lock", busy=busy):
        record.open(folder)
        yield


def _measure(run: _Run, retriever: SuiteRetriever, spec: SuiteTask) -> None:
    """Measure the missing cells of one retriever on one task."""
    if spec.name not in run.tasks:
        try:
            run.tasks[spec.name] = open_task(spec.place).with_instructions()
        except ArgusError as error:
            run.tasks[spec.name] = str(error)
    task, retriever = _prepare(run.tasks[spec.name], retriever, spec)
    cells = {
        Cell(retriever.name, remedy.name, spec.name): remedy
        for remedy in run.suite.remedies_of(retriever)
    }
    if isinstance(task, str):
        run.records |= {cell: failed(cell, "", task) for cell in cells}
        return
    hashes = {cell: _inputs(run, retriever, remedy, spec, task) for cell, remedy in cells.items()}
    earlier = {cell: run.kept.read(cell, inputs) for cell, inputs in hashes.items()}
    run.records |= {cell: record for cell, record in earlier.items() if record is not None}
    run.again += sum(record is not None for record in earlier.values())
    missing = [cell for cell, record in earlier.items() if record is None]
    if not missing:
        return
    try:
        with run.models.open(retriever, spec.name, task) as ask:
            for cell in missing:
                table = settings_of(cells[cell], retriever, spec, run.file)
                record = _measure_cell(run, cell, hashes[cell], ask, cells[cell], table)
                run.kept.write(record)
                run.records[cell] = record
    except Exception as error:  # of the retriever itself: none of its cells here can be measured
        for cell in missing:
            run.records.setdefault(cell, failed(cell, hashes[cell], _reason(error)))


def _prepare(
    task: Task | str, retriever: SuiteRetriever, spec: SuiteTask
) -> tuple[Task | str, SuiteRetriever]:
    """Return a retriever with the task's instruction, or an error text in place of the task."""
    if isinstance(task, str):
        return task, retriever
    try:
        return task, retriever.with_instruction(spec.instruction or task.instruction, spec.name)
    except InputError as error:
        return str(error), retriever


def _measure_cell(
    run: _Run, cell: Cell, inputs: str, ask: Ask, remedy: SuiteRemedy, table: Table
) -> CellRecord:
    """Measure one cell, or return why that failed. table: the remedy's settings."""
    announce(f"{JOB}: {cell}")
    task = run.tasks[cell.task]
    assert isinstance(task, Task)
    start = time.perf_counter()
    try:
        depth = run.suite.config.k + task.spare
        answers = ask(task, remedy, table, depth)
        system = served(remedy, table, task, answers, depth)
        seconds = time.perf_counter() - start
        return measure_cell(cell, inputs, task, system, run.suite.config, seconds)
    except Exception as error:  # whatever it is, the other cells go on
        return failed(cell, inputs, _reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, ArgusError | OSError):
        return str(error)
    return f"unexpected {type(error).__name__}: {error}"


def _inputs(
    run: _Run, retriever: SuiteRetriever, remedy: SuiteRemedy, spec: SuiteTask, task: Task
) -> str:
    """Return a hash of everything that a cell depends on."""
    table = settings_of(remedy, retriever, spec, run.file)
    files = [_state_of(path) for _, path in paths_in(table.values, remedy.kind)]
    source, output = (
        retriever.named(place, spec.name) for place in (retriever.source, retriever.output)
    )
    parts = (
        retriever.identity(spec.name), state_of_source(source) if source else "",
        _state_of(Path(output)) if output else "",
        remedy.kind, sorted(table.values.items()), files,
        run.suite.config.k, run.suite.config.measures,
    )  # fmt: skip
    return content_hash(digest(task), *map(repr, parts)).hex()


def _state_of(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder, empty without any."""
    if path.is_file():
        return file_hash(path)
    inside = sorted(file for file in path.rglob("*") if file.is_file())
    parts = (f"{file.relative_to(path)} {file_hash(file)}" for file in inside)
    return content_hash(*parts).hex() if inside else ""


def state_of_source(name: str) -> str:
    """Return the state of a named retriever: of its index, or of its file."""
    if is_index(name):
        spec, _ = parse_index(name)
        return f"{file_hash(spec.path / FILE)} {ViewIndex.open(spec.path).version}"
    path = input_path(name)
    return _state_of(path) if path is not None and path.is_file() else ""


def _write(run: _Run, record: Record) -> SuiteResult:
    """Write tables, summary and manifest. Raises ArgusError if nothing was measured."""
    suite, records = run.suite, run.records
    tasks = {name: task for name, task in run.tasks.items() if isinstance(task, Task)}
    answered = {
        task.name: [
            r for r in suite.retrievers
            if r.output and records[Cell(r.name, ORIGINAL, task.name)]["state"] == "measured"
        ]
        for task in suite.tasks
    }  # fmt: skip
    rows = list(suite_rows(suite, records))
    written = [*suite_sheets(suite, rows)]
    written += thesis_sheets(answered, tasks, run.folder.own("failures"))
    good = sum(cell["state"] == "measured" for cell in records.values())
    total = len(records)
    summary: SuiteSummary = {
        "k": suite.config.k,
        "measures": list(suite.config.measures),
        "headline": suite.config.headline,
        "cells": {"total": total, "measured": good, "kept": run.again, "failed": total - good},
        "tasks": [
            {
                "name": spec.name, "group": spec.group, "shown": spec.shown,
                "documents": len(task.documents), "queries": len(task.queries),
                "metrics": list(task.metrics),
            }
            for spec in suite.tasks
            if (task := tasks.get(spec.name)) is not None
        ],
        "rows": rows,
        "encoded": list(_encoded(run)),
        "tables": [sheet.name for sheet in written],
    }  # fmt: skip
    write_sheets(run.folder, written)
    measures = dict.fromkeys((m for row in rows for m in row["measures"]), _VALUE)
    table = pa.Table.from_pylist(
        [{**(row["comparison"] or {}), **row["measures"], **row} for row in rows],
        schema=pa.schema(_OF_ROW | measures | _OF_CHANGE),
    )
    run.folder.write_table("suite", table, csv=True)
    run.folder.write_results(JOB, summary, record.manifest(summary["cells"]))
    if not good:
        reason = next(iter(records.values()))["reason"]
        raise NothingMeasured("cell", f"All {total} failed. The first: {reason}")
    return SuiteResult(run.folder.path, summary, table, written)


def _encoded(run: _Run) -> Iterator[EncodedTexts]:
    for retriever in run.suite.retrievers:
        asked = (_prepare(run.tasks[spec.name], retriever, spec)[1] for spec in run.suite.tasks)
        stores = {run.models.store(one) / "keys.bin" for one in asked if one.encoder is not None}
        if there := [keys.stat().st_size for keys in stores if keys.is_file()]:
            yield {"retriever": retriever.name, "vectors": sum(there) // KEY_BYTES}
