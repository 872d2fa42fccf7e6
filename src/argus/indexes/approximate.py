"""Approximate search over views in LanceDB (IVF_HNSW_SQ), folded to distinct documents.

A document's best view decides its score, so the k documents are certain, given what the index
returned, once it returned views of k distinct documents and the last of them scores below the k-th
document: no view further down could change the result. Until then twice as many views are asked
for; where the index has no more to give, the rest is scanned. What stays approximate is the
order in which the index returns views; benchmarks/view_search.py measures it.
"""

from __future__ import annotations

from typing import Any, Literal

from argus.data.types import FloatArray
from argus.indexes.fold import TopDocuments

METRIC: Literal["dot"] = "dot"
PARTITIONS = 1
EDGES, BUILD_EF = 20, 150
SEARCH_EF = 250
REFINE = 2
VIEWS_PER_RESULT = 3
"""Views asked for at first, per document wanted."""


def build(table: Any) -> None:
    """Build the index anew, over all vectors; the table should be compact."""
    from lancedb.index import HnswSq

    table.create_index(
        "vector",
        config=HnswSq(
            distance_type=METRIC,
            num_partitions=PARTITIONS,
            m=EDGES,
            ef_construction=BUILD_EF,
        ),
        replace=True,
    )


def exists(table: Any) -> bool:
    """Return whether the table has an index on its vectors."""
    return any("vector" in index.columns for index in table.list_indices())


def approximate_search(
    table: Any, queries: FloatArray, k: int, condition: str | None
) -> TopDocuments:
    """Return the k documents of each query; fewer where the state holds fewer."""
    total = int(table.count_rows(condition))
    result = TopDocuments([], [], [])
    for query in queries:
        found = _one(table, query, k, condition, total)
        result.doc_ids.append([doc for doc, _, _ in found])
        result.scores.append([score for _, score, _ in found])
        result.view_ids.append([view for _, _, view in found])
    return result


def _one(
    table: Any, query: FloatArray, k: int, condition: str | None, total: int
) -> list[tuple[str, float, str]]:
    limit, scan = VIEWS_PER_RESULT * k + 1, False
    while True:
        limit = min(limit, total)
        if not limit:
            return []
        scan = scan or limit == total
        rows = _views(table, query, limit, condition, scan=scan)
        best: dict[str, tuple[float, str]] = {}
        for view, doc, score in rows:
            there = best.get(doc)
            if there is None or (-score, view) < (-there[0], there[1]):
                best[doc] = score, view
        found = sorted((-score, doc, view) for doc, (score, view) in best.items())[:k]
        certain = len(found) == k and rows[-1][2] < -found[-1][0]
        if certain or len(rows) >= total:
            return [(doc, -score, view) for score, doc, view in found]
        if len(rows) < limit:  # the index gives no more, the table holds more
            if scan:
                return [(doc, -score, view) for score, doc, view in found]
            scan = True
        else:
            limit *= 2


def _views(
    table: Any, query: FloatArray, limit: int, condition: str | None, *, scan: bool
) -> list[tuple[str, str, float]]:
    """Return (view id, document id, score) of the nearest views, best first."""
    asked = table.search(query).distance_type(METRIC).select(["id", "doc_id", "_distance"])
    asked = asked.limit(limit)
    if scan:
        asked = asked.bypass_vector_index()
    else:
        asked = (
            asked.nprobes(PARTITIONS).ef(max(SEARCH_EF, 2 * REFINE * limit)).refine_factor(REFINE)
        )
    if condition:
        asked = asked.where(condition, prefilter=True)
    rows = asked.to_arrow()
    scores = [1.0 - distance for distance in rows["_distance"].to_pylist()]
    return list(zip(rows["id"].to_pylist(), rows["doc_id"].to_pylist(), scores, strict=True))
