"""The receipt's judged documents: where each relevant one stood for its query, and stands now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.types import Qrels, Query, State
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import queries as as_queries
from argus.indexes.snapshot import Snapshot

TABLE = "receipt_judged"
SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "query", "doc_id")]
    + [(name, pa.int64()) for name in ("grade", "rank_before", "rank_after")]
    + [("repaired", pa.bool_()), ("state", pa.string()), ("reason", pa.string())]
)


def judged_documents(
    queries: Sequence[Query],
    qrels: Qrels,
    before: Snapshot,
    after: Snapshot,
    encoder: Encoder,
    store: EmbeddingStore,
    repaired: Collection[str],
) -> pa.Table:
    """Return one row per query with text and document judged relevant for it (grade above 0).

    Ranks are 1-based and exact over all documents; null, with a reason, where the index lacks the
    document (not applicable) or the query could not be embedded (failed). repaired: ids of the
    documents that have views of the remedy.
    """
    asked = [q for q in queries if q.text.strip() and q.id in qrels]
    embedded = embed(as_queries([q.text for q in asked]), encoder, store, what="judged queries")
    place = np.cumsum(embedded.ok) - 1
    rows: list[dict[str, Any]] = []
    vectors, ranked = [], []
    for i, query in enumerate(asked):
        for doc_id in sorted(d for d, grade in qrels[query.id].items() if grade > 0):
            row: dict[str, Any] = {"query_id": query.id, "query": query.text, "doc_id": doc_id}
            row |= {"grade": qrels[query.id][doc_id], "repaired": doc_id in repaired}
            if doc_id not in after:
                row |= {"state": str(State.NOT_APPLICABLE), "reason": "not in the index"}
            elif not embedded.ok[i]:
                row |= {"state": str(State.FAILED), "reason": embedded.failures[i]}
            else:
                row |= {"state": str(State.MEASURED), "reason": ""}
                vectors.append(embedded.vectors[place[i]])
                ranked.append(row)
            rows.append(row)
    if ranked:
        targets = [row["doc_id"] for row in ranked]
        for name, state in (("rank_before", before), ("rank_after", after)):
            for row, rank in zip(ranked, state.ranks(np.stack(vectors), targets), strict=True):
                row[name] = int(rank)
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def summarise_judged(table: pa.Table, k: int) -> dict[str, int]:
    """Return how many relevant documents rose and fell, and came into and left the top k."""
    rows = [row for row in table.to_pylist() if row["state"] == State.MEASURED]
    moves = [(row["rank_before"], row["rank_after"]) for row in rows]
    return {
        "measured": len(rows),
        "not_measured": table.num_rows - len(rows),
        "repaired": sum(row["repaired"] for row in rows),
        "rose": sum(after < before for before, after in moves),
        "fell": sum(after > before for before, after in moves),
        "recovered": sum(before > k >= after for before, after in moves),
        "lost": sum(before <= k < after for before, after in moves),
    }
