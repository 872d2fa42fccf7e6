"""Rank documents for queries by exact vector scores, without an approximate index, ties by row.

`search`: query and document vectors -> the k best rows. `known_item_search`: one wanted document
per query -> its rank. Rows may be dense, sparse, or token vectors (MaxSim): `scoring_of` has their
products. `Groups` ranks parent documents by their best chunk. `argus check` finds each document by
its own sentences with it. Documents with several indexed texts are ranked in `argus.indexes.fold`.

Scores of a block of queries are float32, from products as large as the memory allows. Scores within
`bound` of each other are computed again in float64, pair by pair. So neither the size of blocks nor
the order of queries changes a rank, and equal rows tie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, cast

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.types import FloatArray, IntArray
from argus.encoders.protocol import (
    UNIT_TOLERANCE,
    Places,
    R,
    Rows,
    SparseRows,
    TokenRows,
    parts_of,
    starts_of,
)

Float64Array = npt.NDArray[np.float64]
# Tokens of documents in a block. One text with more makes a block by itself.
BLOCK_TOKENS = 1 << 14
# Products of query tokens with document tokens, or sparse scores, in memory at once.
PAIR_BYTES = 64 << 20
# Of the probabilistic bound of Higham and Mary (2019), λ√n·u.
SIGMAS = 8.0


# Rows that are compared one by one. Of more, equal ones are compared once.
MAX_SINGLE = 64


def rounding_bound(dim: int) -> float:
    """Return how far two float32 similarities may be from their exact difference.

    For unit vectors of length `dim`; similarities closer than this are to be compared in float64.
    """
    return float(2 * SIGMAS * np.sqrt(dim) * 2.0**-24)


def product_bound(dim: int, reach: float) -> float:
    """Return how far two float32 products of vectors of `dim` may be from their exact difference.

    reach: the largest length of the one times that of the other. Numbers below 2**-126 stand at
    one distance from each other, however small they are.
    """
    return rounding_bound(dim) * reach + dim * 2.0**-149


def scoring_of(documents: R) -> Scoring[R]:
    """Return the scoring for the kind of the rows."""
    kinds: Any = {SparseRows: SparseScoring, TokenRows: TokenScoring}
    return cast(Scoring[R], kinds.get(type(documents), DenseScoring)(widened(documents)))


def widened(rows: R) -> R:
    """Return rows of at least 32 bits: products in half precision exceed every bound here."""
    if isinstance(rows, np.ndarray):
        return cast(R, rows.astype(np.result_type(rows, np.float32), copy=False))
    return rows


def reach_of(rows: Rows) -> float:
    """Return the length of the longest row, or token, or 1 if all have length 1."""
    if isinstance(rows, SparseRows):
        squares = np.asarray(rows.matrix.multiply(rows.matrix).sum(axis=1)).ravel()
    else:
        vectors = rows.vectors if isinstance(rows, TokenRows) else rows
        squares = np.einsum("ij,ij->i", vectors, vectors)
    if not len(squares):
        return 1.0
    longest, shortest = (float(np.sqrt(each)) for each in (squares.max(), squares.min()))
    return 1.0 if max(abs(longest - 1), abs(shortest - 1)) < UNIT_TOLERANCE else longest


@dataclass(frozen=True)
class Scoring(ABC, Generic[R]):
    """The documents of a search, and their scores for queries."""

    documents: R

    @cached_property
    def _reach(self) -> float:
        return reach_of(self.documents)

    @abstractmethod
    def products(self, queries: R) -> FloatArray:
        """Return the scores of all documents in float32, shape (n_queries, n_documents)."""

    @abstractmethod
    def bound(self, queries: R) -> float:
        """Return the largest error of a difference of two of these scores."""

    @abstractmethod
    def pairs(self, queries: R, documents: R) -> Float64Array:
        """Return the exact score of query i and document i, both of n rows, as shape (n,)."""

    def against(self, query: R, rows: IntArray) -> Float64Array:
        """Return the exact scores of one query, of one row, with some documents."""
        asking: Any = query
        documents: Any = self.documents
        return self.pairs(asking[np.zeros(len(rows), np.int64)], documents[rows])


class DenseScoring(Scoring[FloatArray]):
    """One vector per text, (n, dim): the dot product, which is the cosine of rows of length 1."""

    def products(self, queries: FloatArray) -> FloatArray:
        """See `Scoring`."""
        return np.asarray(queries @ self.documents.T)

    def bound(self, queries: FloatArray) -> float:
        """See `Scoring`."""
        return product_bound(self.documents.shape[1], self._reach * reach_of(queries))

    def pairs(self, queries: FloatArray, documents: FloatArray) -> Float64Array:
        """See `Scoring`."""
        exact: Float64Array = np.einsum("ij,ij->i", queries.astype(float), documents.astype(float))
        return exact

    def against(self, query: FloatArray, rows: IntArray) -> Float64Array:
        """See `Scoring`."""
        of = self._alike[rows] if len(rows) > MAX_SINGLE else rows
        distinct, places = np.unique(of, return_inverse=True)
        vectors = self.documents[distinct].astype(float)
        exact: Float64Array = np.einsum("j,ij->i", query[0].astype(float), vectors)
        return exact[places]

    @cached_property
    def _alike(self) -> IntArray:
        """The first of the rows with the same vector, for each row: duplicates are many at once."""
        first: dict[bytes, int] = {}
        rows = enumerate(self.documents)
        return np.array([first.setdefault(content_hash(v.tobytes()), i) for i, v in rows], np.int64)


class SparseScoring(Scoring[SparseRows]):
    """Weights of terms: the dot product over the terms that query and document share."""

    @cached_property
    def _postings(self) -> Any:
        return self.documents.matrix.T.tocsr()

    def products(self, queries: SparseRows) -> FloatArray:
        """See `Scoring`."""
        out = np.empty((len(queries), len(self.documents)), np.float32)
        step = max(1, PAIR_BYTES // (8 * max(1, len(self.documents))))
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            out[part] = (queries[part].matrix @ self._postings).toarray()
        return out

    def bound(self, queries: SparseRows) -> float:
        """See `Scoring`."""
        terms = int(np.diff(queries.matrix.indptr).max(initial=1))
        return product_bound(terms, self._reach * reach_of(queries))

    def pairs(self, queries: SparseRows, documents: SparseRows) -> Float64Array:
        """See `Scoring`."""
        shared = queries.matrix.astype(np.float64).multiply(documents.matrix.astype(np.float64))
        return np.asarray(shared.tocsr().sum(axis=1), np.float64).ravel()


class TokenScoring(Scoring[TokenRows]):
    """Late interaction (ColBERT, Khattab and Zaharia 2020, section 3.3, eq. 3): MaxSim.

    The sum, over the tokens of the query, of the largest dot product with a token of the document.
    """

    def products(self, queries: TokenRows) -> FloatArray:
        """See `Scoring`. Every text has a token."""
        out = np.empty((len(queries), len(self.documents)), np.float32)
        for part in _cut(self.documents.counts, BLOCK_TOKENS):
            block = self.documents[part]
            for some in _cut(queries.counts, PAIR_BYTES // (4 * BLOCK_TOKENS)):
                asking = queries[some]
                similarity = asking.vectors @ block.vectors.T  # (query tokens, document tokens)
                best = np.maximum.reduceat(similarity, block.starts[:-1], axis=1)
                starts = asking.starts[:-1]
                out[some, part] = np.add.reduceat(best, starts, axis=0, dtype=np.float64)
        return out

    def bound(self, queries: TokenRows) -> float:
        """See `Scoring`."""
        reach = self._reach * reach_of(queries)
        per_token = rounding_bound(self.documents.vectors.shape[1]) + 2.0**-22
        return float(queries.counts.max(initial=1)) * per_token * reach

    def pairs(self, queries: TokenRows, documents: TokenRows) -> Float64Array:
        """See `Scoring`."""
        out = np.zeros(len(queries))
        for i in range(len(queries)):
            similarity = queries.tokens(i).astype(float) @ documents.tokens(i).astype(float).T
            out[i] = similarity.max(axis=1).sum()
        return out


def _cut(counts: IntArray, most: int) -> Iterator[slice]:
    """Yield consecutive texts of at most `most` tokens together, unless one text has more."""
    start, total = 0, 0
    for i, count in enumerate(counts.tolist()):
        if i > start and total + count > most:
            yield slice(start, i)
            start, total = i, 0
        total += count
    if len(counts):
        yield slice(start, len(counts))


# Rows to search. To search them several times, make a `Scoring` of them once.
Documents = Rows | Scoring[Any]

BLOCK_BYTES = 256 << 20


@dataclass(frozen=True)
class TopK:
    """Ranked rows per query, best first. Both arrays have shape (n_queries, k)."""

    rows: IntArray
    scores: FloatArray


@dataclass(frozen=True)
class KnownItemRanks:
    """Results of a search for one known document per query, arrays of shape (n_queries,).

    rank: 1-based rank of the target among all documents. above: documents that score strictly
    higher, rank - 1 where nothing ties. top: the results, the target included where it ranks high
    enough. group_rank: 1-based rank of the target's group among groups, where there are any.
    """

    rank: IntArray
    above: IntArray
    top: TopK
    group_rank: IntArray | None = None


@dataclass(frozen=True)
class Groups:
    """Groups of rows that stand in for each other, such as chunks of one document.

    of: (n,), the group of each row: 0 to n_groups - 1, each with a row.
    """

    of: IntArray

    @cached_property
    def order(self) -> IntArray:
        """The rows, group by group."""
        return np.argsort(self.of, kind="stable")

    @cached_property
    def starts(self) -> IntArray:
        """Start of each group in `order`, and the end of the last one, (n_groups + 1,)."""
        return starts_of(np.bincount(self.of))

    @cached_property
    def _are_contiguous(self) -> bool:
        return bool((np.diff(self.of) >= 0).all())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def rows(self, group: int) -> IntArray:
        """Return the rows of a group."""
        return self.order[self.starts[group] : self.starts[group + 1]]

    def fold(self, scores: FloatArray) -> FloatArray:
        """Return the best score of each group, (n_queries, n_groups). scores: (n_queries, n)."""
        ordered = scores if self._are_contiguous else scores[:, self.order]
        folded: FloatArray = np.maximum.reduceat(ordered, self.starts[:-1], axis=1)
        return folded

    def ranks(
        self,
        scores: FloatArray,
        queries: Rows,
        targets: IntArray,
        own: Float64Array,
        scoring: Scoring[Any],
    ) -> IntArray:
        """Return the 1-based rank of each target's group among the groups, by their best rows.

        scores: (n_queries, n), the targets' own among them, minus infinity for rows that do not
        count. own: the targets' exact scores. Groups within the rounding bound of the target's are
        compared with it again in float64. Ties break by group.
        """
        folded, of_target = self.fold(scores), self.of[targets]
        best = folded[np.arange(len(scores)), of_target][:, None]
        bound = 2 * scoring.bound(queries)  # either side may be off
        ranks = 1 + (folded > best + bound).sum(axis=1)
        near = np.abs(folded - best) <= bound  # the target's own, too
        for row in np.flatnonzero(near.sum(axis=1) > 1).tolist():
            rivals, target = np.flatnonzero(near[row]), of_target[row]
            places, starts = parts_of(self.starts, rivals)
            members = self.order[places]
            floors = np.repeat(folded[row, rivals] - bound, np.diff(starts))
            close = scores[row, members] >= floors  # no other can be the best of its group
            exact = np.full(len(members), -np.inf)
            exact[close] = scoring.against(queries[row : row + 1], members[close])
            exact[members == targets[row]] = own[row]
            bests = np.maximum.reduceat(exact, starts[:-1])
            reached = bests[rivals == target]
            ranks[row] += ((bests > reached) | ((bests == reached) & (rivals < target))).sum()
        return np.asarray(ranks, np.int64)


@dataclass(frozen=True)
class RowLists:
    """Lists of rows of an index, and the list of each query. Queries may share one.

    of: (n_queries,), the list of each. The rows of list j are `rows[starts[j]:starts[j + 1]]`.
    """

    of: IntArray
    starts: IntArray
    rows: IntArray

    @classmethod
    def of_queries(cls, of: IntArray, lists: Sequence[Sequence[int]]) -> RowLists:
        """Return lists as arrays. of: the list of each query."""
        starts = starts_of(np.array([len(one) for one in lists], np.int64))
        return cls(of, starts, np.array([row for one in lists for row in one], np.int64))

    def part(self, queries: Places) -> RowLists:
        """Return the lists of some queries, and no others."""
        used, of = np.unique(self.of[queries], return_inverse=True)
        places, starts = parts_of(self.starts, used)
        return RowLists(of.reshape(-1), starts, self.rows[places])

    def of_query(self, query: int) -> IntArray:
        """Return the rows of one query's list."""
        own = self.of[query]
        return self.rows[self.starts[own] : self.starts[own + 1]]


