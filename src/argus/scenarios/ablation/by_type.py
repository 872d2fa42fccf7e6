"""Components x λ by type of document, and the λ that each type is served best by (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from argus.measures import Evaluation, paired_difference
from argus.measures.slices import Slicing
from argus.scenarios.ablation.findings import Ablation
from argus.scenarios.ablation.grid import Cell, best_cell, split
from argus.scenarios.ablation.summary import CellMean, Recommendation, TypeFigures
from argus.scenarios.figures import CellName
from argus.scenarios.profile import Profiled

FEW = 20
"""Questions below which a type is said to have few."""
TYPES = "ablation_types"
"""The table of all cells by type."""


def by_type(
    ablation: Ablation,
    slices: Sequence[Slicing],
    documents: Sequence[str],
    gold: Mapping[str, Sequence[str]],
    profiles: Mapping[str, Profiled],
) -> list[TypeFigures]:
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
) -> TypeFigures:
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
) -> Recommendation | None:
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


def _name(cell: Cell) -> CellName:
    return {"component": str(cell.component), "lambda": cell.weight}


def types_table(rows: Sequence[TypeFigures]) -> pa.Table:
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


def _is(recommendation: Recommendation | None, cell: CellMean) -> bool:
    if recommendation is None:
        return False
    name = recommendation["recommended"]
    return name["component"] == cell["component"] and name["lambda"] == cell["lambda"]


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
"""One row per type of document and cell of the grid.

corpus: whole, or its documents with scenarios alone.
field: field that types are told by.
type: value of that field.
questions: questions with a relevant document of the type.
alone: headline measure of documents alone.
component: part of a scenario that is a view.
lambda: weight λ of documents against scenarios.
mean: headline measure of the cell. Null without a question.
recommended: whether this cell is recommended for the type.
recommended_weight: whether its λ is recommended for the usual component.
"""
