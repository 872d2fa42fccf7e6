"""The paper's sampler, plainly: the reference that the exact kernel is tested against."""

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.knowledge.base import RelationGraph


def neutrals(graph: RelationGraph, t: int) -> npt.NDArray[np.int64]:
    """Return Z(t): all entities but t and those related to it (ARGUS §B.3)."""
    eligible = np.ones(graph.n, bool)
    eligible[t] = False
    eligible[graph.neighbours(t)] = False
    return np.flatnonzero(eligible)


def sampled_hit(
    vectors: FloatArray,
    graph: RelationGraph,
    x: int,
    t: int,
    *,
    k: int,
    pool: int,
    rng: np.random.Generator,
) -> bool:
    """Draw N-1 neutrals of t and return whether x ranks in the top k among them and itself.

    `rank <= k` is inclusive on 1-based ranks. (The released code tests `rank < k`, so what it
    calls RPS_50 is RPS_49.) Equal similarities rank by position.
    """
    drawn = rng.choice(neutrals(graph, t), pool - 1, replace=False)
    query = vectors[t].astype(np.float64)
    own = vectors[x].astype(np.float64) @ query
    others = vectors[drawn].astype(np.float64) @ query
    rank = 1 + int(((others > own) | ((others == own) & (drawn < x))).sum())
    return rank <= k


def sampled_rps(
    vectors: FloatArray,
    graph: RelationGraph,
    *,
    k: int,
    pool: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Return RPS by one draw per pair, shape (n,). NaN where T_x is empty (ARGUS §3.2)."""
    rps = np.full(graph.n, np.nan)
    for x in range(graph.n):
        related = graph.neighbours(x)
        if len(related):
            hits = [
                sampled_hit(vectors, graph, x, int(t), k=k, pool=pool, rng=rng) for t in related
            ]
            rps[x] = np.mean(hits)
    return rps
