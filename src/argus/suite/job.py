"""Run the grid of a suite, retrievers x remedies x tasks, cell by cell (`argus research suite`)."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, file_hash
from argus.data.writing import one_writer, take_lock
from argus.encoders import (
    Encoder,
    EncoderConfig,
    LoadedEncoder,
    load_encoder,
    stored_fingerprint,
)
from argus.encoders.store import sharing
from argus.errors import ArgusError, NothingMeasured, NothingToMend
from argus.evaluation.systems import System, ask_retriever, search_index
from argus.indexes.header import FILE
from argus.indexes.job import build_index
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.measures.significance import with_interval
from argus.progress import announce
from argus.python_file import file_of
from argus.repair.trials import take_out
from argus.retrievers.config import AskingConfig
from argus.retrievers.dense import parse_index
from argus.retrievers.names import input_path, is_index
from argus.retrievers.opening import opened
from argus.settings import Option
from argus.suite.cells import (
    Cell,
    CellRecord,
    digest,
    failed,
    measure_cell,
    read_cell,
    suite_rows,
    write_cell,
)
from argus.suite.config import Suite, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.reading import Table, filled, paths_in, read_suite, remedy_in
from argus.suite.remedies import Remedy
from argus.suite.tables import TABLES, write_suite
from argus.tasks.opening import READERS, open_task, parse_task_spec
from argus.tasks.task import Task

JOB = "suite"
INDEX = ".index.partial"  # the temporary index: no folder of a user has this name
UNCHANGED = "nothing was changed"
IN_MEMORY = Path("suite")  # name in messages of a suite without a file
Ask = Callable[[Remedy, int], System]
"""Asks all questions of a task under a remedy, to a depth."""

_TEXT, _COUNT, _VALUE = pa.string(), pa.int64(), pa.float64()
_OF_ROW = dict.fromkeys(("retriever", "remedy", "scope", "name", "state", "reason"), _TEXT) | {
    "queries": _COUNT, "mean_rank": _VALUE, "median_rank": _VALUE,
}  # fmt: skip
_OF_CHANGE = dict.fromkeys(("mean_difference", "low", "high", "p_value"), _VALUE) | {
    "improved": _COUNT, "harmed": _COUNT, "verdict": _TEXT,
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class SuiteResult(Result):
    """The rows and tables of a suite. Everything in it is also in `folder`.

    Keys of the summary:
    k: results of every question.
    measures: measures that were taken.
    headline: measure that remedies are judged by.
    cells: number of cells: total, measured, kept (of an earlier run) and failed.
    tasks: name, group, documents, queries and metrics (measures of its own) of each task.
    rows: a row per cell, and per average, as `suite_rows` yields them.
    tables: files under OUT/tables, without their ending.
    """

    TABLES = ("table",)
    folder: Path
    summary: dict[str, Any]
    table: pa.Table
    """One row per retriever, remedy and task or average, with a column per measure.

    A comparison by the headline measure with the original adds mean_difference, low, high, p_value,
    improved, harmed and verdict, null for the original itself.
    """

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


@one_writer
def run_suite(
    suite: Annotated[Suite | Path | str, Option(argument="FILE")],
    *,
    out: o.Out = o.OUT,
    store: o.Store = None,
    fresh: o.Fresh = False,
) -> SuiteResult:
    """Ask every retriever under every remedy the questions of every task, and write the tables.

    Each cell is kept as it is finished: the same command goes on where it was stopped, and runs
    again what changed or failed. A text is embedded once per encoder. Tables are in OUT/tables.

    suite: a TOML file, or the result of `read_suite`. A cell that fails has its reason, and the
    others go on. Raises InputError for a bad file and absent tasks, ArgusError if another run
    writes to OUT and if nothing could be measured.

    Args:
        suite: TOML of retrievers, remedies, tasks and k.
    """
    file = IN_MEMORY if isinstance(suite, Suite) else Path(suite)
    suite = suite if isinstance(suite, Suite) else read_suite(file)
    for i, spec in enumerate(suite.tasks):
        place = parse_task_spec(spec.place).place
        if not place.exists():
            raise Table({}, file, f"tasks[{i}]").error(
                "task", f"{place} is absent", f"the files of a task, as {', '.join(READERS)}:PLACE",
                "Check the path: nothing is downloaded.",
            )  # fmt: skip
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(JOB, {"suite": asdict(suite)}, {"suite": file if file.is_file() else None})
    folder.path.mkdir(parents=True, exist_ok=True)
    busy = f"{folder.path} is in use by another suite; wait for it, or give another --out."
    with take_lock(folder.path / ".lock", busy=busy):
        record.open(folder)
        shutil.rmtree(folder.path / INDEX, ignore_errors=True)  # of a run that was killed
        models = Models(folder.path, store or folder.own("embeddings"))
        return _run(suite, file, folder, record, models)


def _run(
    suite: Suite, file: Path, folder: ArtifactFolder, record: Record, models: Models
) -> SuiteResult:
    """Measure the cells that are missing, and write tables, summary and manifest."""
    home = folder.own("cells")
    home.mkdir(parents=True, exist_ok=True)
    cells: dict[Cell, CellRecord] = {}
    kept = 0
    tasks: dict[str, Task] = {}
    for retriever, spec in product(suite.retrievers, suite.tasks):
        with record.timed(f"{retriever.name} on {spec.name}"):
            own = {Cell(retriever.name, m.name, spec.name): m for m in suite.remedies_of(retriever)}
            try:
                if spec.name not in tasks:
                    tasks[spec.name] = open_task(spec.place).with_instructions()
                task = tasks[spec.name]
                instruction = spec.instruction or task.instruction
                asked = retriever.with_instruction(instruction, spec.name)
            except ArgusError as error:
                cells |= {cell: failed(cell, "", str(error)) for cell in own}
                continue
            tables = {
                cell: Table(filled(m, retriever, spec), file, f"remedies.{m.name}")
                for cell, m in own.items()
            }
            inputs = {c: _inputs(suite, asked, own[c], t, spec, task) for c, t in tables.items()}
            earlier = {cell: read_cell(home, cell, inputs[cell]) for cell in own}
            cells |= {cell: found for cell, found in earlier.items() if found is not None}
            missing = [cell for cell, found in earlier.items() if found is None]
            kept += len(own) - len(missing)
            try:
                if missing:
                    with models.open(asked, task, spec.name) as ask:
                        for cell in missing:
                            announce(f"{JOB}: {cell}")
                            remedy = partial(remedy_in, tables[cell], own[cell].kind)
                            cells[cell] = _measure(cell, inputs[cell], suite, task, ask, remedy)
                            write_cell(home, cell, cells[cell])
            except Exception as error:  # of the retriever itself: none can be measured
                for cell in missing:
                    cells.setdefault(cell, failed(cell, inputs[cell], _reason(error)))
    return _write(suite, folder, record, cells, kept, tasks)


def _measure(
    cell: Cell, inputs: str, suite: Suite, task: Task, ask: Ask, make: Callable[[], Remedy]
) -> CellRecord:
    """Measure one cell, or return why that failed. make: its remedy."""
    start, depth = time.perf_counter(), suite.config.k + task.spare
    try:
        remedy = make()
        system = ask(remedy, depth)
        try:
            system = replace(system, run=remedy.serve(task, system.run, depth))
        except NothingToMend as error:
            system = replace(system, warning=f"{UNCHANGED}: {error}")
        seconds = time.perf_counter() - start
        return measure_cell(cell, inputs, task, system, suite.config, seconds)
    except Exception as error:  # whatever it is, the other cells go on
        return failed(cell, inputs, _reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, ArgusError | OSError):
        return str(error)
    return f"unexpected {type(error).__name__}: {error}"


def _inputs(
    suite: Suite,
    retriever: SuiteRetriever,
    remedy: SuiteRemedy,
    table: Table,
    spec: SuiteTask,
    task: Task,
) -> str:
    """Return a hash of everything that a cell depends on. table: the remedy's settings."""
    source = retriever.source_of(spec.name)
    encoder = retriever.encoder
    own = encoder.model if isinstance(encoder, EncoderConfig) and encoder.is_python else ""
    parts = (
        retriever.identity(spec.name), _state_of_source(source) if source else "",
        *([_state_of(file_of(own))] if own else []),
        remedy.kind, sorted(table.values.items()),
        [_state_of(path) for _, path in paths_in(table.values, remedy.kind)],
        suite.config.k, suite.config.measures,
    )  # fmt: skip
    return content_hash(digest(task), *map(repr, parts)).hex()


