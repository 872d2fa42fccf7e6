"""The receipt's judged documents: where each relevant one stood for its query, and stands now."""

from __future__ import annotations

from collections.abc import Collection
from typing import NotRequired

import numpy as np
import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.types import State
from argus.encoders import Embedded
from argus.evaluation.judged import JudgedQueries
from argus.indexes.snapshot import Snapshot
from argus.remedies.repair.summary import JudgedMoves

TABLE = "receipt_judged"
SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "query", "doc_id")]
    + [(name, pa.int64()) for name in ("grade", "rank_before", "rank_after")]
    + [("repaired", pa.bool_()), ("state", pa.string()), ("reason", pa.string())]
)


class JudgedRow(TypedDict):
    """One row per judged query and relevant document.

    query: text of the query.
    rank_before, rank_after: rank without and with the remedy; null where it is not measured.
    repaired: whether the document has views of the remedy.
    """

    query_id: str
    query: str
    doc_id: str
    grade: int
    rank_before: NotRequired[int]
    rank_after: NotRequired[int]
    repaired: bool
    state: str
    reason: str


def judged_documents(
    judged: JudgedQueries,
    embedded: Embedded,
    before: Snapshot,
    after: Snapshot,
    repaired: Collection[str],
) -> pa.Table:
    """Return one row per query with judgements and document relevant for it (grade above 0).

    Ranks are 1-based and exact over all documents; null, with a reason, where the index lacks the
    document (not applicable) or the query could not be embedded (failed). embedded: the vectors
    of `judged.with_judgements`. repaired: ids of the documents that have views of the remedy.
    """
    qrels = judged.qrels
    place = np.cumsum(embedded.ok) - 1
    rows: list[JudgedRow] = []
    vectors, with_rank = [], []
    for i, query in enumerate(judged.with_judgements):
        for doc_id in sorted(d for d, grade in qrels[query.id].items() if grade > 0):
            row: JudgedRow = {
                "query_id": query.id,
                "query": query.text,
                "doc_id": doc_id,
                "grade": qrels[query.id][doc_id],
                "repaired": doc_id in repaired,
                "state": str(State.MEASURED),
                "reason": "",
            }
            if doc_id not in after:
                row |= {"state": str(State.NOT_APPLICABLE), "reason": "not in the index"}
            elif not embedded.ok[i]:
                row |= {"state": str(State.FAILED), "reason": embedded.failures[i]}
            else:
                vectors.append(embedded.vectors[place[i]])
                with_rank.append(row)
            rows.append(row)
    if with_rank:
        targets = [row["doc_id"] for row in with_rank]
        ranks = (state.ranks(np.stack(vectors), targets).tolist() for state in (before, after))
        for row, earlier, later in zip(with_rank, *ranks, strict=True):
            row["rank_before"], row["rank_after"] = earlier, later
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def summarise_judged(table: pa.Table, k: int) -> JudgedMoves:
    """Return how many relevant documents rose and fell, and came into and left the top k."""
    rows: list[JudgedRow] = table.to_pylist()
    with_rank = [row for row in rows if row["state"] == State.MEASURED]
    moves = [(row["rank_before"], row["rank_after"]) for row in with_rank]
    return {
        "measured": len(with_rank),
        "not_measured": table.num_rows - len(with_rank),
        "repaired": sum(row["repaired"] for row in with_rank),
        "rose": sum(after < before for before, after in moves),
        "fell": sum(after > before for before, after in moves),
        "recovered": sum(before > k >= after for before, after in moves),
        "lost": sum(before <= k < after for before, after in moves),
    }
