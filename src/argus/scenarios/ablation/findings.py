"""Findings of an ablation: every run against documents alone, gaps, and λ by type of document."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from argus.measures import Evaluation, paired_difference
from argus.measures.slices import Slicing
from argus.scenarios.ablation.config import DOCUMENTS, PLACEBO, SCENARIOS, ComparisonSettings
from argus.scenarios.ablation.grid import Cell, best_cell, split, usual_cell
from argus.scenarios.expansions import Baseline
from argus.scenarios.profile import Profiled

FEW = 20  # Questions below which a type is said to have few.
TYPES = "ablation_types"  # The table of all cells by type.
# One row per type of document and cell of the grid.
#
# corpus: whole, or its documents with scenarios alone.
# field: field that types are told by.
# type: value of that field.
# questions: questions with a relevant document of the type.
# alone: headline measure of documents alone.
# component: part of a scenario that is a view.
# lambda: weight λ of documents against scenarios.
# mean: headline measure of the cell. Null without a question.
# recommended: whether this cell is recommended for the type.
# recommended_weight: whether its λ is recommended for the usual component.
_SCHEMA = pa.schema(
    [
        ("corpus", pa.string()),
        ("field", pa.string()),
        ("type", pa.string()),
        ("questions", pa.int64()),
        ("alone", pa.float64()),
        ("component", pa.string()),
        ("lambda", pa.float64()),
        ("mean", pa.float64()),
        ("recommended", pa.bool_()),
        ("recommended_weight", pa.bool_()),
    ]
)


@dataclass(frozen=True)
class Ablation:
    """All runs on one corpus, measured on the same questions.

    corpus: "whole", or "profiled": only the documents that have scenarios.
    placebos: per question the mean over several exchanges of the profiles.
    """

    corpus: str
    n_documents: int
    n_profiled: int
    alone: Evaluation
    cells: Mapping[Cell, Evaluation]
    settings: ComparisonSettings
    baselines: Mapping[Baseline, Evaluation] = field(default_factory=dict)
    placebos: Mapping[Cell, Evaluation] = field(default_factory=dict)

    @property
    def usual(self) -> Cell:
        """M+E at λ = 0.7, chosen before these questions were seen."""
        return usual_cell(self.cells)

    @property
    def best(self) -> Cell:
        """The best cell on these very questions."""
        return best_cell(self.cells, self.settings.measure)

    def rows(self) -> list[dict[str, Any]]:
        """Return every run: its measures, and its difference from documents alone."""
        return [
            self._row(DOCUMENTS, self.alone),
            *(self._row(SCENARIOS, e, cell) for cell, e in self.cells.items()),
            *(self._row(str(baseline), e) for baseline, e in self.baselines.items()),
            *(self._row(PLACEBO, e, cell) for cell, e in self.placebos.items()),
        ]

    def summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
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
    ) -> dict[str, Any]:
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

    def _row(self, system: str, evaluation: Evaluation, cell: Cell | None = None) -> dict[str, Any]:
        is_alone = system == DOCUMENTS
        return {
            "corpus": self.corpus,
            "system": system,
            **({"component": None, "lambda": None} if cell is None else _name(cell)),
            "measures": dict(evaluation.aggregate),
            "comparison": None if is_alone else self.difference(self.alone, evaluation),
        }

    def _gaps(self) -> Iterator[dict[str, Any]]:
        """Compare usual and best cell with their placebos, and with expanded documents."""
        for cell in dict.fromkeys([self.usual, self.best]):
            rivals = {str(name): evaluation for name, evaluation in self.baselines.items()}
            if cell in self.placebos:
                rivals = {PLACEBO: self.placebos[cell]} | rivals
            for name, rival in rivals.items():
                comparison = self.difference(rival, self.cells[cell])
                yield {**_name(cell), "against": name, "comparison": comparison}

    def _tuned(self) -> dict[str, Any] | None:
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
) -> list[dict[str, Any]]:
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


def table(rows: Sequence[dict[str, Any]], measures: Sequence[str]) -> pa.Table:
    """Return one row per run and corpus. A column per measure besides.

    corpus: whole, or its documents with scenarios alone.
    system: documents alone, scenarios, placebo, pseudo-queries or summary.
    component: part of a scenario that is a view. Null without.
    lambda: weight λ of documents against scenarios.
    difference: mean difference from documents alone, by the headline measure.
    """
    comparisons = [row["comparison"] for row in rows]

    def column(kind: pa.DataType, key: str) -> pa.Array:
        return pa.array([None if c is None else c[key] for c in comparisons], kind)

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
            "difference": column(pa.float64(), "mean_difference"),
            "low": column(pa.float64(), "low"),
            "high": column(pa.float64(), "high"),
            "p": column(pa.float64(), "p_value"),
            "improved": column(pa.int64(), "improved"),
            "harmed": column(pa.int64(), "harmed"),
            "queries": column(pa.int64(), "queries"),
            "verdict": column(pa.string(), "verdict"),
            "no_interval": column(pa.string(), "no_interval"),
        }
    )


def _name(cell: Cell) -> dict[str, Any]:
    return {"component": str(cell.component), "lambda": cell.weight}


def by_type(
    ablation: Ablation,
    slices: Sequence[Slicing],
    documents: Sequence[str],
    gold: Mapping[str, Sequence[str]],
    profiles: Mapping[str, Profiled],
) -> list[dict[str, Any]]:
    """Return the grid's figures of each type.

    slices: of `documents`, the ids of the corpus. gold: the relevant documents of each question,
    which is of every type that one of them is of. profiles: of documents that have scenarios.
    """
    place = {doc_id: i for i, doc_id in enumerate(documents)}
    rows = []
    for slicing in slices:
        questions: dict[str, list[str]] = {name: [] for name in slicing.names}
        for query in sorted(ablation.alone.per_query):
            labels_of = (slicing.labels[place[d]] for d in gold[query] if d in place)
            for label in dict.fromkeys(label for labels in labels_of for label in labels):
                questions[label].append(query)
        for name, ids in questions.items():
            own = [d for d, labels in zip(documents, slicing.labels, strict=True) if name in labels]
            rows.append(_type(ablation, slicing.figures["field"], name, ids, own, profiles))
    return rows


def _type(
    ablation: Ablation,
    field: str,
    name: str,
    ids: Sequence[str],
    documents: Sequence[str],
    profiles: Mapping[str, Profiled],
) -> dict[str, Any]:
    own = [p.profile for d in documents if (p := profiles.get(d)) is not None and p.profile]
    usual = ablation.usual
    same = {c: e for c, e in ablation.cells.items() if c.component is usual.component}
    return {
        "corpus": ablation.corpus,
        "field": field,
        "type": name,
        "documents": len(documents),
        "profiles": len(own),
        "scenarios": sum(len(profile.scenarios) for profile in own),
        "questions": len(ids),
        "is_few": len(ids) < FEW,
        "alone": _mean(ablation.alone, ids, ablation.settings.measure),
        "usual": ablation.difference(ablation.alone, ablation.cells[usual], ids) if ids else None,
        "weight": _recommendation(ablation, same, ids),
        "cell": _recommendation(ablation, ablation.cells, ids),
        "grid": [
            {**_name(cell), "mean": _mean(evaluation, ids, ablation.settings.measure)}
            for cell, evaluation in ablation.cells.items()
        ],
    }


def _recommendation(
    ablation: Ablation, cells: Mapping[Cell, Evaluation], ids: Sequence[str]
) -> dict[str, Any] | None:
    """Return the best of some cells, and whether it is surely better than the usual one.

    Each half of the questions is told by the cell that is best on the other half. Where that is not
    surely better than the usual cell, the usual one is recommended. None without two questions.
    """
    settings = ablation.settings
    if len(ids) < 2:
        return None
    halves = split(ids, 0.5, np.random.default_rng(settings.seed))
    after: dict[str, float] = {}
    for half, other in (halves, halves[::-1]):
        values = cells[best_cell(cells, settings.measure, sorted(other))].per_query
        after |= {query: values[query][settings.measure] for query in half}
    values = ablation.cells[ablation.usual].per_query
    before = {query: values[query][settings.measure] for query in after}
    test = paired_difference(before, after, seed=settings.seed, resamples=settings.resamples)
    best = best_cell(cells, settings.measure, ids)
    return {
        "best": _name(best),
        "recommended": _name(best if test.verdict == "better" else ablation.usual),
        "to_usual": test.figures(),
    }


def _mean(evaluation: Evaluation, ids: Sequence[str], measure: str) -> float | None:
    if not ids:
        return None
    return sum(evaluation.per_query[query][measure] for query in ids) / len(ids)


def types_table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Return one row per type and cell. The mean is null where a type has no question."""
    flat = [
        {
            **{name: row[name] for name in ("corpus", "field", "type", "questions", "alone")},
            **cell,
            "recommended": _is(row["cell"], cell),
            "recommended_weight": _is(row["weight"], cell),
        }
        for row in rows
        for cell in row["grid"]
    ]
    return pa.Table.from_pylist(flat, schema=_SCHEMA)


def _is(recommendation: Mapping[str, Any] | None, cell: Mapping[str, Any]) -> bool:
    if recommendation is None:
        return False
    name = recommendation["recommended"]
    return (name["component"], name["lambda"]) == (cell["component"], cell["lambda"])
