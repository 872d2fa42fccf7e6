"""The exact kernel: ranks of every related pair (x, t) among all neutrals of t.

The paper draws N-1 neutrals per pair and looks whether x ranks in the top k (ARGUS §3.2). Argus
counts all of them once: `above(x, t)` neutrals of t are closer to t than x is, out of `pool(t)`.
Every RPS_{k,N} then follows by arithmetic (`argus.retrievability.hypergeometric`).

How it is exact. Similarities to all candidates come from blocked float32 products, whose rounding
depends on block shapes. A candidate within the rounding bound of x is therefore compared again in
float64, in one fixed order of summation, so the result does not depend on block size, number of
threads, or device. Equal similarities rank by position: the entity that comes first is above.
Callers order entities by id, so ties break by id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from argus.cores import available_cores
from argus.data.types import FloatArray, IntArray
from argus.encoders.rows import Rows
from argus.encoders.scoring import product_bound, reach_of, rounding_bound, scoring_of
from argus.knowledge.relations import RelationGraph
from argus.retrievability.pairs import (
    CHECKED_ROWS,
    WORKING_BYTES,
    PairRanks,
    pairs_in,
    related_pairs,
)

RESERVOIR_QUERIES = 1024  # queries that share one reservoir, whatever the size of blocks
BLOCK_QUERIES = 512  # most queries in a block without a reservoir
DISPLACER_QUERIES = 256  # most queries in a block of `displacers`

Count = Callable[[range, np.ndarray | None], PairRanks]
"""Rank the related entities of some queries among candidates, int32 and ascending (None: all)."""


def pair_ranks(
    vectors: Rows,
    graph: RelationGraph,
    *,
    queries: range | None = None,
    advance: Callable[[int], None] | None = None,
    **options: Any,
) -> PairRanks:
    """Rank every related entity of every query entity among the query's neutrals.

    Neutrals of t are all entities but t and its neighbours (§B.3). queries: the t to treat (default
    all). advance: called with the number of queries done. Everything else is as for `ranker`.
    """
    return ranker(vectors, graph, **options)(queries or range(graph.n), advance)


def ranker(
    vectors: Rows,
    graph: RelationGraph,
    *,
    block: int | None = None,
    workers: int | None = None,
    device: str = "cpu",
    reservoir: int | None = None,
    seed: int = 0,
    unit: bool = True,
) -> Callable[[range, Callable[[int], None] | None], PairRanks]:
    """Return `pair_ranks` for one range of queries after another.

    vectors: (n, dim) float32, unit rows, ordered by id (memory-mapped or not). Or rows of tokens
    or terms, which are counted on the CPU. graph: relations over the same n.
    block: queries per product (default: as WORKING_BYTES allow).
    device: "cpu", or a torch device such as "cuda" ("torch:cpu" runs that path without a GPU).
    reservoir: rank among this many entities drawn uniformly per RESERVOIR_QUERIES queries instead
    of among all. None is exact. Ranges must then begin at a multiple of RESERVOIR_QUERIES.
    unit: False for vectors whose length counts, compared by dot product.
    """
    n = graph.n
    size = None if reservoir is None or reservoir >= n else reservoir
    workers = (workers or available_cores()) if device == "cpu" else 1
    room = WORKING_BYTES // (4 * max(size or n, 1) * workers)
    step = block or max(1, min(BLOCK_QUERIES if size is None else RESERVOIR_QUERIES, room))
    count = _counter(vectors, graph, device, unit=unit)

    def rank(queries: range, advance: Callable[[int], None] | None = None) -> PairRanks:
        def rank_chunk(chunk: range) -> PairRanks:
            drawn = None if size is None else draw_reservoir(n, size, chunk.start, seed)
            part = count(chunk, drawn)
            if advance is not None:
                advance(len(chunk))
            return part

        chunks = [*_chunks(queries, step, None if size is None else RESERVOIR_QUERIES)]
        # Each worker multiplies on one BLAS thread and counts on the same core: no core waits.
        threads = 1 if workers > 1 else None
        with threadpool_limits(threads, "blas"), ThreadPoolExecutor(workers) as pool:
            return PairRanks.concatenate([*pool.map(rank_chunk, chunks)])

    return rank


def draw_reservoir(n: int, size: int, query: int, seed: int) -> np.ndarray:
    """Return the sorted candidates (int32, shape (size,)) of the reservoir that `query` uses."""
    rng = np.random.default_rng([seed, query // RESERVOIR_QUERIES])
    return np.sort(rng.choice(n, size, replace=False)).astype(np.int32)


def _chunks(queries: range, block: int, boundary: int | None) -> Iterator[range]:
    start = queries.start
    while start < queries.stop:
        stop = min(start + block, queries.stop)
        if boundary is not None:
            stop = min(stop, (start // boundary + 1) * boundary)
        yield range(start, stop)
        start = stop


def _counter(rows: Rows, graph: RelationGraph, device: str, *, unit: bool) -> Count:
    if not isinstance(rows, np.ndarray):
        return _rows_counter(rows, graph)
    vectors, dim = np.ascontiguousarray(rows, np.float32), rows.shape[1]
    parts = (vectors[i : i + CHECKED_ROWS] for i in range(0, len(vectors), CHECKED_ROWS))
    bound = rounding_bound(dim) if unit else product_bound(dim, max(map(reach_of, parts)) ** 2)
    if device == "cpu":
        return _vector_counter(vectors, graph, bound)
    from argus.retrievability.ranks_torch import torch_counter

    return torch_counter(vectors, graph, device.removeprefix("torch:"), bound)


def _vector_counter(vectors: FloatArray, graph: RelationGraph, bound: float) -> Count:
    """Blocked products by BLAS, counting by numba."""
    everyone = np.arange(len(vectors), dtype=np.int32)

    def count(chunk: range, candidates: np.ndarray | None) -> PairRanks:
        from argus.retrievability.kernels import count_block

        rows, exact, out = related_pairs(vectors, graph, chunk)
        columns = vectors if candidates is None else vectors[candidates]
        similarity = vectors[chunk.start : chunk.stop] @ columns.T  # (block, columns)
        offsets = np.searchsorted(rows, np.arange(len(chunk) + 1))
        ids = everyone if candidates is None else candidates
        count_block(
            similarity, vectors, ids, offsets, out.entity, exact, np.int64(chunk.start), bound,
            out.above, out.pool,
        )  # fmt: skip
        return out

    return count


def _rows_counter(rows: Any, graph: RelationGraph) -> Count:
    """Blocked scores of sparse weights or vectors of tokens, near-ties decided in float64.

    Rows ask as they are in the index: t's row is the query, x's the document.
    """
    scoring = scoring_of(rows)

    def count(chunk: range, candidates: np.ndarray | None) -> PairRanks:
        of, out = pairs_in(graph, chunk)
        queries = rows[chunk.start : chunk.stop]
        among = scoring if candidates is None else scoring_of(rows[candidates])
        ids = np.arange(len(rows)) if candidates is None else candidates.astype(np.int64)
        products, bound = among.products(queries), scoring.bound(queries)
        exact = scoring.pairs(rows[out.related], rows[out.entity])
        out.similarity[:] = exact
        ends = np.searchsorted(of, np.arange(len(chunk) + 1))
        for row, t in enumerate(chunk):
            pairs = range(ends[row], ends[row + 1])
            neutral = ~np.isin(ids, np.append(out.entity[pairs.start : pairs.stop], t))
            order = np.argsort(products[row][neutral], kind="stable")
            scores = products[row][neutral][order].astype(np.float64)
            for pair in pairs:
                low = np.searchsorted(scores, exact[pair] - bound)
                high = np.searchsorted(scores, exact[pair] + bound, "right")
                near = ids[neutral][order[low:high]]
                tied = scoring.against(queries[row : row + 1], near)
                first = (tied == exact[pair]) & (near < out.entity[pair])
                out.pool[pair] = len(scores)
                out.above[pair] = len(scores) - high + ((tied > exact[pair]) | first).sum()
        return out

    return count


def displacers(
    vectors: Rows, graph: RelationGraph, entities: Sequence[int], *, k: int, top: int
) -> list[list[tuple[int, int]]]:
    """Return, per entity x, up to `top` pairs (z, in how many t's top k z outranks x).

    For each related t the k most similar neutrals are compared, and those above x counted. The
    most frequent come first, ties by position. vectors: as for `ranker`.
    """
    above: dict[int, list[IntArray]] = {int(x): [np.empty(0, np.int64)] for x in entities}
    queries = np.unique(np.concatenate([np.empty(0, int), *map(graph.neighbours, above)]))
    scoring, k = scoring_of(vectors), min(k, graph.n)
    step = max(1, min(DISPLACER_QUERIES, WORKING_BYTES // (4 * max(graph.n, 1))))
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        for t, scores in zip(block.tolist(), scoring.products(vectors[block]), strict=True):
            related = graph.neighbours(t)
            own = scores[related]
            scores[related] = scores[t] = -np.inf
            best = np.argpartition(scores, -k)[-k:]
            for x, level in zip(related.tolist(), own, strict=True):
                if x in above:
                    above[x].append(best[scores[best] > level])
    found = []
    for x in entities:
        rivals, times = np.unique(np.concatenate(above[int(x)]), return_counts=True)
        order = np.argsort(-times, kind="stable")[:top]
        found.append([*zip(rivals[order].tolist(), times[order].tolist(), strict=True)])
    return found
