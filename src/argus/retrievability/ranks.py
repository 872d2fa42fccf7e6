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
from dataclasses import dataclass, fields
from typing import Protocol

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from argus.cores import available_cores
from argus.data.rounding import rounding_bound
from argus.data.types import FloatArray
from argus.knowledge.relations import RelationGraph

WORKING_BYTES = 384 << 20
RESERVOIR_QUERIES = 1024
"""Queries that share one reservoir; fixed, so that results do not depend on block sizes."""

DIRECT_RELATED = 96  # above this many related entities of one t, bisecting is faster (measured)


@dataclass(frozen=True)
class PairRanks:
    """One row per measured pair, ordered by (related, entity). All arrays have shape (n_pairs,)."""

    entity: np.ndarray
    """x, the target; int32 position."""
    related: np.ndarray
    """t, the query; int32 position."""
    similarity: np.ndarray
    """cos(e_t, e_x), float32."""
    above: np.ndarray
    """r: neutrals (or members of the reservoir) that rank above x; int32."""
    pool: np.ndarray
    """M: neutrals of t (in the reservoir, if there is one); int32."""

    def __len__(self) -> int:
        return len(self.entity)

    @staticmethod
    def concatenate(parts: list[PairRanks]) -> PairRanks:
        """Join parts in order."""
        names = [f.name for f in fields(PairRanks)]
        if not parts:
            return PairRanks(
                *(np.zeros(0, np.float32 if n == "similarity" else np.int32) for n in names)
            )
        return PairRanks(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))


