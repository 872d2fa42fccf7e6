"""Two runs of the same queries beside each other: what came, what went, who gave way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.runs import ranking
from argus.data.types import Qrels, Query, Run, State
from argus.measures import wilson
from argus.remedies.served.summary import FallenDocument, ServedMoves, ServedRow, ServedShare

NEIGHBOURS = 200
"""Documents that gave way, that a summary names."""
SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "query", "doc_id")]
    + [(name, pa.int64()) for name in ("grade", "rank_before", "rank_after")]
    + [(name, pa.string()) for name in ("state", "reason")]
)


def receipt_rows(
    queries: Sequence[Query],
    qrels: Qrels,
    runs: tuple[Run, Run],
    failed: tuple[Mapping[str, str], Mapping[str, str]],
    k: int,
) -> list[ServedRow]:
    """Return a row per query and relevant document; of a query that failed once, the reason."""
    rows: list[ServedRow] = []
    for query in queries:
        reason = next((one[query.id] for one in failed if query.id in one), "")
        places = [
            {id_: place for place, id_ in enumerate(ranking(run.get(query.id, {}))[:k], start=1)}
            for run in runs
        ]
        for doc_id, grade in sorted(qrels[query.id].items()):
            if grade > 0:
                rows.append(
                    {
                        "query_id": query.id,
                        "query": query.text,
                        "doc_id": doc_id,
                        "grade": grade,
                        "rank_before": None if reason else places[0].get(doc_id),
                        "rank_after": None if reason else places[1].get(doc_id),
                        "state": str(State.FAILED if reason else State.MEASURED),
                        "reason": reason,
                    }
                )
    return rows


def count_moves(rows: Sequence[ServedRow]) -> tuple[ServedMoves, ServedShare, ServedShare]:
    """Return how pairs moved, and how many are in the top k before and after."""
    pairs = [row for row in rows if row["state"] == State.MEASURED]
    before = np.array([row["rank_before"] or np.inf for row in pairs])
    after = np.array([row["rank_after"] or np.inf for row in pairs])
    moves: ServedMoves = {
        "pairs": len(pairs),
        "rose": int((after < before).sum()),
        "fell": int((after > before).sum()),
        "recovered": int((np.isinf(before) & np.isfinite(after)).sum()),
        "lost": int((np.isfinite(before) & np.isinf(after)).sum()),
    }
    n = min(len({row[name] for row in pairs}) for name in ("query_id", "doc_id"))
    return moves, _share(np.isfinite(before), n), _share(np.isfinite(after), n)


def _share(hits: npt.NDArray[np.bool_], n: int) -> ServedShare:
    """Return the share of hits; n: what was drawn, of which pairs are several each."""
    share = float(hits.mean())
    low, high = wilson(share, n)
    return {"found": int(hits.sum()), "share": share, "low": float(low), "high": float(high)}


def fallen(
    queries: Sequence[Query], qrels: Qrels, before: Run, after: Run, k: int
) -> list[FallenDocument]:
    """Return what left lists of queries that it is not relevant for, the most lists first."""
    left: Counter[str] = Counter()
    came: Counter[str] = Counter()
    for query in queries:
        own = {id_ for id_, grade in qrels[query.id].items() if grade > 0}
        earlier, later = ({*ranking(run[query.id])[:k]} - own for run in (before, after))
        left.update(earlier - later)
        came.update(later - earlier)
    ordered = sorted(left.items(), key=lambda item: (-item[1], item[0]))
    return [{"doc_id": id_, "lists": n, "gained": came.get(id_, 0)} for id_, n in ordered]
