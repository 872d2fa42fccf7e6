"""`argus research suite`: measure every retriever under every remedy on every task, in one run.

A TOML file (`argus.suite.reading`) -> a table of measures with tests against no remedy, and
results.md. It goes cell by cell (one retriever, remedy and task): open the retriever, apply the
remedy (`argus.suite.remedies`), ask the questions of the task (`argus.tasks`), and keep the
measures in a file, so that a killed run resumes. `suite_rows` makes each task's row and the
averages.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, product
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, Any, NamedTuple

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, file_hash
from argus.data.runs import first_rank, ranking
from argus.data.texts import in_cell
from argus.data.types import Run
from argus.data.writing import one_writer, write_whole
from argus.encoders import Encoder, EncoderConfig, load_encoder
from argus.encoders.store import sharing
from argus.errors import ArgusError, NothingMeasured, NothingToMend
from argus.evaluation.systems import System, ask_retriever, judge, search_index, without_failed
from argus.indexes.header import FILE
from argus.indexes.job import build_index
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.measures.significance import paired_difference, with_interval
from argus.progress import announce
from argus.python_file import file_of
from argus.repair.trials import take_out
from argus.retrievers.config import AskingConfig
from argus.retrievers.dense import parse_index
from argus.retrievers.names import input_path, is_index
from argus.retrievers.opening import opened
from argus.scenarios.tables import schema
from argus.settings import Option
from argus.suite.config import ORIGINAL, Suite, SuiteConfig, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.reading import Table, filled, paths_in, read_suite, remedy_in
from argus.suite.remedies import Remedy
from argus.tasks.opening import READERS, open_task, parse_task_spec
from argus.tasks.task import Task

# Depths of TCA, and the results that a reader of a task of CAR is shown.
DEPTHS, SERVED = (5, 10, 20), 5
# A cell as `measure_cell` or `failed` returns it.
CellRecord = dict[str, Any]


class Cell(NamedTuple):
    """A cell by its names."""

    retriever: str
    remedy: str
    task: str

    def __str__(self) -> str:
        return f"{self.retriever} x {self.remedy} x {self.task}"

    @property
    def file(self) -> str:
        """Name of its file: a hash, since its own names may be any text."""
        return f"{content_hash(*self, size=8).hex()}.json"


def read_cell(folder: ArtifactFolder, cell: Cell, inputs: str) -> CellRecord | None:
    """Return a cell that was measured with these inputs, or None."""
    record = folder.read_json(cell.file)
    kept = record.get("inputs") == inputs and record.get("state") == "measured"
    return record if kept else None


def failed(cell: Cell, inputs: str, reason: str) -> CellRecord:
    """Return a cell that could not be measured, with the keys of `measure_cell`."""
    return {
        **cell._asdict(), "inputs": inputs, "state": "failed", "reason": reason, "measures": {},
        "per_query": {}, "ranks": {}, "documents": 0, "queries_failed": 0, "seconds": 0.0,
    }  # fmt: skip


def score_authority(
    task: Task, run: Run, k: int
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Score results by authority, by question and in the mean. Empty without a relation.

    TCA@n (CAR Def. 7) for each n of `DEPTHS` up to k. At `SERVED`, or k: whether the answer is
    right (of questions with one), and the share of the gold chain (ProvRec). The mean TCA at
    `SERVED` is there per hop type, too: "TCA@5, T1".
    """
    if task.benchmark is None:
        return {}, {}
    from argus.authority.benchmarks.judging import Judge

    judge, last = Judge(task.benchmark), min(k, SERVED)
    by_query: dict[str, dict[str, float]] = {}
    columns: dict[str, list[float]] = {}
    for question in task.benchmark.questions:
        if question.id not in run:
            continue
        ids = ranking(run[question.id])
        row = {f"TCA@{n}": float(judge.figures(question, ids[:n]).tca) for n in DEPTHS if n <= k}
        figures = judge.figures(question, ids[:last])
        row[f"ProvRec@{last}"] = figures.provenance_recall
        if figures.answer_correct is not None:
            row[f"Acc@{last}"] = float(figures.answer_correct)
        by_query[question.id] = row
        tca = f"TCA@{SERVED}"
        hop = {f"{tca}, {question.hop}": row[tca]} if question.hop and tca in row else {}
        for name, value in (row | hop).items():
            columns.setdefault(name, []).append(value)
    return by_query, {name: fmean(column) for name, column in sorted(columns.items())}


