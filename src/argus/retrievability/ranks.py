"""Rank every related pair of entities by vector similarity, exactly, among all unrelated entities.

The costly step of `research audit`: vectors and the graph of relations -> for each pair (x, t) how
many entities unrelated to t (its neutrals) are closer to t than x is. The paper draws N-1 neutrals
per pair and looks whether x ranks in the top k (ARGUS §3.2). Argus counts all of them once:
`above(x, t)` out of `pool(t)`. Every RPS_{k,N} then follows by arithmetic
(`argus.retrievability.rps`).

How it is exact. Similarities to all candidates come from blocked float32 products, whose rounding
depends on block shapes. A candidate within the rounding bound of x is therefore compared again in
float64, in one fixed order of summation, so the result does not depend on block size, number of
threads, or device. Equal similarities rank by position: the entity that comes first is above.
Callers order entities by id, so ties break by id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from threadpoolctl import threadpool_limits

from argus.cores import available_cores
from argus.data.tables import read_table
from argus.data.types import FloatArray, IntArray
from argus.encoders.protocol import Rows
from argus.indexes.exact import product_bound, reach_of, rounding_bound, scoring_of
from argus.knowledge.base import RelationGraph

if TYPE_CHECKING:
    import torch

WORKING_BYTES = 384 << 20  # memory for the products of all workers
FINER = 2.0**-26  # bound of a float64 sum by that of a float32 one: its unit is 2^-29 of it
CHECKED_ROWS = 1 << 16  # checked at a time: vectors may be a file larger than the memory
FILE = "pair_ranks.parquet"
_NAMES = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("entity", _NAMES), ("related", _NAMES), ("similarity", pa.float32()),
        ("above", pa.int32()), ("pool", pa.int32()),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class PairRanks:
    """One row per measured pair, ordered by (related, entity). All arrays have shape (n_pairs,).

    entity: x, the target, an int32 position. related: t, the query, an int32 position.
    similarity: cos(e_t, e_x), or how else the encoder compares t's row with x's, float32.
    above: r, neutrals (or members of the reservoir) that rank above x, int32.
    pool: M, neutrals of t (in the reservoir, if there is one), int32.
    """

    entity: np.ndarray
    related: np.ndarray
    similarity: np.ndarray
    above: np.ndarray
    pool: np.ndarray

    def __len__(self) -> int:
        return len(self.entity)

    def of_targets(self, targets: npt.NDArray[np.bool_]) -> PairRanks:
        """Return the pairs whose x is a target. targets: bool, by position."""
        rows = targets[self.entity]
        return PairRanks(**{name: values[rows] for name, values in vars(self).items()})

    @staticmethod
    def concatenate(parts: Sequence[PairRanks]) -> PairRanks:
        """Join parts in order, at least one."""
        names = vars(parts[0])
        return PairRanks(**{name: np.concatenate([vars(p)[name] for p in parts]) for name in names})

    def table(self, ids: Sequence[str]) -> pa.Table:
        """Return one row per pair. Every RPS is computed from these.

        entity: id of the entity that is to be retrieved.
        related: id of the one that asks.
        similarity: cosine of the two.
        above: unrelated entities that are more similar to the one that asks.
        pool: unrelated entities, all of them.
        """
        names, columns = pa.array(ids, pa.string()), dict(vars(self))
        for end in ("entity", "related"):
            columns[end] = pa.DictionaryArray.from_arrays(pa.array(columns[end]), names)
        return pa.table(columns, schema=SCHEMA)


def read_pairs(path: Path, ids: Sequence[str]) -> PairRanks:
    """Return the pairs of an audit whose entity is among `ids`. Positions are in `ids`.

    related: -1 for a query that is not among them.
    """
    table = read_table(path, SCHEMA.names).combine_chunks()
    above, pool = table["above"].to_numpy(), table["pool"].to_numpy()
    positions = {id_: position for position, id_ in enumerate(ids)}
    columns = {"similarity": table["similarity"].to_numpy(), "above": above, "pool": pool}
    for end in ("entity", "related"):
        names = pa.concat_arrays(table[end].chunks or [pa.array([], _NAMES)])
        of = np.array([positions.get(n, -1) for n in names.dictionary.to_pylist()], np.int32)
        columns[end] = of[names.indices.to_numpy()]
    rows = columns["entity"] >= 0
    return PairRanks(**{name: values[rows] for name, values in columns.items()})


def pairs_in(graph: RelationGraph, chunk: range) -> tuple[np.ndarray, PairRanks]:
    """Return the chunk's pairs: row in the chunk, and similarity and ranks to fill in."""
    first, last = graph.indptr[chunk.start], graph.indptr[chunk.stop]
    rows = np.repeat(np.arange(len(chunk)), graph.degree[chunk.start : chunk.stop])
    entity = graph.indices[first:last].astype(np.int32)
    related = (rows + chunk.start).astype(np.int32)
    above, pool = (np.empty(len(rows), np.int32) for _ in range(2))
    return rows, PairRanks(entity, related, np.empty(len(rows), np.float32), above, pool)


