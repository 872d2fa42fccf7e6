"""Measure the cells of a suite, keep them in files, and compare them with the original.

A cell is one retriever under one remedy on one task. `measure_cell` scores its answers,
`CellFolder` keeps the records, and `suite_rows` makes the rows of the summary: each cell, and
averages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Literal

from typing_extensions import TypedDict

from argus.data.provenance import content_hash
from argus.data.reading import parse_json, read_own, read_record
from argus.data.runs import first_rank, ranking
from argus.data.texts import cut_name, plain_name
from argus.data.types import Run
from argus.data.writing import write_whole
from argus.errors import InputError
from argus.evaluation.systems import System, judge, without_failed
from argus.measures.significance import DifferenceFigures, paired_difference
from argus.suite.config import ORIGINAL, Suite, SuiteConfig, SuiteTask
from argus.tasks.task import Task

DEPTHS, SERVED = (5, 10, 20), 5
"""Depths of TCA, and the results that a reader of a task of CAR is shown."""
Scope = Literal["task", "group", "all"]


class CellRecord(TypedDict):
    """A measured or failed cell. inputs: a hash of all that it depends on.

    reason: why it failed; of a measured cell, a doubt about it, if any. ranks: of the first
    relevant document, None beyond k.
    """

    retriever: str
    remedy: str
    task: str
    inputs: str
    state: Literal["measured", "failed"]
    reason: str
    measures: dict[str, float]
    per_query: dict[str, dict[str, float]]
    ranks: dict[str, int | None]
    documents: int
    queries_failed: int
    seconds: float


class SuiteRow(TypedDict):
    """One retriever under one remedy, on a task, or averaged over a benchmark or over all tasks.

    remedy: name of the remedy; original without one.
    scope: task, group (an average over a benchmark) or all.
    name: task or benchmark.
    reason: why a cell failed, or a doubt about it.
    queries: queries that were measured.
    queries_failed: queries that failed.
    comparison: headline measure against the original. None for that, or if one is missing.
    mean_rank, median_rank: rank of the first relevant document. None if k hides some.
    """

    retriever: str
    remedy: str
    scope: Scope
    name: str
    state: Literal["measured", "failed"]
    reason: str
    queries: int
    queries_failed: int
    measures: dict[str, float]
    comparison: DifferenceFigures | None
    mean_rank: float | None
    median_rank: float | None


@dataclass(frozen=True)
class Cell:
    """A cell by its names."""

    retriever: str
    remedy: str
    task: str

    def __str__(self) -> str:
        return f"{self.retriever} x {self.remedy} x {self.task}"

    @property
    def file(self) -> str:
        """Name of its file: its own names, as far as a file may have them, and a hash."""
        names = (self.retriever, self.remedy, self.task)
        text = cut_name("--".join(plain_name(name)[:40] for name in names))
        return f"{text}-{content_hash(*names, size=4).hex()}.json"


class CellFolder:
    """The measured cells in a folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)

    def read(self, cell: Cell, inputs: str) -> CellRecord | None:
        """Return a cell that was measured with these inputs, or None."""
        file = self.home / cell.file
        if not file.is_file():
            return None
        try:
            record = read_record(CellRecord, parse_json(read_own(file)), where=file)
        except (ValueError, InputError):
            return None  # damaged: it is measured again
        same = record["inputs"] == inputs and record["state"] == "measured"
        return record if same else None

    def write(self, record: CellRecord) -> None:
        """Write a cell, at once and whole."""
        cell = Cell(record["retriever"], record["remedy"], record["task"])
        write_whole(self.home / cell.file, json.dumps(record, allow_nan=False))


def failed(cell: Cell, inputs: str, reason: str) -> CellRecord:
    """Return a cell that could not be measured."""
    return {
        "retriever": cell.retriever, "remedy": cell.remedy, "task": cell.task, "inputs": inputs,
        "state": "failed", "reason": reason, "measures": {}, "per_query": {}, "ranks": {},
        "documents": 0, "queries_failed": 0, "seconds": 0.0,
    }  # fmt: skip


