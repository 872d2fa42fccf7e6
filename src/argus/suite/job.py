"""`argus suite`: the grid retrievers x remedies x tasks, cell by cell, and its tables."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.writing import one_writer, take_lock, write_whole
from argus.encoders.store import KEY_BYTES
from argus.engine import Engine, EngineConfig
from argus.errors import ArgusError, InputError, NothingMeasured
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.progress import announce
from argus.suite.asking import VECTORS, Answering, Models, passing_indexes, settings_of
from argus.suite.cells import Cell, CellRecord, Cells, KeptCells, failed
from argus.suite.config import ORIGINAL, Suite, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.findings import Findings
from argus.suite.layout import Sheet
from argus.suite.measuring import digest, measured
from argus.suite.places import require_task, state_of, state_of_source
from argus.suite.reading import read_suite
from argus.suite.remedies import paths_in, served
from argus.suite.summary import CellCounts, EncodedTexts, SuiteSummary, headline
from argus.suite.tables import sheets
from argus.suite.toml import Table
from argus.suite.two_systems import two_systems
from argus.tasks.opening import open_task
from argus.tasks.task import Task

JOB = "suite"
CELLS, TABLES, ROWS, LOCK, FAILURES = "cells", "tables", "suite", "lock", "failures"
INDEXES = ".indexes.partial"  # no folder of a user's is called so: what lies there is removed
IN_MEMORY = Path("suite")  # what a suite that no file says is called in messages


@dataclass(frozen=True, repr=False)
class SuiteResult(Result):
    """What a suite came to; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    summary: SuiteSummary
    table: pa.Table  # one row per retriever, remedy and task or average, with a column per measure
    sheets: Sequence[Sheet]  # the tables of OUT/tables

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from headline(self.summary)
        yield f"tables: {self.folder / TABLES}"


@dataclass
class _Run:
    """One run of a suite: what it writes to, what is open, and what its cells came to."""

    suite: Suite
    folder: ArtifactFolder
    file: Path
    models: Models
    kept: KeptCells
    # By name; in place of one that cannot be read, why.
    tasks: dict[str, Task | str] = field(default_factory=dict)
    records: dict[Cell, CellRecord] = field(default_factory=dict)
    again: int = 0  # cells that an earlier run measured


@one_writer
def run_suite(
    suite: Suite | Path | str,
    *,
    out: Path | str,
    store: Path | None = None,
    engine: EngineConfig | Engine | None = None,
    fresh: bool = False,
) -> SuiteResult:
    """Run a suite, or go on with one: cells that were measured with these inputs stay.

    suite: a TOML file, or what `read_suite` reads of one. A cell that fails has its reason, and the
    others go on; it is tried again by the next run. Every text is embedded once per encoder, whose
    vectors are in a folder of `store`, OUT/embeddings if not given. Raises
    InputError for a bad file and absent tasks, ArgusError where another run writes to OUT, and
    where nothing could be measured.
    """
    file = IN_MEMORY if isinstance(suite, Suite) else Path(suite)
    suite = suite if isinstance(suite, Suite) else read_suite(file)
    for i, task in enumerate(suite.tasks):
        require_task(task.place, Table({}, file, f"tasks[{i}]"))
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(JOB, {"suite": asdict(suite)}, {"suite": file if file.is_file() else None})
    with (
        _alone(folder, record),
        open_engine(engine) as running,
        passing_indexes(folder.own(INDEXES)) as indexes,
    ):
        record.runs_on(running)
        models = Models(folder.path, store or folder.own(VECTORS), indexes, running)
        run = _Run(suite, folder, file, models, KeptCells(folder.own(CELLS)))
        for retriever in suite.retrievers:
            for task in suite.tasks:
                with record.timed(f"{retriever.name} on {task.name}"):
                    _measure(run, retriever, task)
        return _keep(run, record)


