"""What the cells of a suite come to: each against the original, per task and on average."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from argus.measures.significance import DifferenceFigures, paired_difference
from argus.suite.cells import Cell, CellRecord, Cells
from argus.suite.config import ORIGINAL, Suite, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.summary import Scope, SuiteRow

PerQuery = Mapping[str, float]


@dataclass(frozen=True)
class Findings:
    """The rows of a suite, from its cells."""

    suite: Suite
    cells: Cells

    def rows(self) -> list[SuiteRow]:
        """Return a row per retriever, remedy and task, then the averages of each."""
        return [
            row
            for retriever in self.suite.retrievers
            for remedy in self.suite.remedies_of(retriever)
            for row in self._of(retriever, remedy)
        ]

    def _of(self, retriever: SuiteRetriever, remedy: SuiteRemedy) -> Iterator[SuiteRow]:
        for task in self.suite.tasks:
            yield self._task(retriever, remedy, task)
        groups = list(dict.fromkeys(task.group for task in self.suite.tasks))
        for group in groups if len(groups) > 1 else ():
            tasks = [task for task in self.suite.tasks if task.group == group]
            yield self._average(retriever, remedy, tasks, "group", group)
        yield self._average(retriever, remedy, self.suite.tasks, "all", "all tasks")

    def _task(self, retriever: SuiteRetriever, remedy: SuiteRemedy, task: SuiteTask) -> SuiteRow:
        record = self.cells[Cell(retriever.name, remedy.name, task.name)]
        row = _row(retriever, remedy, "task", task.name, [record])
        if record["state"] == "measured":
            places = _places(record, self.suite.config.k)
            row["measures"] = record["measures"]
            row["mean_rank"] = None if places is None else fmean(places)
            row["median_rank"] = None if places is None else median(places)
        original = self.cells.measured(Cell(retriever.name, ORIGINAL, task.name))
        if original is not None and remedy.name != ORIGINAL and row["state"] == "measured":
            row["comparison"] = self._compared([original], [record])
        return row

    def _average(
        self,
        retriever: SuiteRetriever,
        remedy: SuiteRemedy,
        tasks: Sequence[SuiteTask],
        scope: Scope,
        name: str,
    ) -> SuiteRow:
        records = [self.cells[Cell(retriever.name, remedy.name, task.name)] for task in tasks]
        row = _row(retriever, remedy, scope, name, records)
        if row["state"] == "failed":
            return row
        row["measures"] = {
            measure: fmean(record["measures"][measure] for record in records)
            for measure in self.suite.config.measures
        }
        originals = [self.cells.measured(Cell(retriever.name, ORIGINAL, t.name)) for t in tasks]
        before = [record for record in originals if record is not None]
        if remedy.name != ORIGINAL and len(before) == len(records):
            row["comparison"] = self._compared(before, records)
        return row

    def _compared(
        self, before: Sequence[CellRecord], after: Sequence[CellRecord]
    ) -> DifferenceFigures | None:
        """Compare by the headline measure, over the questions that both answered, all as one test.

        Of several tasks each counts alike, however many questions it has: values are scaled so that
        the mean over all questions is the mean of the tasks' means. A sign is tossed per question.
        """
        measure, config = self.suite.config.headline, self.suite.config
        pairs = [_shared(b, a, measure) for b, a in zip(before, after, strict=True)]
        if not all(first for first, _ in pairs):
            return None
        total = sum(len(first) for first, _ in pairs)
        sides: tuple[dict[str, float], dict[str, float]] = ({}, {})
        for number, pair in enumerate(pairs):
            scale = total / (len(pairs) * len(pair[0]))
            for side, values in zip(sides, pair, strict=True):
                side |= {f"{number} {q}": value * scale for q, value in values.items()}
        return paired_difference(*sides, seed=config.seed).figures()


def _shared(before: CellRecord, after: CellRecord, measure: str) -> tuple[PerQuery, PerQuery]:
    """Return both cells' values of the questions that both have."""
    sides = [record["per_query"] for record in (before, after)]
    both = sides[0].keys() & sides[1].keys()
    first, second = ({q: side[q][measure] for q in both} for side in sides)
    return first, second


def _places(record: CellRecord, k: int) -> list[float] | None:
    """Return the rank of every question's first relevant document; None where k hides some.

    Where k is the whole corpus, what is not brought back at all ties at its end.
    """
    ranks = record["ranks"].values()
    if any(rank is None for rank in ranks) and k < record["documents"]:
        return None
    return [float(record["documents"] if rank is None else rank) for rank in ranks]


def _row(
    retriever: SuiteRetriever,
    remedy: SuiteRemedy,
    scope: Scope,
    name: str,
    records: Sequence[CellRecord],
) -> SuiteRow:
    bad = next((record for record in records if record["state"] == "failed"), None)
    reason = next((record["reason"] for record in records if record["reason"]), "")
    if scope != "task":
        reason = "" if bad is None else f"{bad['task']} was not measured"
    return {
        "retriever": retriever.name, "remedy": remedy.name, "scope": scope, "name": name,
        "state": "measured" if bad is None else "failed", "reason": reason,
        "queries": sum(len(record["per_query"]) for record in records),
        "queries_failed": sum(record["queries_failed"] for record in records),
        "measures": {}, "comparison": None, "mean_rank": None, "median_rank": None,
    }  # fmt: skip
