"""Findings of an ablation: every run against documents alone, gaps, and λ by type of document."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from argus.measures import Evaluation, paired_difference
from argus.measures.slices import Slicing
from argus.scenarios.ablation.config import DOCUMENTS, PLACEBO, SCENARIOS, AblateConfig
from argus.scenarios.ablation.grid import Cell, best_cell, split, usual_cell
from argus.scenarios.expansions import Baseline
from argus.scenarios.profile import Profiled
from argus.scenarios.tables import schema

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
_TYPES = schema(
    ("corpus field type", str), ("questions", int), ("alone", float), ("component", str),
    ("lambda mean", float), ("recommended recommended_weight", bool),
)  # fmt: skip


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
    config: AblateConfig
    baselines: Mapping[Baseline, Evaluation] = field(default_factory=dict)
    placebos: Mapping[Cell, Evaluation] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """The one that cells are judged by."""
        return self.config.measures[0]

    @property
    def usual(self) -> Cell:
        """M+E at λ = 0.7, chosen before these questions were seen."""
        return usual_cell(self.cells)

    def rows(self) -> list[dict[str, Any]]:
        """Return every run: its measures, and its difference from documents alone."""
        runs: list[tuple[str, Cell | None, Evaluation]] = [
            (DOCUMENTS, None, self.alone),
            *((SCENARIOS, cell, e) for cell, e in self.cells.items()),
            *((str(baseline), None, e) for baseline, e in self.baselines.items()),
            *((PLACEBO, cell, e) for cell, e in self.placebos.items()),
        ]
        return [
            {
                "corpus": self.corpus,
                "system": system,
                **({"component": None, "lambda": None} if cell is None else _name(cell)),
                "measures": dict(evaluation.aggregate),
                "comparison": None if i == 0 else self.difference(self.alone, evaluation),
            }
            for i, (system, cell, evaluation) in enumerate(runs)
        ]

    def summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of the report. No value in it is NaN. rows: of this ablation."""
        best = best_cell(self.cells, self.measure)
        rng = np.random.default_rng(self.config.seed)
        tuning, rest = split(self.alone.per_query, self.config.tune_share, rng)
        tuned = None  # a cell that is chosen on some questions, and compared on the others
        if tuning and rest:
            cell = best_cell(self.cells, self.measure, tuning)
            tuned = {
                **_name(cell),
                "chosen_on": len(tuning),
                "comparison": self.difference(self.alone, self.cells[cell], rest),
                "usual": self.difference(self.alone, self.cells[self.usual], rest),
            }
        return {
            "documents": self.n_documents,
            "documents_with_scenarios": self.n_profiled,
            "queries": len(self.alone.per_query),
            "usual": _name(self.usual),
            "best": _name(best),
            "tuned": tuned,
            "gaps": list(self._gaps(best)),
            "rows": list(rows),
        }

    def difference(
        self, before: Evaluation, after: Evaluation, queries: Collection[str] | None = None
    ) -> dict[str, Any]:
        """Return a paired difference, over all questions or `queries`, with its verdict."""
        ids = before.per_query.keys() if queries is None else queries
        difference = paired_difference(
            *({q: e.per_query[q][self.measure] for q in ids} for e in (before, after)),
            seed=self.config.seed,
            resamples=self.config.resamples,
        )
        mean = difference.mean_before
        relative = difference.mean_difference / mean if mean > 0 else None
        return {**difference.figures(), "relative": relative}

    def _gaps(self, best: Cell) -> Iterator[dict[str, Any]]:
        """Compare usual and best cell with their placebos, and with expanded documents."""
        for cell in dict.fromkeys([self.usual, best]):
            rivals = {str(name): evaluation for name, evaluation in self.baselines.items()}
            if cell in self.placebos:
                rivals = {PLACEBO: self.placebos[cell]} | rivals
            for name, rival in rivals.items():
                comparison = self.difference(rival, self.cells[cell])
                yield {**_name(cell), "against": name, "comparison": comparison}