def measure_cell(
    cell: Cell, inputs: str, task: Task, system: System, config: SuiteConfig, seconds: float
) -> CellRecord:
    """Measure a system's answers by the suite's measures, and the task's own as deep as k.

    retriever, remedy, task: names of the cell.
    inputs: hash of all that it depends on.
    state: measured or failed.
    reason: why it failed; of a measured cell, a doubt about it, if any.
    measures, per_query: means, and values of each question, by measure.
    ranks: rank of the first relevant document by question; None beyond k.
    documents: documents of the task.
    queries_failed: questions that failed.
    seconds: time of its searches.

    Raises ArgusError if every question failed.
    """
    from argus.measures.measures import cutoff, measure_name

    judged = without_failed(judge(task.queries, task.qrels, task.excluded), [system])
    answered = replace(task, qrels=judged.qrels, queries=list(judged.queries.values()))
    run = answered.scored({q: system.run.get(q, {}) for q in judged.queries}, config.k)
    own = (m for m in map(measure_name, task.metrics) if (cutoff(m) or 0) <= config.k)
    evaluation = answered.evaluate(run, tuple(dict.fromkeys((*config.measures, *own))))
    authority, means = score_authority(task, run, config.k)
    return {
        **cell._asdict(), "inputs": inputs, "state": "measured", "reason": system.warning or "",
        "measures": evaluation.aggregate | means,
        "per_query": {q: row | authority.get(q, {}) for q, row in evaluation.per_query.items()},
        "ranks": {q: first_rank(run[q], judged.relevant(q)) for q in judged.queries},
        "documents": len(task.documents), "queries_failed": len(judged.failed),
        "seconds": round(seconds, 3),
    }  # fmt: skip


def digest(task: Task) -> str:
    """Return a hash of a task's texts, questions and judgements."""
    known = task.benchmark
    relation = () if known is None else (*known.questions, *known.edges, *known.rules)
    judged = sorted((q, sorted(grades.items())) for q, grades in task.qrels.items())
    excluded = sorted((q, sorted(ids)) for q, ids in task.excluded.items())
    parts = chain(task.documents, task.queries, judged, excluded, relation, task.metrics)
    return content_hash(*map(repr, parts)).hex()


def suite_rows(suite: Suite, cells: Mapping[Cell, CellRecord]) -> Iterator[dict[str, Any]]:
    """Yield per retriever and remedy a row per task, then averages over benchmarks and over all.

    retriever, remedy: names; the original is "none".
    scope: task, group (an average over a benchmark) or all.
    name: task or benchmark.
    state: measured or failed.
    reason: why a cell failed, or a doubt about it.
    queries: queries that were measured.
    queries_failed: queries that failed.
    measures: value of each measure.
    comparison: headline measure against the original. None for that, or if one is missing.
    mean_rank, median_rank: rank of the first relevant document. None if k hides some.
    """
    groups = {t.group: [u for u in suite.tasks if u.group == t.group] for t in suite.tasks}
    places = [("task", task.name, [task]) for task in suite.tasks]
    places += [("group", group, tasks) for group, tasks in groups.items() if len(groups) > 1]
    places.append(("all", "all tasks", [*suite.tasks]))
    for retriever in suite.retrievers:
        for remedy in suite.remedies_of(retriever):
            for scope, name, tasks in places:
                after = [cells[Cell(retriever.name, remedy.name, t.name)] for t in tasks]
                originals = (cells.get(Cell(retriever.name, ORIGINAL, t.name)) for t in tasks)
                before = [record for record in originals if record is not None]
                yield {
                    "retriever": retriever.name, "remedy": remedy.name, "scope": scope,
                    "name": name, **_figures(suite.config, scope, before, after),
                }  # fmt: skip


