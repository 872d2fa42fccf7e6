"""Exact search: blocked scores of all documents, whatever their rows are, ties broken by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.encoders.rows import Rows, SparseRows, TokenRows
from argus.encoders.scoring import Scoring, scoring_of, widened
from argus.indexes.groups import Groups, KnownItems, RowLists, group_ranks

Documents = Rows | Scoring[Any]
"""What is searched; who searches it several times makes a `Scoring` of it once."""

BLOCK_BYTES = 256 << 20


@dataclass(frozen=True)
class TopK:
    """Ranked rows per query, best first. Both arrays have shape (n_queries, k)."""

    rows: IntArray
    scores: FloatArray


@dataclass(frozen=True)
class KnownItemRanks:
    """Search for one known document per query."""

    rank: IntArray
    """1-based rank of the target among all documents, shape (n_queries,)."""
    above: IntArray
    """Documents that score strictly higher, shape (n_queries,): rank - 1 where nothing ties."""
    top: TopK
    """What was returned, the target included where it ranks high enough."""
    group_rank: IntArray | None = None
    """1-based rank of the target's group among groups, where there are any, shape (n_queries,)."""


def search(queries: Rows, documents: Documents, k: int) -> TopK:
    """Return the k documents of highest score for each query.

    queries, documents: rows of one encoder; dense ones have shape (n, dim) and are compared by dot
    product. k is cut to n_documents. Equal scores rank by row: keep documents ordered by id and
    ties break by id.
    """
    queries, scoring = widened(queries), _scoring(documents)
    parts = [_best(scores, k) for _, scores in _score_blocks(queries, scoring)]
    return TopK(
        np.concatenate([rows for rows, _ in parts]), np.concatenate([scores for _, scores in parts])
    )


def known_item_search(
    queries: Rows,
    documents: Documents,
    targets: IntArray,
    k: int,
    *,
    target_vectors: Rows | None = None,
    groups: Groups | None = None,
    hidden: RowLists | None = None,
) -> KnownItemRanks:
    """Search for document `targets[i]` with query i; return its rank and the top k.

    target_vectors: n_queries rows, what stands in for the target's own in query i (a document
    without the sentence that asks for it); rows equal to the target's change nothing.
    Float32 products round, so documents within the rounding bound of the target are compared with
    it again in float64: equal vectors tie whatever block they fall in.

    groups: rank the target's group, too; a group counts by its best document. hidden: documents
    that are in no group for a query; its target always is in one.
    """
    ranks, aboves, tops, of_groups = [], [], [], []
    queries, scoring = widened(queries), _scoring(documents)
    for block, scores in _score_blocks(queries, scoring):
        target = targets[block]
        stand_in = scoring.documents[target] if target_vectors is None else target_vectors[block]
        own = scoring.pairs(queries[block], stand_in)  # in float64, however many bits they have
        scores[np.arange(len(target)), target] = own
        rank, above = _ranks(scores, own, target, queries[block], scoring)
        ranks.append(rank)
        aboves.append(above)
        tops.append(_best(scores, k))
        if groups is not None:
            known = KnownItems(queries[block], target, own)
            if hidden is not None:
                for i in range(len(target)):
                    scores[i, hidden.of_query(block.start + i)] = -np.inf
                scores[np.arange(len(target)), target] = own
            of_groups.append(group_ranks(scores, known, scoring, groups))
    return KnownItemRanks(
        np.concatenate(ranks).astype(np.int64),
        np.concatenate(aboves).astype(np.int64),
        TopK(np.concatenate([r for r, _ in tops]), np.concatenate([s for _, s in tops])),
        np.concatenate(of_groups) if of_groups else None,
    )


def _ranks(
    scores: FloatArray,
    own: npt.NDArray[np.float64],
    target: IntArray,
    queries: Rows,
    scoring: Scoring[Any],
) -> tuple[IntArray, IntArray]:
    """Return 1-based ranks, ties by row, and counts of what is strictly higher.

    Near-ties are decided in float64.
    """
    bound = scoring.bound(queries)
    above = (scores > own[:, None] + bound).sum(axis=1)
    ranks = 1 + above
    near = np.abs(scores - own[:, None]) <= bound
    near[np.arange(len(target)), target] = False
    for row in np.flatnonzero(near.any(axis=1)):
        rivals = np.flatnonzero(near[row])
        exact = scoring.against(queries[row : row + 1], rivals)
        higher = exact > own[row]
        above[row] += int(higher.sum())
        ranks[row] += int((higher | ((exact == own[row]) & (rivals < target[row]))).sum())
    return np.asarray(ranks, np.int64), np.asarray(above, np.int64)


def queries_per_block(n_documents: int) -> int:
    """Return how many queries are searched with at once; float32 products depend on it."""
    return max(1, BLOCK_BYTES // (4 * n_documents))


def _scoring(documents: Documents) -> Scoring[Any]:
    if isinstance(documents, np.ndarray | SparseRows | TokenRows):
        return scoring_of(documents)
    return documents


def _score_blocks(queries: Rows, scoring: Scoring[Any]) -> Iterator[tuple[slice, FloatArray]]:
    n = len(scoring.documents)
    if not len(queries) or not n:
        raise ValueError(f"{len(queries)} queries over {n} documents: needs at least one of each.")
    step = queries_per_block(n)
    for start in range(0, len(queries), step):
        block = slice(start, start + step)
        yield block, scoring.products(queries[block])  # (block, n_documents)


def _best(scores: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    """Return the k best columns of each row, best first, ties by column."""
    k = min(k, scores.shape[1])
    if k < scores.shape[1]:
        # The k-th best value; every column that equals it competes, the smallest ones win.
        kth = np.partition(scores, -k, axis=1)[:, -k][:, None]
        above, tied = scores > kth, scores == kth
        room = k - above.sum(axis=1, keepdims=True)
        best = above | (tied & (np.cumsum(tied, axis=1) <= room))
        columns = np.nonzero(best)[1].reshape(len(scores), k)
    else:
        columns = np.broadcast_to(np.arange(k), scores.shape).copy()
    values = np.take_along_axis(scores, columns, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")  # columns ascend, so ties keep row order
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(values, order, axis=1)