def pair_ranks(
    vectors: FloatArray,
    graph: RelationGraph,
    *,
    queries: range | None = None,
    block: int | None = None,
    workers: int | None = None,
    device: str = "cpu",
    reservoir: int | None = None,
    seed: int = 0,
    advance: Callable[[int], None] | None = None,
) -> PairRanks:
    """Rank every related entity of every query entity among the query's neutrals.

    vectors: (n, dim) float32, unit rows, ordered by id. graph: relations over the same n.
    queries: the t to treat (default all); with a reservoir it must begin at a multiple of
    RESERVOIR_QUERIES. block: queries per product (default: what WORKING_BYTES allow).
    device: "cpu", or a torch device such as "cuda" ("torch:cpu" runs that path without a GPU).
    reservoir: rank among this many entities drawn
    uniformly per RESERVOIR_QUERIES queries instead of among all; None is exact.
    advance: called with the number of queries done.

    Neutrals of t are all entities but t and its neighbours (§B.3). Raises ValueError for shapes
    that do not fit and rows that are not of unit length.
    """
    vectors = _checked(vectors, graph)
    n = len(vectors)
    queries = queries if queries is not None else range(n)
    exact = reservoir is None or reservoir >= n
    if not exact and queries.start % RESERVOIR_QUERIES:
        raise ValueError(
            f"queries start at {queries.start}; with a reservoir, start at a multiple of "
            f"{RESERVOIR_QUERIES}."
        )
    counter = _counter(vectors, graph, device)
    workers = (workers or available_cores()) if device == "cpu" else 1
    columns = n if exact else reservoir
    block = block or max(1, min(512, WORKING_BYTES // (4 * max(columns or 1, 1) * workers)))

    def rank(chunk: range) -> PairRanks:
        candidates = None if exact else draw_reservoir(n, reservoir or n, chunk.start, seed)
        part = counter.count(chunk, candidates)
        if advance is not None:
            advance(len(chunk))
        return part

    chunks = list(_chunks(queries, block, None if exact else RESERVOIR_QUERIES))
    # Each worker multiplies on one BLAS thread and counts on the same core: no core waits.
    with threadpool_limits(1 if workers > 1 else None, "blas"), ThreadPoolExecutor(workers) as pool:
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
    if vectors.ndim != 2 or len(vectors) != graph.n:
        raise ValueError(
            f"vectors are {vectors.shape}; the graph has {graph.n} entities: one row each."
        )
    vectors = np.ascontiguousarray(vectors, np.float32)
    norms = np.linalg.norm(vectors, axis=1)
    if len(norms) and not np.allclose(norms, 1, atol=1e-3):
        worst = int(np.argmax(np.abs(norms - 1)))
        raise ValueError(f"row {worst} has length {norms[worst]:.4g}; expected unit rows.")
    return vectors


class _Counter(Protocol):
    def count(self, chunk: range, candidates: np.ndarray | None) -> PairRanks: ...


def _counter(vectors: FloatArray, graph: RelationGraph, device: str) -> _Counter:
    if device == "cpu":
        return _CpuCounter(vectors, graph)
    from argus.retrievability.ranks_torch import TorchCounter

    return TorchCounter(vectors, graph, device.removeprefix("torch:"))


class _CpuCounter:
    """Blocked products by BLAS, counting by numba."""

    def __init__(self, vectors: FloatArray, graph: RelationGraph) -> None:
        self.vectors, self.graph = vectors, graph

    def count(self, chunk: range, candidates: np.ndarray | None) -> PairRanks:
        rows, exact, out = related_pairs(self.vectors, self.graph, chunk)
        if candidates is None:
            columns, candidates = self.vectors, np.arange(len(self.vectors), dtype=np.int32)
        else:
            columns = self.vectors[candidates]
        similarity = self.vectors[chunk.start : chunk.stop] @ columns.T  # (block, columns)
        position = np.full(len(self.vectors), -1, np.int32)
        position[candidates] = np.arange(len(candidates), dtype=np.int32)
        offsets = np.searchsorted(rows, np.arange(len(chunk) + 1))
        _count_block(
            similarity, self.vectors, candidates, position, offsets, out.entity, exact,
            np.int64(chunk.start), rounding_bound(self.vectors.shape[1]), out.above, out.pool,
        )  # fmt: skip
        return out


def related_pairs(
    vectors: FloatArray, graph: RelationGraph, chunk: range
) -> tuple[np.ndarray, np.ndarray, PairRanks]:
    """Return the chunk's pairs: row in the chunk, exact similarity, and ranks to fill in."""
    first, last = graph.indptr[chunk.start], graph.indptr[chunk.stop]
    rows = np.repeat(np.arange(len(chunk)), graph.degree[chunk.start : chunk.stop])
    entity = graph.indices[first:last].astype(np.int32)
    related = (rows + chunk.start).astype(np.int32)
    exact = np.empty(len(rows), np.float64)
    _dots(vectors, related, entity, exact)
    empty = np.empty(len(rows), np.int32)
    return rows, exact, PairRanks(entity, related, exact.astype(np.float32), empty, empty.copy())


def resolve_ties(vectors: FloatArray, t: int, x: int, candidates: np.ndarray, exact: float) -> int:
    """Return how many of `candidates` rank above x for t, compared in float64, ties by position."""
    similarity = np.empty(len(candidates), np.float64)
    _dots(vectors, np.full(len(candidates), t, np.int32), candidates.astype(np.int32), similarity)
    return int(((similarity > exact) | ((similarity == exact) & (candidates < x))).sum())


@numba.njit(nogil=True, cache=True)
def _dot(a, b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Dot product in float64, always summed in the same order (four running sums)."""
    s0 = s1 = s2 = s3 = 0.0
    whole = len(a) - len(a) % 4
    for i in range(0, whole, 4):
        s0 += np.float64(a[i]) * np.float64(b[i])
        s1 += np.float64(a[i + 1]) * np.float64(b[i + 1])
        s2 += np.float64(a[i + 2]) * np.float64(b[i + 2])
        s3 += np.float64(a[i + 3]) * np.float64(b[i + 3])
    for i in range(whole, len(a)):
        s0 += np.float64(a[i]) * np.float64(b[i])
    return (s0 + s1) + (s2 + s3)


@numba.njit(nogil=True, cache=True)
def _dots(vectors, left, right, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    for i in range(len(left)):
        out[i] = _dot(vectors[left[i]], vectors[right[i]])


@numba.njit(nogil=True, cache=True)
def _count_block(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    similarity, vectors, candidates, position, offsets, related, exact, first, bound,
    out_above, out_pool,
):  # fmt: skip
    """Fill above and pool for the rows of one block. Overwrites `similarity`."""
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        if begin == end:
            continue
        t = first + row
        scores = similarity[row]
        pool = len(candidates)
        if position[t] >= 0:
            scores[position[t]] = -np.inf
            pool -= 1
        for i in range(begin, end):
            if position[related[i]] >= 0:
                scores[position[related[i]]] = -np.inf
                pool -= 1
        out_pool[begin:end] = pool
        if end - begin <= DIRECT_RELATED:
            for i in range(begin, end):
                out_above[i] = _count_one(
                    scores, vectors, candidates, t, related[i], exact[i], bound
                )
        else:
            out_above[begin:end] = _count_many(
                scores, vectors, candidates, t, related[begin:end], exact[begin:end], bound
            )


@numba.njit(nogil=True, cache=True)
def _count_one(scores, vectors, candidates, t, x, exact, bound):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Count the candidates above one x: two comparisons each, which compile to vector code."""
    high, low = np.float32(exact + bound), np.float32(exact - bound)
    above = np.int64(0)
    for start in range(0, len(scores), 512):
        chunk = scores[start : start + 512]
        surely = possibly = np.int32(0)
        for j in range(len(chunk)):
            surely += np.int32(chunk[j] > high)
            possibly += np.int32(chunk[j] >= low)
        above += np.int64(surely)
        if possibly != surely:  # someone is within rounding of x: decide exactly
            for j in range(len(chunk)):
                if low <= chunk[j] <= high:
                    z = candidates[start + j]
                    exact_z = _dot(vectors[t], vectors[z])
                    above += exact_z > exact or (exact_z == exact and z < x)
    return above


@numba.njit(nogil=True, cache=True)
def _count_many(scores, vectors, candidates, t, related, exact, bound):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Count the candidates above each of many x: one bisection per candidate."""
    n_related = len(related)
    order = np.argsort(exact, kind="mergesort")
    sorted_exact = exact[order]
    surely_above = np.zeros(n_related + 1, np.int64)  # [p]: candidates surely above just p of them
    tied_above = np.zeros(n_related, np.int64)
    for column in range(len(scores)):
        score = scores[column]
        if score < sorted_exact[0] - bound:
            continue
        first_tied = np.searchsorted(sorted_exact, score - bound)
        surely_above[first_tied] += 1
        if first_tied < n_related and sorted_exact[first_tied] <= score + bound:
            z = candidates[column]
            exact_z = _dot(vectors[t], vectors[z])
            i = first_tied
            while i < n_related and sorted_exact[i] <= score + bound:
                x = related[order[i]]
                tied_above[i] += exact_z > sorted_exact[i] or (exact_z == sorted_exact[i] and z < x)
                i += 1
    out = np.empty(n_related, np.int64)
    above = 0
    for i in range(n_related - 1, -1, -1):
        above += surely_above[i + 1]
        out[order[i]] = above + tied_above[i]
    return out