def measure_cell(
    cell: Cell, inputs: str, task: Task, system: System, config: SuiteConfig, seconds: float
) -> CellRecord:
    """Measure a system's answers by the suite's measures, and the task's own as deep as k.

    Raises ArgusError if every question failed.
    """
    from argus.measures.measures import cutoff, measure_name

    judged = without_failed(judge(task.queries, task.qrels, task.excluded), [system])
    answered = replace(task, qrels=judged.qrels, queries=list(judged.queries.values()))
    run = answered.scored({q: system.run.get(q, {}) for q in judged.queries}, config.k)
    own = (m for m in map(measure_name, task.metrics) if (cutoff(m) or 0) <= config.k)
    evaluation = answered.evaluate(run, tuple(dict.fromkeys((*config.measures, *own))))
    authority = score_authority(task, run, config.k)
    per_query = {q: {**row, **authority.get(q, {})} for q, row in evaluation.per_query.items()}
    return {
        "retriever": cell.retriever, "remedy": cell.remedy, "task": cell.task, "inputs": inputs,
        "state": "measured", "reason": system.warning or "",
        "measures": evaluation.aggregate | _means(task, authority),
        "per_query": per_query,
        "ranks": {q: first_rank(run[q], judged.relevant(q)) for q in judged.queries},
        "documents": len(task.documents), "queries_failed": len(judged.failed),
        "seconds": round(seconds, 3),
    }  # fmt: skip


def score_authority(task: Task, run: Run, k: int) -> dict[str, dict[str, float]]:
    """Score each question's results by authority. Return {} for tasks without a relation.

    TCA@n (CAR Def. 7) for each n of `DEPTHS` up to k. At `SERVED`, or k: whether the answer is
    right (of questions with one), and the share of the gold chain (ProvRec).
    """
    if task.benchmark is None:
        return {}
    from argus.authority.benchmarks.judging import Judge, reader_of

    judge, last = Judge(task.benchmark, reader_of(task.benchmark)), min(k, SERVED)
    values: dict[str, dict[str, float]] = {}
    for question in task.benchmark.questions:
        if question.id not in run:
            continue
        ids = ranking(run[question.id])
        values[question.id] = {
            f"TCA@{n}": float(judge.figures(question, ids[:n]).tca) for n in DEPTHS if n <= k
        }
        figures = judge.figures(question, ids[:last])
        values[question.id][f"ProvRec@{last}"] = figures.provenance_recall
        if figures.answer_correct is not None:
            values[question.id][f"Acc@{last}"] = float(figures.answer_correct)
    return values