def related_pairs(
    vectors: FloatArray, graph: RelationGraph, chunk: range
) -> tuple[np.ndarray, np.ndarray, PairRanks]:
    """Return the chunk's pairs: row in the chunk, exact similarity, and ranks to fill in."""
    from argus.retrievability.kernels import dots

    rows, pairs = pairs_in(graph, chunk)
    exact = np.empty(len(rows), np.float64)
    dots(vectors, pairs.related, pairs.entity, exact)
    pairs.similarity[:] = exact
    return rows, exact, pairs


RESERVOIR_QUERIES = 1024  # queries that share one reservoir, whatever the size of blocks
BLOCK_QUERIES = 512  # most queries in a block without a reservoir
DISPLACER_QUERIES = 256  # most queries in a block of `displacers`

# Rank the related entities of some queries among candidates, int32 and ascending (None: all).
Count = Callable[[range, np.ndarray | None], PairRanks]


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
    count: Count
    if isinstance(vectors, np.ndarray):
        rows, dim = np.ascontiguousarray(vectors, np.float32), vectors.shape[1]
        parts = (rows[i : i + CHECKED_ROWS] for i in range(0, len(rows), CHECKED_ROWS))
        bound = rounding_bound(dim) if unit else product_bound(dim, max(map(reach_of, parts)) ** 2)
        if device == "cpu":
            count = _vector_counter(rows, graph, bound)
        else:
            count = _torch_counter(rows, graph, device.removeprefix("torch:"), bound)
    else:
        count = _rows_counter(vectors, graph)

    def rank(queries: range, advance: Callable[[int], None] | None = None) -> PairRanks:
        def rank_chunk(chunk: range) -> PairRanks:
            drawn = None if size is None else draw_reservoir(n, size, chunk.start, seed)
            part = count(chunk, drawn)
            if advance is not None:
                advance(len(chunk))
            return part

        chunks, start = [], queries.start
        while start < queries.stop:
            stop = min(start + step, queries.stop)
            if size is not None:  # queries of a chunk share a reservoir
                stop = min(stop, (start // RESERVOIR_QUERIES + 1) * RESERVOIR_QUERIES)
            chunks.append(range(start, stop))
            start = stop
        # Each worker multiplies on one BLAS thread and counts on the same core: no core waits.
        threads = 1 if workers > 1 else None
        with threadpool_limits(threads, "blas"), ThreadPoolExecutor(workers) as pool:
            return PairRanks.concatenate([*pool.map(rank_chunk, chunks)])

    return rank


def draw_reservoir(n: int, size: int, query: int, seed: int) -> np.ndarray:
    """Return the sorted candidates (int32, shape (size,)) of the reservoir that `query` uses."""
    rng = np.random.default_rng([seed, query // RESERVOIR_QUERIES])
    return np.sort(rng.choice(n, size, replace=False)).astype(np.int32)


def _vector_counter(vectors: FloatArray, graph: RelationGraph, bound: float) -> Count:
    """Blocked products by BLAS, counting by numba."""
    everyone = np.arange(len(vectors), dtype=np.int32)

    def count(chunk: range, candidates: np.ndarray | None) -> PairRanks:
        from argus.retrievability.kernels import DIRECT_RELATED, count_block

        rows, exact, out = related_pairs(vectors, graph, chunk)
        columns = vectors if candidates is None else vectors[candidates]
        similarity = vectors[chunk.start : chunk.stop] @ columns.T  # (block, columns)
        offsets = np.searchsorted(rows, np.arange(len(chunk) + 1))
        order = np.arange(len(exact))
        for row in np.flatnonzero(np.diff(offsets) > DIRECT_RELATED):
            pairs = slice(offsets[row], offsets[row + 1])
            order[pairs] = pairs.start + np.argsort(exact[pairs])
        ids = everyone if candidates is None else candidates
        count_block(
            similarity, vectors, ids, offsets, out.entity, exact, order,
            np.int64(chunk.start), bound, out.above, out.pool,
        )  # fmt: skip
        return out

    return count


def _torch_counter(vectors: FloatArray, graph: RelationGraph, device: str, bound: float) -> Count:
    """Return a counter with the contract and, to the bit, the counts of the CPU's.

    A related entity is compared with all neutrals of its query at once, on the device. Neutrals
    within `bound`, that of float32, are compared again in float64 there. Those that this leaves
    undecided come back to the CPU, whose order of summation decides.
    """
    import torch

    from argus.retrievability.kernels import dots

    place = torch.device(device)
    # TF32 would round to 10 bits: far outside the rounding bound.
    torch.backends.cuda.matmul.allow_tf32 = False

    def send(values: np.ndarray) -> torch.Tensor:
        writeable = values if values.flags.writeable else values.copy()  # torch warns of others
        return torch.from_numpy(writeable).to(place)

    @cache
    def send_all() -> torch.Tensor:
        """Send all vectors block by block, since they may be a large file."""
        whole = torch.empty(vectors.shape, dtype=torch.float32, device=place)
        for start in range(0, len(vectors), CHECKED_ROWS):
            rows = slice(start, start + CHECKED_ROWS)
            whole[rows] = send(vectors[rows])
        return whole

    def count(chunk: range, candidates: np.ndarray | None) -> PairRanks:
        rows, exact, out = related_pairs(vectors, graph, chunk)
        if candidates is None:
            ids, columns = np.arange(len(vectors), dtype=np.int32), send_all()
            queries = columns[chunk.start : chunk.stop]
        else:  # of a reservoir's vectors alone, so that those of all need not fit
            ids, columns = candidates, send(vectors[candidates])
            queries = send(vectors[chunk.start : chunk.stop])
        similarity = queries @ columns.T  # (block, columns)
        excluded_rows = np.concatenate([rows, np.arange(len(chunk))])
        entities = np.concatenate([out.entity, np.arange(chunk.start, chunk.stop)])
        excluded = np.minimum(np.searchsorted(ids, entities), len(ids) - 1)
        inside = ids[excluded] == entities
        similarity[send(excluded_rows[inside]), send(excluded[inside])] = -torch.inf
        left_out = np.bincount(excluded_rows[inside], minlength=len(chunk))
        out.pool[:] = (len(ids) - left_out)[rows]
        step = max(1, WORKING_BYTES // (4 * similarity.shape[1]))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            asking, level = send(rows[part]), send(exact[part].astype(np.float32))[:, None]
            values = similarity[asking]
            above = (values > level + bound).sum(dim=1)
            near = (values >= level - bound) & (values <= level + bound)
            of, column = near.nonzero(as_tuple=True)
            if len(of) and place.type != "mps":  # which has no float64
                difference = _compare(queries, asking[of], columns, column) - send(exact[part])[of]
                undecided = difference.abs() <= bound * FINER
                surely = of[(difference > 0) & ~undecided]
                above.index_add_(0, surely, torch.ones_like(surely))
                of, column = of[undecided], column[undecided]
            pair, rival = of.cpu().numpy(), ids[column.cpu().numpy()]
            tied, target = exact[part][pair], out.entity[part][pair]
            own = np.empty(len(pair), np.float64)
            dots(vectors, out.related[part][pair], rival, own)
            wins = pair[(own > tied) | ((own == tied) & (rival < target))]
            out.above[part] = above.cpu().numpy() + np.bincount(wins, minlength=len(above))
        return out

    return count


def _compare(
    queries: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, places: torch.Tensor
) -> torch.Tensor:
    """Return the products in float64 of some queries with some columns, shape (n,)."""
    import torch

    products = torch.empty(len(rows), dtype=torch.float64, device=queries.device)
    step = max(1, WORKING_BYTES // (16 * queries.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        left, right = queries[rows[part]].double(), columns[places[part]].double()
        products[part] = (left * right).sum(dim=1)
    return products


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
