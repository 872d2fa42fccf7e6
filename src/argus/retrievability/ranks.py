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

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from argus.cores import available_cores
from argus.data.types import FloatArray
from argus.encoders.rows import Rows
from argus.encoders.scoring import UNIT, product_bound, reach_of, rounding_bound
from argus.knowledge.relations import RelationGraph
from argus.retrievability.limits import DIRECT_RELATED as DIRECT_RELATED
from argus.retrievability.limits import RESERVOIR_QUERIES, WORKING_BYTES
from argus.retrievability.pairs import CHECKED_ROWS, PairRanks, related_pairs


def pair_ranks(
    vectors: Rows,
    graph: RelationGraph,
    *,
    queries: range | None = None,
    block: int | None = None,
    workers: int | None = None,
    device: str = "cpu",
    reservoir: int | None = None,
    seed: int = 0,
    unit: bool = True,
    advance: Callable[[int], None] | None = None,
) -> PairRanks:
    """Rank every related entity of every query entity among the query's neutrals.

    vectors: (n, dim) float32, unit rows, ordered by id (memory-mapped or not). Or rows of tokens
    or terms, which are counted on the CPU. graph: relations over the same n.
    queries: the t to treat (default all). With a reservoir it must begin at a multiple of
    RESERVOIR_QUERIES. block: queries per product (default: as WORKING_BYTES allow).
    device: "cpu", or a torch device such as "cuda" ("torch:cpu" runs that path without a GPU).
    reservoir: rank among this many entities drawn
    uniformly per RESERVOIR_QUERIES queries instead of among all. None is exact.
    unit: False for vectors whose length counts, compared by dot product.
    advance: called with the number of queries done.

    Neutrals of t are all entities but t and its neighbours (§B.3). Raises ValueError for shapes
    that do not fit and rows that are not of unit length.
    """
    ranker = Ranker(
        vectors, graph, block=block, workers=workers, device=device, reservoir=reservoir,
        seed=seed, unit=unit,
    )  # fmt: skip
    return ranker.rank(queries if queries is not None else range(graph.n), advance)


class Ranker:
    """`pair_ranks` for one range of queries after another. Vectors are checked once."""

    def __init__(
        self,
        vectors: Rows,
        graph: RelationGraph,
        *,
        block: int | None = None,
        workers: int | None = None,
        device: str = "cpu",
        reservoir: int | None = None,
        seed: int = 0,
        unit: bool = True,
    ) -> None:
        self.n, self.seed = graph.n, seed
        self.reservoir = None if reservoir is None or reservoir >= self.n else reservoir
        self.workers = (workers or available_cores()) if device == "cpu" else 1
        columns = self.n if self.reservoir is None else self.reservoir
        most = 512 if self.reservoir is None else RESERVOIR_QUERIES
        room = WORKING_BYTES // (4 * max(columns, 1) * self.workers)
        self.block = block or max(1, min(most, room))
        self._counter = _counter(vectors, graph, device, unit=unit)

    def rank(self, queries: range, advance: Callable[[int], None] | None = None) -> PairRanks:
        """Return the ranks of `queries`. See `pair_ranks`."""
        if self.reservoir is not None and queries.start % RESERVOIR_QUERIES:
            raise ValueError(
                f"queries start at {queries.start}; with a reservoir, start at a multiple of "
                f"{RESERVOIR_QUERIES}."
            )

        def rank(chunk: range) -> PairRanks:
            size = self.reservoir
            drawn = None if size is None else draw_reservoir(self.n, size, chunk.start, self.seed)
            part = self._counter.count(chunk, drawn)
            if advance is not None:
                advance(len(chunk))
            return part

        boundary = None if self.reservoir is None else RESERVOIR_QUERIES
        chunks = list(_chunks(queries, self.block, boundary))
        threads = 1 if self.workers > 1 else None
        # Each worker multiplies on one BLAS thread and counts on the same core: no core waits.
        with threadpool_limits(threads, "blas"), ThreadPoolExecutor(self.workers) as pool:
            return PairRanks.concatenate(list(pool.map(rank, chunks)))


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


def _checked(vectors: FloatArray, graph: RelationGraph) -> FloatArray:
    """Return the vectors as the kernels read them. ValueError for another number than entities."""
    if vectors.ndim != 2 or len(vectors) != graph.n:
        raise ValueError(
            f"vectors are {vectors.shape}; the graph has {graph.n} entities: one row each."
        )
    return np.ascontiguousarray(vectors, np.float32)


def _check_unit(vectors: FloatArray) -> None:
    for start in range(0, len(vectors), CHECKED_ROWS):
        norms = np.linalg.norm(vectors[start : start + CHECKED_ROWS], axis=1)
        if not np.allclose(norms, 1, atol=UNIT):
            worst = int(np.argmax(np.abs(norms - 1)))
            raise ValueError(
                f"row {start + worst} has length {norms[worst]:.4g}; expected unit rows."
            )


def _bound(vectors: FloatArray, *, unit: bool) -> float:
    """Return how far two float32 similarities may be from their exact difference."""
    if unit:
        _check_unit(vectors)
        return rounding_bound(vectors.shape[1])
    starts = range(0, len(vectors), CHECKED_ROWS)
    reach = max(reach_of(vectors[start : start + CHECKED_ROWS]) for start in starts)
    return product_bound(vectors.shape[1], reach**2)


class _Counter(Protocol):
    def count(self, chunk: range, candidates: np.ndarray | None) -> PairRanks: ...


def _counter(rows: Rows, graph: RelationGraph, device: str, *, unit: bool) -> _Counter:
    if not isinstance(rows, np.ndarray):
        from argus.retrievability.ranks_of_rows import RowsCounter

        return RowsCounter(rows, graph)
    vectors = _checked(rows, graph)
    bound = _bound(vectors, unit=unit)
    if device == "cpu":
        return _CpuCounter(vectors, graph, bound)
    from argus.retrievability.ranks_torch import TorchCounter

    return TorchCounter(vectors, graph, device.removeprefix("torch:"), bound)


class _CpuCounter:
    """Blocked products by BLAS, counting by numba."""

    def __init__(self, vectors: FloatArray, graph: RelationGraph, bound: float) -> None:
        self.vectors, self.graph, self.bound = vectors, graph, bound

    def count(self, chunk: range, candidates: np.ndarray | None) -> PairRanks:
        from argus.retrievability.rank_kernels import count_block

        rows, exact, out = related_pairs(self.vectors, self.graph, chunk)
        if candidates is None:
            columns, candidates = self.vectors, self._everyone
        else:
            columns = self.vectors[candidates]
        similarity = self.vectors[chunk.start : chunk.stop] @ columns.T  # (block, columns)
        offsets = np.searchsorted(rows, np.arange(len(chunk) + 1))
        count_block(
            similarity, self.vectors, candidates, offsets, out.entity, exact,
            np.int64(chunk.start), self.bound, out.above, out.pool,
        )  # fmt: skip
        return out

    @cached_property
    def _everyone(self) -> np.ndarray:
        return np.arange(len(self.vectors), dtype=np.int32)