def _means(task: Task, values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each figure, and of TCA at `SERVED` per hop type: "TCA@5, T1"."""
    if task.benchmark is None:
        return {}
    hops = {question.id: question.hop for question in task.benchmark.questions}
    columns: dict[str, list[float]] = {}
    for query, row in values.items():
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
            if hops[query] and name == f"TCA@{SERVED}":
                columns.setdefault(f"{name}, {hops[query]}", []).append(value)
    return {name: fmean(column) for name, column in sorted(columns.items())}


def digest(task: Task) -> str:
    """Return a hash of a task's texts, questions and judgements."""
    documents = (part for d in task.documents for part in (d.id, d.title, d.text))
    queries = (part for q in task.queries for part in (q.id, q.text))
    judged = (
        f"{query}\t{doc}\t{grade}"
        for query, grades in sorted(task.qrels.items())
        for doc, grade in sorted(grades.items())
    )
    excluded = (f"{q}\t{sorted(ids)}" for q, ids in sorted(task.excluded.items()))
    known = task.benchmark
    relation = () if known is None else map(repr, (*known.questions, *known.edges, *known.rules))
    parts = (content_hash(*part) for part in (documents, queries, judged, excluded, relation))
    return content_hash(*parts, *task.metrics).hex()


def suite_rows(suite: Suite, cells: Mapping[Cell, CellRecord]) -> Iterator[SuiteRow]:
    """Yield per retriever and remedy a row per task, then averages over benchmarks and over all."""
    groups: dict[str, list[SuiteTask]] = {}
    for task in suite.tasks:
        groups.setdefault(task.group, []).append(task)
    averages: list[tuple[Scope, str, Sequence[SuiteTask]]] = [
        ("group", group, tasks) for group, tasks in groups.items() if len(groups) > 1
    ]
    averages.append(("all", "all tasks", suite.tasks))
    for retriever in suite.retrievers:
        for remedy in suite.remedies_of(retriever):
            for scope, name, tasks in (*(("task", t.name, [t]) for t in suite.tasks), *averages):
                after = [cells[Cell(retriever.name, remedy.name, t.name)] for t in tasks]
                originals = (cells.get(Cell(retriever.name, ORIGINAL, t.name)) for t in tasks)
                before = [r for r in originals if r is not None and r["state"] == "measured"]
                row = _row(retriever.name, remedy.name, scope, name, after)
                if row["state"] == "measured":
                    _fill_row(row, suite.config, before, after)
                yield row


def _row(
    retriever: str, remedy: str, scope: Scope, name: str, records: Sequence[CellRecord]
) -> SuiteRow:
    bad = next((record for record in records if record["state"] == "failed"), None)
    reason = next((record["reason"] for record in records if record["reason"]), "")
    if scope != "task":
        reason = "" if bad is None else f"{bad['task']} was not measured"
    return {
        "retriever": retriever, "remedy": remedy, "scope": scope, "name": name,
        "state": "measured" if bad is None else "failed", "reason": reason,
        "queries": sum(len(record["per_query"]) for record in records),
        "queries_failed": sum(record["queries_failed"] for record in records),
        "measures": {}, "comparison": None, "mean_rank": None, "median_rank": None,
    }  # fmt: skip


def _fill_row(
    row: SuiteRow, config: SuiteConfig, before: Sequence[CellRecord], after: Sequence[CellRecord]
) -> None:
    """Add measures, ranks and the comparison with the original."""
    if row["scope"] == "task":
        (record,) = after
        row["measures"] = record["measures"]
        ranks, documents = record["ranks"].values(), record["documents"]
        if config.k >= documents or None not in ranks:  # else k hides some
            places = [float(documents if rank is None else rank) for rank in ranks]
            row["mean_rank"], row["median_rank"] = fmean(places), median(places)
    else:
        row["measures"] = {
            measure: fmean(record["measures"][measure] for record in after)
            for measure in config.measures
        }
    if row["remedy"] != ORIGINAL and len(before) == len(after):
        row["comparison"] = _compare(config, before, after)


def _compare(
    config: SuiteConfig, before: Sequence[CellRecord], after: Sequence[CellRecord]
) -> DifferenceFigures | None:
    """Compare the headline measure over the questions that both answered, all in one test.

    Each task has the same weight: values are scaled so that the mean over all questions is the mean
    of the tasks' means. The test tosses a sign per question.
    """
    pairs: list[list[dict[str, float]]] = []
    for sides in zip(before, after, strict=True):
        rows = [record["per_query"] for record in sides]
        both = rows[0].keys() & rows[1].keys()
        if not both:
            return None
        pairs.append([{q: side[q][config.headline] for q in both} for side in rows])
    total = sum(len(first) for first, _ in pairs)
    whole: list[dict[str, float]] = [{}, {}]
    for number, pair in enumerate(pairs):
        scale = total / (len(pairs) * len(pair[0]))
        for side, values in zip(whole, pair, strict=True):
            side |= {f"{number} {q}": value * scale for q, value in values.items()}
    return paired_difference(*whole, seed=config.seed).figures()
