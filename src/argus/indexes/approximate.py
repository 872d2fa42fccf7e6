"""Approximate search over views in LanceDB (IVF_HNSW_SQ), folded to distinct documents.

Where a document's best view decides its score, the k documents are certain, given what the index
returned, once it returned views of k distinct documents and the last of them scores below the k-th
document: no view further down could change the result. Until then twice as many views are asked
for; where the index has no more to give, the rest is scanned. What stays approximate is the
order in which the index returns views; benchmarks/view_search.py measures it.

Where there are scenarios or a blend, each document that a view led to is scored by all its views
(`argus.indexes.fold`) from their vectors. A document that no view led to has none above the last
one, and so no score above it less the least that the blend takes off any: the same condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from argus.data.types import FloatArray
from argus.indexes.fold import RELEVANCE_WEIGHT, SCENARIO, TopDocuments, exact
from argus.indexes.prescribed import ActiveRecipe
from argus.indexes.table import quoted

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
    table: Any,
    queries: FloatArray,
    k: int,
    condition: str | None,
    weight: float = RELEVANCE_WEIGHT,
    recipe: ActiveRecipe | None = None,
) -> TopDocuments:
    """Return the k documents of each query; fewer where the state holds fewer.

    Smoothed vectors are not looked at: the table holds the documents' own.
    """
    recipe = recipe or ActiveRecipe()
    total = int(table.count_rows(condition))
    kinds = f"kind = '{SCENARIO}'"
    scenarios = bool(table.count_rows(f"({condition}) AND {kinds}" if condition else kinds))
    weighed = scenarios or recipe.blend is not None
    result = TopDocuments([], [], [])
    for query in queries:
        look = partial(_views, table, query, condition)
        score = (
            partial(_weighed, table, query, condition, weight, recipe) if weighed else _best_views
        )
        hits = _one(look, score, k, total, _least_penalty(recipe))
        result.doc_ids.append([hit.document for hit in hits])
        result.scores.append([hit.score for hit in hits])
        result.view_ids.append([hit.view for hit in hits])
        if scenarios:
            result.scenario_ids.append([hit.scenario for hit in hits])
    return result


@dataclass(frozen=True, slots=True)
class _Hit:
    document: str
    score: float
    view: str
    scenario: str = ""


_Row = tuple[str, str, float]  # view id, document id, score


def _one(
    look: Callable[[int, bool], list[_Row]],
    score: Callable[[list[_Row]], list[_Hit]],
    k: int,
    total: int,
    penalty: float = 0.0,
) -> list[_Hit]:
    """penalty: the least that is taken off the best view of any document."""
    limit, scan = VIEWS_PER_RESULT * k + 1, False
    while True:
        limit = min(limit, total)
        if not limit:
            return []
        scan = scan or limit == total
        rows = look(limit, scan)
        best = sorted(score(rows), key=lambda hit: (-hit.score, hit.document))[:k]
        certain = len(best) == k and rows[-1][2] - penalty < best[-1].score
        if certain or len(rows) >= total:
            return best
        if len(rows) < limit:  # the index gives no more, the table holds more
            if scan:
                return best
            scan = True
        else:
            limit *= 2


def _best_views(rows: list[_Row]) -> list[_Hit]:
    best: dict[str, _Hit] = {}
    for view, doc, score in rows:
        there = best.get(doc)
        if there is None or (-score, view) < (-there.score, there.view):
            best[doc] = _Hit(doc, score, view)
    return list(best.values())


def _least_penalty(recipe: ActiveRecipe) -> float:
    if recipe.blend is None or recipe.numbers is None or not len(recipe.numbers.hubness):
        return 0.0
    return recipe.blend.hubs * float(recipe.numbers.hubness.min())


def _weighed(
    table: Any,
    query: FloatArray,
    condition: str | None,
    weight: float,
    recipe: ActiveRecipe,
    rows: list[_Row],
) -> list[_Hit]:
    """Score the documents of these views by all their views."""
    of_these = f"doc_id IN ({quoted(sorted({doc for _, doc, _ in rows}))})"
    where = f"({condition}) AND {of_these}" if condition else of_these
    views = (
        table.search().select(["id", "doc_id", "kind", "added", "vector"]).where(where).to_arrow()
    )
    views = views.sort_by([("doc_id", "ascending"), ("id", "ascending")]).combine_chunks()
    vectors = views["vector"].combine_chunks().flatten().to_numpy().reshape(-1, len(query))
    snapshot = recipe.over(views, vectors)
    each = np.arange(len(snapshot))
    layout = snapshot.layout(weight)
    own, matched, scores = exact(query[None], vectors, layout, np.zeros_like(each), each)
    ids = views["id"].to_pylist()
    return [
        _Hit(document, float(scores[i]), ids[own[i]], ids[at] if at >= 0 else "")
        for i, (document, at) in enumerate(zip(snapshot.doc_ids, matched.tolist(), strict=True))
    ]


def _views(
    table: Any, query: FloatArray, condition: str | None, limit: int, scan: bool
) -> list[_Row]:
    """Return (view id, document id, score) of the nearest views, best first."""
    search = table.search(query).distance_type(METRIC).select(["id", "doc_id", "_distance"])
    search = search.limit(limit)
    if scan:
        search = search.bypass_vector_index()
    else:
        search = (
            search.nprobes(PARTITIONS).ef(max(SEARCH_EF, 2 * REFINE * limit)).refine_factor(REFINE)
        )
    if condition:
        search = search.where(condition, prefilter=True)
    rows = search.to_arrow()
    scores = [1.0 - distance for distance in rows["_distance"].to_pylist()]
    return list(zip(rows["id"].to_pylist(), rows["doc_id"].to_pylist(), scores, strict=True))