def compare_groups(
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


def runs_table(rows: Sequence[dict[str, Any]], measures: Sequence[str]) -> pa.Table:
    """Return one row per run and corpus. A column per measure besides.

    corpus: whole, or its documents with scenarios alone.
    system: documents alone, scenarios, placebo, pseudo-queries or summary.
    component: part of a scenario that is a view. Null without.
    lambda: weight λ of documents against scenarios.
    difference: mean difference from documents alone, by the headline measure.
    """
    flat = []
    for row in rows:
        change = row["comparison"] or {}
        renamed = {"difference": change.get("mean_difference"), "p": change.get("p_value")}
        flat.append({**row, **row["measures"], **change, **renamed})
    columns = schema(
        ("corpus system component", str), (" ".join(["lambda", *measures]), float),
        ("difference low high p", float), ("improved harmed queries", int),
        ("verdict no_interval", str),
    )  # fmt: skip
    return pa.Table.from_pylist(flat, schema=columns)


def _name(cell: Cell) -> dict[str, Any]:
    return {"component": str(cell.component), "lambda": cell.weight}


def compare_types(
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
    usual = ablation.usual
    same = {c: e for c, e in ablation.cells.items() if c.component is usual.component}
    rows = []
    for slicing in slices:
        questions: dict[str, list[str]] = {name: [] for name in slicing.names}
        for query in sorted(ablation.alone.per_query):
            labels_of = (slicing.labels[place[d]] for d in gold[query] if d in place)
            for label in dict.fromkeys(label for labels in labels_of for label in labels):
                questions[label].append(query)
        for name, ids in questions.items():
            own = [d for d, labels in zip(documents, slicing.labels, strict=True) if name in labels]
            written = [p.profile for d in own if (p := profiles.get(d)) is not None and p.profile]
            change = None
            if ids:
                change = ablation.difference(ablation.alone, ablation.cells[usual], ids)
            rows.append({
                "corpus": ablation.corpus,
                "field": slicing.figures["field"],
                "type": name,
                "documents": len(own),
                "profiles": len(written),
                "scenarios": sum(len(profile.scenarios) for profile in written),
                "questions": len(ids),
                "is_few": len(ids) < FEW,
                "alone": _mean(ablation.alone, ids, ablation.measure),
                "usual": change,
                "weight": _recommendation(ablation, same, ids),
                "cell": _recommendation(ablation, ablation.cells, ids),
                "grid": [
                    {**_name(cell), "mean": _mean(evaluation, ids, ablation.measure)}
                    for cell, evaluation in ablation.cells.items()
                ],
            })  # fmt: skip
    return rows


def _recommendation(
    ablation: Ablation, cells: Mapping[Cell, Evaluation], ids: Sequence[str]
) -> dict[str, Any] | None:
    """Return the best of some cells, and whether it is surely better than the usual one.

    Each half of the questions is told by the cell that is best on the other half. Where that is not
    surely better than the usual cell, the usual one is recommended. None without two questions.
    """
    measure, config = ablation.measure, ablation.config
    if len(ids) < 2:
        return None
    halves = split(ids, 0.5, np.random.default_rng(config.seed))
    after: dict[str, float] = {}
    for half, other in (halves, halves[::-1]):
        values = cells[best_cell(cells, measure, sorted(other))].per_query
        after |= {query: values[query][measure] for query in half}
    values = ablation.cells[ablation.usual].per_query
    before = {query: values[query][measure] for query in after}
    test = paired_difference(before, after, seed=config.seed, resamples=config.resamples)
    best = best_cell(cells, measure, ids)
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

    def chosen(recommendation: Mapping[str, Any] | None, cell: Mapping[str, Any]) -> bool:
        names = ("component", "lambda")
        own = recommendation["recommended"] if recommendation else {}
        return all(own.get(name) == cell[name] for name in names)

    flat = [
        {
            **row,
            **cell,
            "recommended": chosen(row["cell"], cell),
            "recommended_weight": chosen(row["weight"], cell),
        }
        for row in rows
        for cell in row["grid"]
    ]
    return pa.Table.from_pylist(flat, schema=_TYPES)
