"""Find displacers: the neutrals that outrank an entity for those who should find it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.data.types import FloatArray, IntArray
from argus.encoders.rows import Rows
from argus.encoders.scoring import scoring_of
from argus.knowledge.relations import RelationGraph

QUERIES, COLUMNS = 256, 32_768
BLOCK_BYTES = 4 * QUERIES * COLUMNS


def displacers(
    vectors: Rows, graph: RelationGraph, entities: Sequence[int], *, k: int, top: int = 5
) -> list[list[tuple[int, int]]]:
    """Return, per entity x, up to `top` pairs (z, in how many t's top k z outranks x).

    For each related t the k most similar neutrals are looked at, and those above x counted. The
    most frequent come first, ties by position. vectors: as for `pair_ranks`.
    Memory: three products of BLOCK_BYTES, whatever n.
    """
    above: dict[int, list[np.ndarray]] = {int(x): [] for x in entities}
    is_wanted = np.zeros(len(vectors), bool)
    is_wanted[list(above)] = True
    queries = np.unique(np.concatenate([graph.neighbours(x) for x in above] or [np.empty(0, int)]))
    for start in range(0, len(queries), QUERIES):
        block = queries[start : start + QUERIES]
        related = [graph.neighbours(t) for t in block.tolist()]
        rows = np.repeat(np.arange(len(block)), [len(those) for those in related])
        columns = np.concatenate(related)
        best, own = _nearest(vectors, block, rows, columns, k)
        for i in np.flatnonzero(is_wanted[columns]).tolist():
            those = best[best["query"] == rows[i]]
            above[int(columns[i])].append(those["entity"][those["score"] > own[i]])
    return [_most_frequent(above[int(x)], top) for x in entities]


_NEAR = np.dtype([("query", np.int32), ("entity", np.int64), ("score", np.float32)])


def _nearest(
    vectors: Rows, block: IntArray, rows: IntArray, columns: IntArray, k: int
) -> tuple[np.ndarray, FloatArray]:
    """Return the k neutrals most similar to each query of a block, and how similar the related are.

    rows, columns: each related pair, as position in `block` and entity. The first array is of
    `_NEAR`, queries in order. The second has an entry per related pair. Only values above the k-th
    best so far are sorted: behind the first columns that is next to nothing.
    """
    best, least = np.empty(0, _NEAR), None
    own = np.empty(len(columns), np.float32)
    queries = vectors[block]
    for first in range(0, len(vectors), COLUMNS):
        similarity = scoring_of(vectors[first : first + COLUMNS]).products(queries)
        here = (columns >= first) & (columns < first + COLUMNS)
        own[here] = similarity[rows[here], columns[here] - first]
        similarity[rows[here], columns[here] - first] = -np.inf
        itself = np.flatnonzero((block >= first) & (block < first + COLUMNS))
        similarity[itself, block[itself] - first] = -np.inf
        query, entity = _seeds(similarity, k) if least is None else _above(similarity, least)
        near = np.empty(len(query), _NEAR)
        near["query"], near["entity"] = query, entity + first
        near["score"] = similarity[query, entity]
        best, least = _merged(np.concatenate([best, near]), len(block), k)
    return best, own


def _seeds(similarity: FloatArray, k: int) -> tuple[IntArray, IntArray]:
    """Return row and column of the k largest of every row."""
    k = min(k, similarity.shape[1])
    columns = np.stack([np.argpartition(row, -k)[-k:] for row in similarity])
    return np.repeat(np.arange(len(similarity)), k), columns.ravel()


def _above(similarity: FloatArray, least: FloatArray) -> tuple[IntArray, IntArray]:
    """Return row and column of values above their row's `least`."""
    places = np.flatnonzero(similarity > least[:, None])
    rows, columns = np.divmod(places, similarity.shape[1])
    return rows, columns


def _merged(near: np.ndarray, n: int, k: int) -> tuple[np.ndarray, FloatArray]:
    """Return the k best of each of n queries, and the score that another has to exceed."""
    near = near[np.lexsort((near["entity"], -near["score"], near["query"]))]
    begin = np.searchsorted(near["query"], np.arange(n + 1))
    rank = np.arange(len(near)) - begin[near["query"]]
    least = np.full(n, -np.inf, np.float32)
    full = np.diff(begin) >= k
    least[full] = near["score"][begin[:-1][full] + k - 1]
    return near[rank < k], least


def _most_frequent(lists: list[np.ndarray], top: int) -> list[tuple[int, int]]:
    if not lists:
        return []
    entities, counts = np.unique(np.concatenate(lists), return_counts=True)
    order = np.argsort(-counts, kind="stable")[:top]
    return [(int(entities[i]), int(counts[i])) for i in order]
