"""From a retriever's answers to a cell: measures, and where the first relevant document stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from argus.data.provenance import content_hash
from argus.data.runs import first_rank, ranking
from argus.data.types import Run
from argus.evaluation.systems import System, judge, without_failed
from argus.suite.cells import Cell, CellRecord
from argus.suite.config import SuiteConfig
from argus.tasks.task import Task

DEPTHS, SERVED = (5, 10, 20), 5
"""Where TCA is looked at; results that a reader of a task of CAR is shown."""


def measures_of(task: Task, config: SuiteConfig) -> tuple[str, ...]:
    """Return what is measured on a task: the suite's measures, and the task's own as deep as k."""
    from argus.measures.measures import cutoff, measure_name

    own = (m for m in map(measure_name, task.metrics) if (cutoff(m) or 0) <= config.k)
    return tuple(dict.fromkeys((*config.measures, *own)))


def measured(
    cell: Cell, inputs: str, task: Task, system: System, config: SuiteConfig, seconds: float
) -> CellRecord:
    """Measure a system's answers. Raises ArgusError where every question failed."""
    judged = without_failed(judge(task.queries, task.qrels, task.excluded), [system])
    answered = replace(task, qrels=judged.qrels, queries=list(judged.queries.values()))
    run = answered.scored({q: system.run.get(q, {}) for q in judged.queries}, config.k)
    evaluation = answered.evaluate(run, measures_of(task, config))
    controlled = by_authority(task, run, config.k)
    per_query = {q: {**row, **controlled.get(q, {})} for q, row in evaluation.per_query.items()}
    return {
        "retriever": cell.retriever, "remedy": cell.remedy, "task": cell.task, "inputs": inputs,
        "state": "measured", "reason": system.warning or "",
        "measures": evaluation.aggregate | means(task, controlled),
        "per_query": per_query,
        "ranks": {q: first_rank(run[q], judged.relevant(q)) for q in judged.queries},
        "documents": len(task.documents), "queries_failed": len(judged.failed),
        "seconds": round(seconds, 3),
    }  # fmt: skip


def by_authority(task: Task, run: Run, k: int) -> dict[str, dict[str, float]]:
    """Return what each question's results are worth where authority counts; {} for other tasks.

    TCA@n for n of `DEPTHS` that k reaches (CAR Def. 7); at `SERVED`, or k, also whether the answer
    is right (of questions with one) and the share of the gold chain (ProvRec).
    """
    if task.benchmark is None:
        return {}
    from argus.authority.benchmarks.answers import reader_of
    from argus.authority.benchmarks.metrics import Judge

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


def means(task: Task, values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
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
    """Return a hash of what a task holds: other texts, questions or judgements, another task."""
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
