"""Define a benchmark task (documents, queries, relevant documents, metrics), and score runs on it.

`Task.evaluate`: a run -> the task's own measures, without excluded documents. KILT's R-precision
and recall over sets of evidence are computed here. `argus.suite` measures retrievers on tasks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from argus.data.runs import Excluded, ranking, spare, without_excluded
from argus.data.types import Document, Qrels, Query, Run
from argus.errors import InputError, Location
from argus.evaluation.judged import JudgedQueries
from argus.evaluation.systems import judge

if TYPE_CHECKING:
    from argus.authority.benchmarks.collection import Benchmark
    from argus.measures import Evaluation

# The metric of most tasks.
NDCG = ("nDCG@10",)
R_PRECISION = "Rprec"
_RECALL = re.compile(r"R@(\d+)")


def refused(where: Location | Path | str, got: str, expected: str, fix: str) -> InputError:
    """Return the error of a task that cannot be read."""
    return InputError(got, expected=expected, fix=fix, where=where)


@dataclass(frozen=True)
class Task:
    """One task, in memory.

    metrics: as papers name them, the task's own first. excluded: query id to the documents that are
    taken out of a run before it is scored. instruction: for models that take one. It is not part of
    the queries. instructions: of single queries, where each has its own. evidence: of KILT, the
    sets of documents of which each alone is an answer. answers: query id to a reference answer,
    where the task has them (BRIGHT). benchmark: of CAR, records with the relation between them,
    which `argus.authority.score_systems` scores. files: that it was read from.
    """

    name: str
    documents: Sequence[Document] = field(repr=False)
    queries: Sequence[Query] = field(repr=False)
    qrels: Qrels = field(repr=False)
    metrics: tuple[str, ...] = NDCG
    excluded: Excluded = field(default_factory=dict, repr=False)
    instruction: str = ""
    instructions: Mapping[str, str] = field(default_factory=dict, repr=False)
    evidence: Mapping[str, Sequence[frozenset[str]]] = field(default_factory=dict, repr=False)
    answers: Mapping[str, str] = field(default_factory=dict, repr=False)
    benchmark: Benchmark | None = field(default=None, repr=False)
    files: Mapping[str, Path] = field(default_factory=dict, repr=False)

    @property
    def metric(self) -> str:
        """The metric by which systems are compared on it."""
        return self.metrics[0]

    @property
    def spare(self) -> int:
        """How many results more than k are asked for, so that k are left."""
        return spare(self.excluded)

    def scored(self, run: Run, depth: int | None = None) -> Run:
        """Return the scored part of a run: without the excluded documents, `depth` of the rest."""
        return without_excluded(run, self.excluded, depth)

    def with_instructions(self) -> Task:
        """Return it with each query's own instruction behind the query, as mteb asks them."""
        texts = {q: f" {instruction}" for q, instruction in self.instructions.items()}
        queries = [replace(q, text=q.text + texts.get(q.id, "")) for q in self.queries]
        return replace(self, queries=queries, instructions={}) if texts else self

    def evaluate(self, run: Run, metrics: Sequence[str] = ()) -> Evaluation:
        """Score a run on the measurable questions. `metrics` defaults to the task's own.

        Where a question has several sets of evidence, R-precision and recall are KILT's own.
        """
        from argus.measures import evaluate

        qrels = judge(self.queries, self.qrels).qrels
        scored = self.scored(run)
        evaluation = evaluate(scored, qrels, metrics or self.metrics)
        return with_evidence(evaluation, scored, self.evidence) if self.evidence else evaluation


def judged_of(task: Task) -> JudgedQueries:
    """Return a task's questions as jobs take them. Raise InputError when none can be measured."""
    judged = judge(task.queries, task.qrels, task.excluded)
    files = dict(task.files)
    return JudgedQueries(list(task.queries), task.qrels, judged, files, None, task.documents)


def with_evidence(
    evaluation: Evaluation, run: Run, evidence: Mapping[str, Sequence[frozenset[str]]]
) -> Evaluation:
    """Return an evaluation with R-precision and recall over sets of evidence, as KILT has them.

    An answer may be supported by one of several sets of pages (Petroni et al., 2021, 5.1).
    R-precision is that of the set which fares best. In recall at k a whole set is one point, at the
    rank of its last page. Other pages are a point each.
    """
    per_query = {query: dict(values) for query, values in evaluation.per_query.items()}
    for query, values in per_query.items():
        ranks, sets = ranking(run.get(query, {})), evidence.get(query)
        for measure in values if sets else ():
            if measure == R_PRECISION:
                values[measure] = r_precision(ranks, sets or ())
            elif depth := _RECALL.fullmatch(measure):
                values[measure] = recall(ranks, sets or (), int(depth[1]))
    aggregate = {
        measure: sum(values[measure] for values in per_query.values()) / len(per_query)
        for measure in evaluation.aggregate
    }
    return replace(evaluation, aggregate=aggregate, per_query=per_query)


def r_precision(ranks: Sequence[str], sets: Sequence[frozenset[str]]) -> float:
    """Return the share of the first |set| documents that are in the set, of the best set."""
    return max(len(one.intersection(ranks[: len(one)])) / len(one) for one in sets)


def recall(ranks: Sequence[str], sets: Sequence[frozenset[str]], k: int) -> float:
    """Return the share of sets that are whole within the first k points."""
    last: dict[int, int] = {}  # of a set: the point at which its latest document stands
    points: list[int | None] = []  # the set of each point; None for another document
    missing = [set(one) for one in sets]
    for document in ranks:
        of = [number for number, rest in enumerate(missing) if document in rest]
        if not of:
            points.append(None)
        for number in of:
            missing[number].discard(document)
            last[number] = len(points)
            points.append(number)
    merged = [p for at, p in enumerate(points) if p is None or last[p] == at]
    return sum(p is not None and not missing[p] for p in merged[:k]) / len(sets)
