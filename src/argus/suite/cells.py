"""Measure one retriever under one remedy on one task (a cell), and compare it with no remedy.

The measuring step of `argus research suite`. `measure_cell`: a system's answers -> its measures,
kept in a file, so that a killed run resumes. `suite_rows`: all cells -> the rows of the result,
each task and the averages. `argus.suite.job` runs the grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import fmean, median
from typing import Any, NamedTuple

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.runs import first_rank, ranking
from argus.data.types import Run
from argus.evaluation.systems import System, judge, without_failed
from argus.measures.significance import paired_difference
from argus.suite.config import ORIGINAL, Suite, SuiteConfig
from argus.tasks.task import Task

DEPTHS, SERVED = (5, 10, 20), 5
"""Depths of TCA, and the results that a reader of a task of CAR is shown."""
CellRecord = dict[str, Any]
"""A cell as `measure_cell` or `failed` returns it."""


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