def _figures(
    config: SuiteConfig, scope: str, before: Sequence[CellRecord], after: Sequence[CellRecord]
) -> dict[str, Any]:
    """Return the figures of a row. before: the same cells of the original."""
    bad = next((record for record in after if record["state"] == "failed"), None)
    row: dict[str, Any] = {
        "state": "measured" if bad is None else "failed",
        "reason": "" if bad is None else f"{bad['task']} was not measured",
        "queries": sum(len(record["per_query"]) for record in after),
        "queries_failed": sum(record["queries_failed"] for record in after),
        "measures": {}, "comparison": None, "mean_rank": None, "median_rank": None,
    }  # fmt: skip
    if scope == "task":
        (record,) = after
        row |= {"reason": record["reason"], "measures": record["measures"]}
        ranks, documents = record["ranks"].values(), record["documents"]
        if bad is None and (config.k >= documents or None not in ranks):  # else k hides some
            places = [float(documents if rank is None else rank) for rank in ranks]
            row |= {"mean_rank": fmean(places), "median_rank": median(places)}
    elif bad is None:
        measures = {m: fmean(record["measures"][m] for record in after) for m in config.measures}
        row["measures"] = measures
    is_change = after[0]["remedy"] != ORIGINAL and len(before) == len(after)
    if is_change and all(record["state"] == "measured" for record in (*before, *after)):
        row["comparison"] = _compare(config, before, after)
    return row


def _compare(
    config: SuiteConfig, before: Sequence[CellRecord], after: Sequence[CellRecord]
) -> dict[str, Any] | None:
    """Compare the headline measure over the questions that both answered, all in one test.

    Each task has the same weight: values are scaled so that the mean over all questions is the mean
    of the tasks' means. The test tosses a sign per question.
    """
    rows = [(old["per_query"], new["per_query"]) for old, new in zip(before, after, strict=True)]
    both = [old.keys() & new.keys() for old, new in rows]
    if not all(both):
        return None
    total = sum(map(len, both))
    sides: tuple[dict[str, float], dict[str, float]] = {}, {}
    for number, (pair, queries) in enumerate(zip(rows, both, strict=True)):
        scale = total / (len(rows) * len(queries))
        for side, values in zip(sides, pair, strict=True):
            side |= {f"{number} {q}": values[q][config.headline] * scale for q in queries}
    return paired_difference(*sides, seed=config.seed).figures()


JOB = "suite"
INDEX = ".index.partial"  # the temporary index: no folder of a user has this name
UNCHANGED = "nothing was changed"
TABLE = "results.md"
MARKS = {"better": "↑", "worse": "↓", "": ""}
SIGNIFICANT = (
    "↑ better, ↓ worse than the original: paired randomisation test below 0.05, and a "
    "95% interval without zero. Harmed: questions, against improved ones."
)
IN_MEMORY = Path("suite")  # name in messages of a suite without a file
# Asks all questions of a task under a remedy, to a depth.
Ask = Callable[[Remedy, int], System]

_OF_ROW = schema(
    ("retriever remedy scope name state reason", str), ("queries", int),
    ("mean_rank median_rank", float),
)  # fmt: skip
_OF_CHANGE = schema(
    ("mean_difference low high p_value", float), ("improved harmed", int), ("verdict", str)
)