@contextmanager
def _alone(folder: ArtifactFolder, record: Record) -> Iterator[None]:
    """Open the folder for this run alone; ArgusError where another one writes to it."""
    folder.path.mkdir(parents=True, exist_ok=True)
    busy = f"{folder.path} is in use by another suite; wait for it, or give another --out."
    with take_lock(folder.path / f".{LOCK}", busy=busy):
        record.open(folder)
        yield


def _measure(run: _Run, retriever: SuiteRetriever, spec: SuiteTask) -> None:
    """Measure the cells of one retriever on one task that are not there yet."""
    if spec.name not in run.tasks:
        run.tasks[spec.name] = _opened(spec)
    task, retriever = _before(run.tasks[spec.name], retriever, spec)
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
        with run.models.before(retriever, spec.name, task) as answering:
            for cell in missing:
                record = _cell(run, cell, hashes[cell], answering, cells[cell])
                run.kept.write(record)
                run.records[cell] = record
    except Exception as error:  # of the retriever itself: none of its cells here can be measured
        for cell in missing:
            run.records.setdefault(cell, failed(cell, hashes[cell], _reason(error)))


def _opened(spec: SuiteTask) -> Task | str:
    try:
        return open_task(spec.place).with_instructions()
    except ArgusError as error:
        return str(error)


def _before(
    task: Task | str, retriever: SuiteRetriever, spec: SuiteTask
) -> tuple[Task | str, SuiteRetriever]:
    """Return a retriever as it is asked on a task; in place of a task that it cannot be, why."""
    if isinstance(task, str):
        return task, retriever
    try:
        return task, retriever.with_instruction(spec.instruction or task.instruction, spec.name)
    except InputError as error:
        return str(error), retriever


def _cell(
    run: _Run, cell: Cell, inputs: str, answering: Answering, remedy: SuiteRemedy
) -> CellRecord:
    """Measure one cell; where that fails, say why."""
    announce(f"{JOB}: {cell}")
    task = run.tasks[cell.task]
    assert isinstance(task, Task)
    retriever = next(r for r in run.suite.retrievers if r.name == cell.retriever)
    spec = next(t for t in run.suite.tasks if t.name == cell.task)
    table = settings_of(remedy, retriever, spec, run.file)
    start = time.perf_counter()
    try:
        depth = run.suite.config.k + task.spare
        answers = answering.answer(task, remedy, table, depth)
        system = served(remedy, table, task, answers, depth)
        seconds = time.perf_counter() - start
        return measured(cell, inputs, task, system, run.suite.config, seconds)
    except Exception as error:  # whatever it is, the other cells go on
        return failed(cell, inputs, _reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, ArgusError | OSError):
        return str(error)
    return f"unexpected {type(error).__name__}: {error}"


def _inputs(
    run: _Run, retriever: SuiteRetriever, remedy: SuiteRemedy, spec: SuiteTask, task: Task
) -> str:
    """Return a hash of all that a cell depends on."""
    table = settings_of(remedy, retriever, spec, run.file)
    files = [state_of(path) for _, path in paths_in(table.values, remedy.kind)]
    source, output = (
        retriever.named(place, spec.name) for place in (retriever.source, retriever.output)
    )
    parts = (
        retriever.identity(spec.name), state_of_source(source) if source else "",
        state_of(Path(output)) if output else "",
        remedy.kind, sorted(table.values.items()), files,
        run.suite.config.k, run.suite.config.measures,
    )  # fmt: skip
    return content_hash(digest(task), *map(repr, parts)).hex()


