"""Findings of an ablation on one corpus: rows against document-only search, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
import pyarrow as pa

from argus.measures import Evaluation, paired_difference
from argus.scenarios.ablation.config import ComparisonSettings
from argus.scenarios.ablation.grid import Cell, best_cell, split, usual_cell
from argus.scenarios.ablation.summary import (
    DOCUMENTS,
    PLACEBO,
    SCENARIOS,
    AloneRow,
    BaselineName,
    BaselineRow,
    CellName,
    CellRow,
    Comparison,
    CorpusSummary,
    Gap,
    Group,
    Row,
    Tuned,
)
from argus.scenarios.expansions import Baseline

T = TypeVar("T")


@dataclass(frozen=True)
class Ablation:
    """All runs on one corpus, measured on the same questions."""

    corpus: str
    """"whole", or "profiled": only the documents that have scenarios."""
    n_documents: int
    n_profiled: int
    alone: Evaluation
    cells: Mapping[Cell, Evaluation]
    settings: ComparisonSettings
    baselines: Mapping[Baseline, Evaluation] = field(default_factory=dict)
    placebos: Mapping[Cell, Evaluation] = field(default_factory=dict)
    """Per question the mean over several exchanges of the profiles."""

    @property
    def usual(self) -> Cell:
        """M+E at λ = 0.7, chosen before these questions were seen."""
        return usual_cell(self.cells)

    @property
    def best(self) -> Cell:
        """The best cell on these very questions."""
        return best_cell(self.cells, self.settings.measure)

    def rows(self) -> list[Row]:
        """Return every run: its measures, and its difference from documents alone."""
        rows: list[Row] = [self._alone_row()]
        rows += [self._cell_row(SCENARIOS, cell, e) for cell, e in self.cells.items()]
        rows += [self._baseline_row(baseline, e) for baseline, e in self.baselines.items()]
        rows += [self._cell_row(PLACEBO, cell, e) for cell, e in self.placebos.items()]
        return rows

    def summary(self, rows: Sequence[Row]) -> CorpusSummary:
        """Return the figures of the report. No value in it is NaN. rows: of this ablation."""
        return {
            "documents": self.n_documents,
            "documents_with_scenarios": self.n_profiled,
            "queries": len(self.alone.per_query),
            "usual": _name(self.usual),
            "best": _name(self.best),
            "tuned": self._tuned(),
            "gaps": list(self._gaps()),
            "rows": list(rows),
        }

    def difference(
        self, before: Evaluation, after: Evaluation, queries: Collection[str] | None = None
    ) -> Comparison:
        """Return a paired difference, over all questions or `queries`, with its verdict."""
        ids = before.per_query.keys() if queries is None else queries
        difference = paired_difference(
            *({q: e.per_query[q][self.settings.measure] for q in ids} for e in (before, after)),
            seed=self.settings.seed,
            resamples=self.settings.resamples,
        )
        mean = difference.mean_before
        relative = difference.mean_difference / mean if mean > 0 else None
        return {**difference.figures(), "relative": relative}

    def _alone_row(self) -> AloneRow:
        return {
            "corpus": self.corpus,
            "system": DOCUMENTS,
            "component": None,
            "lambda": None,
            "measures": dict(self.alone.aggregate),
            "comparison": None,
        }

    def _baseline_row(self, baseline: Baseline, evaluation: Evaluation) -> BaselineRow:
        return {
            "corpus": self.corpus,
            "system": _baseline_name(baseline),
            "component": None,
            "lambda": None,
            "measures": dict(evaluation.aggregate),
            "comparison": self.difference(self.alone, evaluation),
        }

    def _cell_row(
        self, system: Literal["scenarios", "placebo"], cell: Cell, evaluation: Evaluation
    ) -> CellRow:
        return {
            "corpus": self.corpus,
            "system": system,
            **_name(cell),
            "measures": dict(evaluation.aggregate),
            "comparison": self.difference(self.alone, evaluation),
        }

    def _gaps(self) -> Iterator[Gap]:
        """Compare usual and best cell with their placebos, and with expanded documents."""
        for cell in dict.fromkeys([self.usual, self.best]):
            rivals = {str(name): evaluation for name, evaluation in self.baselines.items()}
            if cell in self.placebos:
                rivals = {PLACEBO: self.placebos[cell]} | rivals
            for name, rival in rivals.items():
                comparison = self.difference(rival, self.cells[cell])
                yield {**_name(cell), "against": name, "comparison": comparison}

    def _tuned(self) -> Tuned | None:
        """Choose a cell on some questions and compare it on the others. None without either."""
        rng = np.random.default_rng(self.settings.seed)
        tuning, rest = split(self.alone.per_query, self.settings.tune_share, rng)
        if not tuning or not rest:
            return None
        cell = best_cell(self.cells, self.settings.measure, tuning)
        return {
            **_name(cell),
            "chosen_on": len(tuning),
            "comparison": self.difference(self.alone, self.cells[cell], rest),
            "usual": self.difference(self.alone, self.cells[self.usual], rest),
        }


def groups(
    whole: Ablation, gold: Mapping[str, Sequence[str]], profiled: Collection[str]
) -> list[Group]:
    """Return the usual cell's difference by how many relevant documents have scenarios.

    gold: the relevant documents of each question.
    """
    queries: dict[str, list[str]] = {}
    for query in whole.alone.per_query:
        n = sum(document in profiled for document in gold[query])
        name = "none" if not n else "all" if n == len(gold[query]) else "some"
        queries.setdefault(name, []).append(query)
    cell = whole.cells[whole.usual]
    return [
        {"relevant_with_scenarios": name, "comparison": whole.difference(whole.alone, cell, ids)}
        for name, ids in sorted(queries.items())
    ]


def table(rows: Sequence[Row], measures: Sequence[str]) -> pa.Table:
    """Return one row per run and corpus. A column per measure besides.

    corpus: whole, or its documents with scenarios alone.
    system: documents alone, scenarios, placebo, pseudo-queries or summary.
    component: part of a scenario that is a view. Null without.
    lambda: weight λ of documents against scenarios.
    difference: mean difference from documents alone, by the headline measure.
    """
    comparisons = [row["comparison"] for row in rows]

    def column(kind: pa.DataType, value: Callable[[Comparison], T]) -> pa.Array:
        return pa.array([None if c is None else value(c) for c in comparisons], kind)

    return pa.table(
        {
            "corpus": pa.array([row["corpus"] for row in rows], pa.string()),
            "system": pa.array([row["system"] for row in rows], pa.string()),
            "component": pa.array([row["component"] for row in rows], pa.string()),
            "lambda": pa.array([row["lambda"] for row in rows], pa.float64()),
            **{
                name: pa.array([row["measures"][name] for row in rows], pa.float64())
                for name in measures
            },
            "difference": column(pa.float64(), lambda c: c["mean_difference"]),
            "low": column(pa.float64(), lambda c: c["low"]),
            "high": column(pa.float64(), lambda c: c["high"]),
            "p": column(pa.float64(), lambda c: c["p_value"]),
            "improved": column(pa.int64(), lambda c: c["improved"]),
            "harmed": column(pa.int64(), lambda c: c["harmed"]),
            "queries": column(pa.int64(), lambda c: c["queries"]),
            "verdict": column(pa.string(), lambda c: c["verdict"]),
            "no_interval": column(pa.string(), lambda c: c["no_interval"]),
        }
    )


def _name(cell: Cell) -> CellName:
    return {"component": str(cell.component), "lambda": cell.weight}


def _baseline_name(baseline: Baseline) -> BaselineName:
    return "pseudo-queries" if baseline is Baseline.PSEUDO_QUERIES else "summary"