@dataclass(frozen=True, repr=False)
class SuiteResult(Result):
    """The rows and tables of a suite. Everything in it is also in `folder`.

    Keys of the summary:
    k: results of every question.
    measures: measures that were taken.
    headline: measure that remedies are judged by.
    cells: number of cells: total, measured, kept (of an earlier run) and failed.
    rows: a row per cell, and per average, as `suite_rows` yields them.
    """

    TABLES = ("table",)
    folder: Path
    summary: dict[str, Any]
    # One row per retriever, remedy and task or average, with a column per measure. A comparison by
    # the headline measure with the original adds mean_difference, low, high, p_value, improved,
    # harmed and verdict, null for the original itself.
    table: pa.Table

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
        yield f"table: {self.folder / TABLE}"


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
    again what changed or failed. A text is embedded once per encoder. OUT/results.md is the table.

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
    record.open(folder)
    shutil.rmtree(folder.path / INDEX, ignore_errors=True)  # of a run that was killed
    home = ArtifactFolder(folder.own("cells"))
    home.path.mkdir(exist_ok=True)
    models = Models(folder.path, store or folder.own("embeddings"))
    cells: dict[Cell, CellRecord] = {}
    kept = 0
    for retriever, spec in product(suite.retrievers, suite.tasks):
        with record.timed(f"{retriever.name} on {spec.name}"):
            own, earlier = _measure_pair(suite, file, retriever, spec, home, models)
        cells, kept = cells | own, kept + earlier
    rows = list(suite_rows(suite, cells))
    good, total = sum(cell["state"] == "measured" for cell in cells.values()), len(cells)
    counts = {"total": total, "measured": good, "kept": kept, "failed": total - good}
    summary: dict[str, Any] = {
        "k": suite.config.k,
        "measures": list(suite.config.measures),
        "headline": suite.config.headline,
        "cells": counts,
        "rows": rows,
    }
    names = dict.fromkeys(m for row in rows for m in row["measures"])
    measures = pa.schema([(name, pa.float64()) for name in names])
    table = pa.Table.from_pylist(
        [{**(row["comparison"] or {}), **row["measures"], **row} for row in rows],
        schema=pa.unify_schemas([_OF_ROW, measures, _OF_CHANGE]),
    )
    write_table(folder, suite, rows)
    folder.write_table("suite", table, csv=True)
    folder.write_results(JOB, summary, record.manifest(counts))
    if not good:
        reason = next(iter(cells.values()))["reason"]
        raise NothingMeasured("cell", f"All {total} failed. The first: {reason}")
    return SuiteResult(folder.path, summary, table)


def _measure_pair(
    suite: Suite,
    file: Path,
    retriever: SuiteRetriever,
    spec: SuiteTask,
    home: ArtifactFolder,
    models: Models,
) -> tuple[dict[Cell, CellRecord], int]:
    """Return the cells of a retriever on a task, and how many are of an earlier run."""
    own = {Cell(retriever.name, m.name, spec.name): m for m in suite.remedies_of(retriever)}
    try:
        task = models.task(spec)
        asked = retriever.with_instruction(spec.instruction or task.instruction, spec.name)
    except ArgusError as error:
        return {cell: failed(cell, "", str(error)) for cell in own}, 0
    tables = {
        cell: Table(filled(m, retriever, spec), file, f"remedies.{m.name}")
        for cell, m in own.items()
    }
    inputs = {c: _inputs(suite, asked, own[c], t, spec, task) for c, t in tables.items()}
    earlier = {cell: read_cell(home, cell, inputs[cell]) for cell in own}
    cells = {cell: found for cell, found in earlier.items() if found is not None}
    missing, kept = [cell for cell in own if cell not in cells], len(cells)
    if not missing:
        return cells, kept
    try:
        with models.open(asked, task, spec.name) as ask:
            for cell in missing:
                announce(f"{JOB}: {cell}")
                remedy = partial(remedy_in, tables[cell], own[cell].kind)
                cells[cell] = _measure(cell, inputs[cell], suite, task, ask, remedy)
                home.write_json(cell.file, cells[cell])
    except Exception as error:  # of the retriever itself: none can be measured
        for cell in missing:
            cells.setdefault(cell, failed(cell, inputs[cell], _reason(error)))
    return cells, kept


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
    source, encoder = retriever.source_of(spec.name), retriever.encoder
    files = [path for _, path in paths_in(table.values, remedy.kind)]
    if is_index(source):
        files.append(parse_index(source)[0].path)
    elif source and (path := input_path(source)) is not None and path.is_file():
        files.append(path)
    if isinstance(encoder, EncoderConfig) and encoder.is_python:
        files.append(file_of(encoder.model))
    parts: list[object] = [
        retriever.identity(spec.name), remedy.kind, sorted(table.values.items()),
        suite.config.k, suite.config.measures,
    ]  # fmt: skip
    for path in files:
        if (path / FILE).is_file():  # an index
            parts += [file_hash(path / FILE), ViewIndex.open(path).version]
        else:
            inside = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
            parts += [(f.relative_to(path).as_posix(), file_hash(f)) for f in inside]
    return content_hash(digest(task), *map(repr, parts)).hex()