def _keep(run: _Run, record: Record) -> SuiteResult:
    """Write tables, summary and manifest. Raises ArgusError where nothing was measured."""
    rows = Findings(run.suite, Cells(run.records)).rows()
    written = [*sheets(run.suite, rows), *_of_systems(run)]
    summary: SuiteSummary = {
        "k": run.suite.config.k,
        "measures": list(run.suite.config.measures),
        "headline": run.suite.config.headline,
        "cells": _counts(run),
        "tasks": [
            {
                "name": spec.name, "group": spec.group, "shown": spec.shown,
                "documents": len(task.documents), "queries": len(task.queries),
                "metrics": list(task.metrics),
            }
            for spec in run.suite.tasks
            if isinstance(task := run.tasks[spec.name], Task)
        ],
        "rows": rows,
        "encoded": list(_encoded(run)),
        "tables": [sheet.name for sheet in written],
    }  # fmt: skip
    write_sheets(run.folder, written)
    table = _table(summary)
    run.folder.write_table(ROWS, table, csv=True)
    run.folder.write_results(JOB, summary, record.manifest(summary["cells"]))
    if not summary["cells"]["measured"]:
        reason = next(iter(run.records.values()))["reason"]
        raise NothingMeasured("cell", f"All {len(run.records)} failed. The first: {reason}")
    return SuiteResult(run.folder.path, summary, table, written)


def _of_systems(run: _Run) -> Iterator[Sheet]:
    """Yield the thesis' tables, of the outputs that were measured."""
    answered = {
        name: [
            r for r in run.suite.retrievers
            if r.output and run.records[Cell(r.name, ORIGINAL, name)]["state"] == "measured"
        ]
        for name in (task.name for task in run.suite.tasks)
    }  # fmt: skip
    tasks = {name: task for name, task in run.tasks.items() if isinstance(task, Task)}
    return two_systems(answered, tasks, run.folder.own(FAILURES))


def _counts(run: _Run) -> CellCounts:
    good = sum(record["state"] == "measured" for record in run.records.values())
    return {
        "total": len(run.records), "measured": good, "kept": run.again,
        "failed": len(run.records) - good,
    }  # fmt: skip


def _encoded(run: _Run) -> Iterator[EncodedTexts]:
    for retriever in run.suite.retrievers:
        before = (_before(run.tasks[spec.name], retriever, spec)[1] for spec in run.suite.tasks)
        stores = {run.models.store(one) / "keys.bin" for one in before if one.encoder is not None}
        if there := [keys.stat().st_size for keys in stores if keys.is_file()]:
            yield {"retriever": retriever.name, "vectors": sum(there) // KEY_BYTES}


def write_sheets(folder: ArtifactFolder, written: Sequence[Sheet]) -> None:
    """Write tables as Markdown, LaTeX and Parquet, under `tables`."""
    home = folder.own(TABLES)
    home.mkdir(exist_ok=True)
    inside = ArtifactFolder(home)
    for sheet in written:
        for ending, text in (("md", sheet.markdown()), ("tex", sheet.latex())):
            write_whole(inside.own(f"{sheet.name}.{ending}"), text)
        inside.write_table(sheet.name, sheet.arrow())


def _table(summary: SuiteSummary) -> pa.Table:
    """Return the rows, with a column per measure and what a comparison says."""
    measures = list(dict.fromkeys(m for row in summary["rows"] for m in row["measures"]))
    schema = pa.schema(_OF_ROW | dict.fromkeys(measures, pa.float64()) | _OF_CHANGE)
    return pa.Table.from_pylist(
        [{**(row["comparison"] or {}), **row["measures"], **row} for row in summary["rows"]],
        schema=schema,
    )


_OF_ROW = {
    "retriever": pa.string(), "remedy": pa.string(), "scope": pa.string(), "name": pa.string(),
    "state": pa.string(), "reason": pa.string(), "queries": pa.int64(), "mean_rank": pa.float64(),
    "median_rank": pa.float64(),
}  # fmt: skip
_OF_CHANGE = {
    "mean_difference": pa.float64(), "low": pa.float64(), "high": pa.float64(),
    "p_value": pa.float64(), "improved": pa.int64(), "harmed": pa.int64(), "verdict": pa.string(),
}  # fmt: skip
# One row per retriever, remedy and task, and per average; a column per measure besides. scope:
# task, group (an average over a benchmark) or all. name: task or benchmark. reason: why it failed,
# or what is doubtful about it. queries: queries that were measured. mean_rank, median_rank: rank of
# the first relevant document; null where k hides some. mean_difference: from the original, by the
# headline measure; null for the original itself, as what follows.
_COLUMNS = _OF_ROW | _OF_CHANGE
