"""Who stands in the way: the neutrals that outrank an entity for those who should find it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.data.types import FloatArray
from argus.knowledge.relations import RelationGraph

BLOCK_BYTES = 64 << 20


def displacers(
    vectors: FloatArray, graph: RelationGraph, entities: Sequence[int], *, k: int, top: int = 5
) -> list[list[tuple[int, int]]]:
    """Return, per entity x, up to `top` pairs (z, in how many t's top k z outranks x).

    For each related t the k most similar neutrals are looked at, and those above x counted; the
    most frequent come first, ties by position. vectors: (n, dim), unit rows, as for `pair_ranks`.
    """
    above: dict[int, list[np.ndarray]] = {int(x): [] for x in entities}
    is_wanted = np.zeros(len(vectors), bool)
    is_wanted[list(above)] = True
    asked = np.unique(np.concatenate([graph.neighbours(x) for x in above] or [np.empty(0, int)]))
    step = max(1, BLOCK_BYTES // (4 * len(vectors)))
    for start in range(0, len(asked), step):
        block = asked[start : start + step]
        similarity = vectors[block] @ vectors.T  # (block, n)
        for t, scores in zip(block.tolist(), similarity, strict=True):
            related = graph.neighbours(t)
            wanted = related[is_wanted[related]]
            own = scores[wanted]
            scores[related] = -np.inf
            scores[t] = -np.inf
            best = np.argpartition(scores, -min(k, len(scores)))[-k:]
            for x, limit in zip(wanted.tolist(), own, strict=True):
                above[x].append(best[scores[best] > limit])
    return [_most_frequent(above[int(x)], top) for x in entities]


def _most_frequent(lists: list[np.ndarray], top: int) -> list[tuple[int, int]]:
    if not lists:
        return []
    found, counts = np.unique(np.concatenate(lists), return_counts=True)
    order = np.argsort(-counts, kind="stable")[:top]
    return [(int(found[i]), int(counts[i])) for i in order]