class Models:
    """The tasks and retrievers of a suite. Each encoder is loaded once, with one store of vectors.

    home: the suite's folder, with a temporary index. vectors: folder of the stores.
    """

    def __init__(self, home: Path, vectors: Path) -> None:
        self.home, self.vectors = home, vectors
        self._loaded: dict[tuple[str, str | None], Encoder] = {}
        self._tasks: dict[str, Task] = {}

    def task(self, spec: SuiteTask) -> Task:
        """Open a task, once."""
        if spec.name not in self._tasks:
            self._tasks[spec.name] = open_task(spec.place).with_instructions()
        return self._tasks[spec.name]

    @contextmanager
    def open(self, retriever: SuiteRetriever, task: Task, name: str) -> Iterator[Ask]:
        """Open a retriever on a task's documents. name: of the task in the suite.

        An encoder has an index, and all vectors, of remedies and questions too, in one store.
        """
        queries = task.queries
        if isinstance(retriever.encoder, EncoderConfig):
            store = self.vectors / retriever.folder  # another query prompt has another store
            encoder, index = self._encoder(retriever, task, store), self.home / INDEX
            try:
                build_index(task.documents, out=index, encoder=encoder, store=store)
                with sharing(index, store):
                    yield partial(self.ask, encoder, task)
            finally:
                shutil.rmtree(index, ignore_errors=True)
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

    def ask(self, encoder: Encoder, task: Task, remedy: Remedy, depth: int) -> System:
        """Add a remedy to the index, ask it, and take the remedy out again."""
        index, warning = self.home / INDEX, None
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

    def _encoder(self, retriever: SuiteRetriever, task: Task, store: Path) -> Encoder:
        """Return an encoder, whose precision is checked on the documents."""
        assert isinstance(retriever.encoder, EncoderConfig)
        key = retriever.name, retriever.encoder.query_prompt
        if key not in self._loaded:
            self._loaded[key] = load_encoder(retriever.encoder)
        return self._loaded[key]


def write_table(folder: ArtifactFolder, suite: Suite, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write all measures of all tasks, averages last, and the questions harmed and improved.

    rows: of the suite, as `suite_rows` yields them.
    """
    places = list(dict.fromkeys((row["scope"], row["name"]) for row in rows))
    places.sort(key=lambda place: place[0] != "task")
    if len(places) > 1 and places[1][0] != "task":  # the average of one task is that task
        places = places[:1]
    measures, headline = suite.config.measures, suite.config.headline
    heads = [name if scope == "task" else f"average, {name}" for scope, name in places]
    columns = ["retriever", "remedy", *(f"{head} {m}" for head in heads for m in measures)]
    lines = [[*columns, "harmed : improved"]]
    lines.append(["---"] * 2 + ["---:"] * (len(columns) - 1))
    own: dict[tuple[str, str], dict[tuple[str, str], Mapping[str, Any]]] = {}
    for row in rows:
        pair = row["retriever"], row["remedy"]
        own.setdefault(pair, {})[row["scope"], row["name"]] = row
    for pair, cells in own.items():
        compared = [c["comparison"] for c in cells.values() if c["scope"] == "task"]
        compared = [difference for difference in compared if difference is not None]
        harmed, improved = (sum(d[key] for d in compared) for key in ("harmed", "improved"))
        figures = []
        for place in places:
            for measure in measures:
                value, against = cells[place]["measures"].get(measure), cells[place]["comparison"]
                if value is None:
                    figures.append("failed" if cells[place]["state"] == "failed" else "")
                else:
                    marked = against and measure == headline
                    mark = MARKS[against["verdict"]] if marked else ""
                    figures.append(f"{value:.3f}{mark}")
        last = f"{harmed:,} : {improved:,}" if compared else ""
        lines.append([*pair, *figures, last])
    text = [f"| {' | '.join(map(in_cell, line))} |" for line in lines]
    whole = "\n".join(["**Retrieval under remedies**", "", *text, "", SIGNIFICANT]) + "\n"
    write_whole(folder.own(TABLE), whole)
