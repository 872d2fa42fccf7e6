"""Who stands in the way: the neutrals that outrank an entity for those who should find it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from argus.data.types import FloatArray
from argus.knowledge.relations import RelationGraph


def displacers(
    vectors: FloatArray, graph: RelationGraph, entities: Sequence[int], *, k: int, top: int = 5
) -> list[list[tuple[int, int]]]:
    """Return, per entity x, up to `top` pairs (z, in how many t's top k z outranks x).

    For each related t the k most similar neutrals are looked at, and those above x counted; the
    most frequent come first, ties by position. vectors: (n, dim), unit rows, as for `pair_ranks`.
    """
    return [
        _counts(vectors, graph, int(x), k).most_common(top) if len(graph.neighbours(int(x))) else []
        for x in entities
    ]


def _counts(vectors: FloatArray, graph: RelationGraph, x: int, k: int) -> Counter[int]:
    related = graph.neighbours(x)
    similarity = vectors[related] @ vectors.T  # (n_related, n)
    own = similarity[:, x].copy()
    for row, t in enumerate(related):
        similarity[row, graph.neighbours(int(t))] = -np.inf
        similarity[row, t] = -np.inf
    k = min(k, similarity.shape[1])
    best = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
    above = np.take_along_axis(similarity, best, axis=1) > own[:, None]
    counted = np.bincount(best[above], minlength=len(vectors))
    return Counter({int(z): int(counted[z]) for z in np.flatnonzero(counted)})