def _state_of(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder, empty without any."""
    if path.is_file():
        return file_hash(path)
    inside = sorted(file for file in path.rglob("*") if file.is_file())
    parts = (f"{file.relative_to(path)} {file_hash(file)}" for file in inside)
    return content_hash(*parts).hex() if inside else ""


def _state_of_source(name: str) -> str:
    """Return the state of a named retriever: of its index, or of its file."""
    if is_index(name):
        spec, _ = parse_index(name)
        return f"{file_hash(spec.path / FILE)} {ViewIndex.open(spec.path).version}"
    path = input_path(name)
    return _state_of(path) if path is not None and path.is_file() else ""


class Models:
    """The retrievers of a suite. Each encoder is loaded once, with one store of all its vectors.

    home: the suite's folder, with a temporary index. vectors: folder of the stores.
    """

    def __init__(self, home: Path, vectors: Path) -> None:
        self.home, self.vectors = home, vectors
        self._loaded: dict[str, LoadedEncoder] = {}

    @contextmanager
    def open(self, retriever: SuiteRetriever, task: Task, name: str) -> Iterator[Ask]:
        """Open a retriever on a task's documents. name: of the task in the suite."""
        queries = task.queries
        if retriever.encoder is not None:
            with self._index(retriever, task) as (index, encoder):
                yield lambda remedy, depth: _ask_index(index, encoder, task, remedy, depth)
        elif retriever.bm25:
            ids = [document.id for document in task.documents]
            words = LexicalIndex.build(ids, [document.content for document in task.documents])
            asked, texts = [query.id for query in queries], [query.text for query in queries]
            yield lambda _, depth: System("bm25", words.search(texts, depth).run(asked))
        else:
            cache = self.home / "answers" / f"{retriever.folder}.sqlite"
            cache.parent.mkdir(parents=True, exist_ok=True)
            source, config = retriever.source_of(name), AskingConfig()
            with opened(source, documents=task.documents, config=config, cache=cache) as ready:
                yield lambda _, depth: ask_retriever(ready, queries, depth)

    @contextmanager
    def _index(self, retriever: SuiteRetriever, task: Task) -> Iterator[tuple[Path, Encoder]]:
        """Build an index with all its vectors, of remedies and questions too, in the one store."""
        sample = [d.content for d in task.documents if d.content.strip()]
        # Another query prompt has another store.
        store = self.vectors / retriever.folder
        encoder = self._encoder(retriever, sample, store)
        index = self.home / INDEX
        try:
            build_index(task.documents, out=index, encoder=encoder, store=store)
            with sharing(index, store):
                yield index, encoder
        finally:
            shutil.rmtree(index, ignore_errors=True)

    def _encoder(self, retriever: SuiteRetriever, sample: Sequence[str], store: Path) -> Encoder:
        """Return an encoder. Prompts share one model. sample: for the precision check."""
        assert isinstance(retriever.encoder, EncoderConfig)
        if retriever.name not in self._loaded:
            stored = stored_fingerprint(store)
            loaded = load_encoder(retriever.encoder, sample=sample, stored=stored)
            self._loaded[retriever.name] = loaded
        loaded, prompt = self._loaded[retriever.name], retriever.encoder.query_prompt
        if prompt is not None and prompt != loaded.config.query_prompt:
            loaded = loaded.with_query_prompt(prompt)
        return loaded.encoder


def _ask_index(index: Path, encoder: Encoder, task: Task, remedy: Remedy, depth: int) -> System:
    """Add a remedy to an index, ask it, and take the remedy out again."""
    warning = None
    try:
        try:
            remedy.apply(index, encoder)
        except NothingToMend as error:
            warning = f"{UNCHANGED}: {error}"
        retriever = IndexRetriever(ViewIndex.open(index), encoder)
        system = search_index(retriever.name, retriever, task.queries, depth)
        return replace(system, warning=warning or system.warning)
    finally:
        take_out(index, ())


def _write(
    suite: Suite,
    folder: ArtifactFolder,
    record: Record,
    cells: Mapping[Cell, CellRecord],
    kept: int,
    tasks: Mapping[str, Task],
) -> SuiteResult:
    """Write tables, summary and manifest. Raises ArgusError if nothing was measured."""
    rows = list(suite_rows(suite, cells))
    good, total = sum(cell["state"] == "measured" for cell in cells.values()), len(cells)
    counts = {"total": total, "measured": good, "kept": kept, "failed": total - good}
    summary: dict[str, Any] = {
        "k": suite.config.k,
        "measures": list(suite.config.measures),
        "headline": suite.config.headline,
        "cells": counts,
        "tasks": [
            {
                "name": spec.name, "group": spec.group, "documents": len(task.documents),
                "queries": len(task.queries), "metrics": list(task.metrics),
            }
            for spec in suite.tasks
            if (task := tasks.get(spec.name)) is not None
        ],
        "rows": rows,
        "tables": list(write_suite(folder, suite, rows)),
    }  # fmt: skip
    measures = dict.fromkeys((m for row in rows for m in row["measures"]), _VALUE)
    table = pa.Table.from_pylist(
        [{**(row["comparison"] or {}), **row["measures"], **row} for row in rows],
        schema=pa.schema(_OF_ROW | measures | _OF_CHANGE),
    )
    folder.write_table("suite", table, csv=True)
    folder.write_results(JOB, summary, record.manifest(counts))
    if not good:
        reason = next(iter(cells.values()))["reason"]
        raise NothingMeasured("cell", f"All {total} failed. The first: {reason}")
    return SuiteResult(folder.path, summary, table)
