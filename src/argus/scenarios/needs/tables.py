"""The tables of a need audit: documents, and their needs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.types import IntArray, State
from argus.retrievability.rps import band
from argus.scenarios.needs.findings import Findings


class DocumentFigures(TypedDict):
    """The columns of a document that was measured. fused: with scenarios. Needs are texts."""

    needs: int
    rps: float
    low: float
    high: float
    band: str
    rps_fused: float
    low_fused: float
    high_fused: float
    best_need: str
    best_rank: int
    worst_need: str
    worst_rank: int
    worst_rank_fused: int
    displaced_by: str


def needs_table(findings: Findings) -> pa.Table:
    """Return one row per need of a document that has a vector. Null where it could not be asked.

    rank_alone: rank of its document in the index of documents alone.
    ties_before: of those before it, documents of equal score.
    rank_fused: its rank with the other needs' scenarios.
    """
    vectors, failures = findings.vectors, findings.vectors.need_failures
    ranks, row = findings.row(None)
    alone, fused = findings.ranks_of(None), findings.ranks_of(findings.cell)
    ties = alone - 1 - ranks.above[row]
    place = np.cumsum(vectors.embedded) - 1

    def of_embedded(values: IntArray) -> IntArray:
        spread: IntArray = values[np.maximum(place, 0)]
        return spread

    states = np.where(vectors.embedded, str(State.MEASURED), str(State.FAILED)).tolist()
    needs, absent = vectors.needs, ~vectors.embedded
    return pa.table(
        {
            "document": pa.array([need.doc_id for need in needs], pa.string()),
            "scenario": pa.array([need.position + 1 for need in needs], pa.int64()),
            "need": pa.array([need.text for need in needs], pa.string()),
            "rank_alone": pa.array(of_embedded(alone), pa.int64(), mask=absent),
            "ties_before": pa.array(of_embedded(ties), pa.int64(), mask=absent),
            "rank_fused": pa.array(of_embedded(fused), pa.int64(), mask=absent),
            "state": pa.array(states, pa.string()),
            "reason": pa.array([failures.get(i, "") for i in range(len(needs))], pa.string()),
        }
    )


def documents_table(findings: Findings) -> pa.Table:
    """One row per document. Null where there is no score."""
    measured = _measured(findings)
    rows = []
    for document in findings.documents:
        state, why, detail = findings.states[document.id]
        row = {
            "id": document.id,
            "label": document.title,
            "state": str(state),
            "reason": f"{why}: {detail}" if detail else why,
        }
        rows.append({**row, **measured.get(document.id, {})})
    return pa.Table.from_pylist(rows, schema=_DOCUMENTS)


def _measured(findings: Findings) -> dict[str, DocumentFigures]:
    """Return the figures of each document that was measured."""
    alone, fused = findings.alone.rps, findings.fused[findings.cell].rps
    rank, rank_fused = findings.ranks_of(None), findings.ranks_of(findings.cell)
    needs, bands = findings.vectors.with_vector, band(alone.rps)
    return {
        doc_id: {
            "needs": int(alone.related[x.document]),
            "rps": float(alone.rps[x.document]),
            "low": float(alone.low[x.document]),
            "high": float(alone.high[x.document]),
            "band": str(bands[x.document]),
            "rps_fused": float(fused.rps[x.document]),
            "low_fused": float(fused.low[x.document]),
            "high_fused": float(fused.high[x.document]),
            "best_need": needs[x.best].text,
            "best_rank": int(rank[x.best]),
            "worst_need": needs[x.worst].text,
            "worst_rank": int(rank[x.worst]),
            "worst_rank_fused": int(rank_fused[x.worst]),
            "displaced_by": x.displaced_by,
        }
        for doc_id, x in findings.extremes().items()
    }


_DOCUMENTS = pa.schema(
    [
        ("id", pa.string()),
        ("label", pa.string()),
        ("needs", pa.int64()),
        ("rps", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("band", pa.string()),
        ("rps_fused", pa.float64()),
        ("low_fused", pa.float64()),
        ("high_fused", pa.float64()),
        ("best_need", pa.string()),
        ("best_rank", pa.int64()),
        ("worst_need", pa.string()),
        ("worst_rank", pa.int64()),
        ("worst_rank_fused", pa.int64()),
        ("displaced_by", pa.string()),
        ("state", pa.string()),
        ("reason", pa.string()),
    ]
)
"""One row per document. Null where there is no score.

rps: RPS over its needs, from 0 to 1.
rps_fused: the same in the index with scenarios, each need's own held out.
low_fused, high_fused: its 95% interval.
best_need, worst_need: need with the best, the worst rank.
best_rank, worst_rank: that rank, from 1.
worst_rank_fused: rank of the worst need with scenarios.
displaced_by: documents before it for the worst need, at most three.
"""
