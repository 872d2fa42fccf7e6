"""From a retriever's answers to a cell: measures, and where the first relevant document stands."""

from __future__ import annotations

from dataclasses import replace

from argus.data.provenance import content_hash
from argus.data.runs import first_rank
from argus.evaluation.systems import System, judge, without_failed
from argus.suite.cells import Cell, CellRecord
from argus.suite.config import SuiteConfig
from argus.tasks.task import Task


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
    return {
        "retriever": cell.retriever, "remedy": cell.remedy, "task": cell.task, "inputs": inputs,
        "state": "measured", "reason": system.warning or "", "measures": evaluation.aggregate,
        "per_query": evaluation.per_query,
        "ranks": {q: first_rank(run[q], judged.relevant(q)) for q in judged.queries},
        "documents": len(task.documents), "queries_failed": len(judged.failed),
        "seconds": round(seconds, 3),
    }  # fmt: skip


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
    parts = (content_hash(*part) for part in (documents, queries, judged, excluded))
    return content_hash(*parts, *task.metrics).hex()