def search(queries: Rows, documents: Documents, k: int) -> TopK:
    """Return the k documents of highest score for each query.

    queries, documents: rows of one encoder. Dense ones have shape (n, dim) and are compared by dot
    product. k is cut to n_documents. Equal scores rank by row: keep documents ordered by id and
    ties break by id.
    """
    queries, scoring = widened(queries), _scoring(documents)
    parts = [_best(scores, k) for _, scores in _score_blocks(queries, scoring)]
    return _joined(parts)


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
    """Search for document `targets[i]` with query i. Return its rank and the top k.

    target_vectors: n_queries rows that stand in for the target's own in query i (a document
    without the sentence that asks for it). Rows equal to the target's change nothing.
    Float32 products round, so documents within the rounding bound of the target are compared with
    it again in float64: equal vectors tie whatever block they fall in.

    groups: rank the target's group, too. A group counts by its best document. hidden: documents
    that are in no group for a query. Its target always is in one.
    """
    ranks, aboves, tops, of_groups = [], [], [], []
    queries, scoring = widened(queries), _scoring(documents)
    for block, scores in _score_blocks(queries, scoring):
        target = targets[block]
        stand_in = scoring.documents[target] if target_vectors is None else target_vectors[block]
        own = scoring.pairs(queries[block], stand_in)  # in float64, however many bits they have
        each = np.arange(len(target))
        scores[each, target] = own
        rank, above = _ranks(scores, own, target, queries[block], scoring)
        ranks.append(rank)
        aboves.append(above)
        tops.append(_best(scores, k))
        if groups is not None:
            if hidden is not None:
                for i in each.tolist():
                    scores[i, hidden.of_query(block.start + i)] = -np.inf
                scores[each, target] = own
            of_groups.append(groups.ranks(scores, queries[block], target, own, scoring))
    return KnownItemRanks(
        np.concatenate(ranks).astype(np.int64),
        np.concatenate(aboves).astype(np.int64),
        _joined(tops),
        np.concatenate(of_groups) if of_groups else None,
    )


def queries_per_block(n_documents: int) -> int:
    """Return the number of queries to search at once. Float32 products depend on it."""
    return max(1, BLOCK_BYTES // (4 * n_documents))


def _ranks(
    scores: FloatArray, own: Float64Array, target: IntArray, queries: Rows, scoring: Scoring[Any]
) -> tuple[IntArray, IntArray]:
    """Return 1-based ranks, ties by row, and counts of documents that score strictly higher.

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
        # The k-th best value. Every column that equals it competes, the smallest ones win.
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


def _joined(parts: Sequence[tuple[IntArray, FloatArray]]) -> TopK:
    return TopK(np.concatenate([r for r, _ in parts]), np.concatenate([s for _, s in parts]))
