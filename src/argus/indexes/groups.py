"""Known items in groups: chunks of one document stand in for each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.encoders.rows import Places, Rows
from argus.encoders.scoring import Scoring


@dataclass(frozen=True)
class Groups:
    """Which group each row of an index is of. of: (n,), 0 to n_groups - 1, each with a row."""

    of: IntArray

    @cached_property
    def order(self) -> IntArray:
        """The rows, group by group."""
        return np.argsort(self.of, kind="stable")

    @cached_property
    def starts(self) -> IntArray:
        """Where in `order` each group begins, and where the last one ends, (n_groups + 1,)."""
        counts = np.bincount(self.of)
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def _are_contiguous(self) -> bool:
        return bool((np.diff(self.of) >= 0).all())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def rows(self, group: int) -> IntArray:
        """Return the rows of a group."""
        return self.order[self.starts[group] : self.starts[group + 1]]

    def members(self, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of some groups, one after the other, and where those of each begin.

        The second has an end, too: (n_groups + 1,).
        """
        first, counts = self.starts[groups], self.starts[groups + 1] - self.starts[groups]
        starts = np.concatenate([[0], np.cumsum(counts)])
        return self.order[_ranges(first, counts)], starts

    def fold(self, scores: FloatArray) -> FloatArray:
        """Return the best score of each group, (n_queries, n_groups). scores: (n_queries, n)."""
        ordered = scores if self._are_contiguous else scores[:, self.order]
        folded: FloatArray = np.maximum.reduceat(ordered, self.starts[:-1], axis=1)
        return folded


@dataclass(frozen=True)
class RowLists:
    """Lists of rows of an index, and the one that each query has; queries may share one.

    of: (n_queries,), the list of each. The rows of list j are `rows[starts[j]:starts[j + 1]]`.
    """

    of: IntArray
    starts: IntArray
    rows: IntArray

    @classmethod
    def of_queries(cls, of: IntArray, lists: Sequence[Sequence[int]]) -> RowLists:
        """Return lists as arrays. of: the list of each query."""
        counts = np.array([len(one) for one in lists], np.int64)
        rows = np.array([row for one in lists for row in one], np.int64)
        return cls(of, np.concatenate([[0], np.cumsum(counts)]), rows)

    def part(self, queries: Places) -> RowLists:
        """Return the lists of some queries, and no others."""
        used, of = np.unique(self.of[queries], return_inverse=True)
        counts = self.starts[used + 1] - self.starts[used]
        starts = np.concatenate([[0], np.cumsum(counts)])
        return RowLists(of.reshape(-1), starts, self.rows[_ranges(self.starts[used], counts)])

    def of_query(self, query: int) -> IntArray:
        """Return the rows of one query's list."""
        own = self.of[query]
        return self.rows[self.starts[own] : self.starts[own + 1]]


def _ranges(first: IntArray, counts: IntArray) -> IntArray:
    """Return first[0], first[0] + 1, ..., `counts[0]` of them, and so on."""
    before = np.cumsum(counts) - counts
    places: IntArray = np.arange(counts.sum()) + np.repeat(first - before, counts)
    return places


@dataclass(frozen=True)
class KnownItems:
    """Queries that look for a row. All of n rows."""

    queries: Rows
    targets: IntArray
    own: npt.NDArray[np.float64]
    """The target's score for its query, exact."""


def group_ranks(
    scores: FloatArray, known: KnownItems, scoring: Scoring[Any], groups: Groups
) -> IntArray:
    """Return the 1-based rank of each target's group among the groups, by their best rows.

    scores: (n_queries, n), the targets' own among them, minus infinity for rows that do not count.
    Groups within the rounding bound of the target's are compared with it again in float64; ties
    break by group.
    """
    folded = groups.fold(scores)
    rows = np.arange(len(scores))
    of_target = groups.of[known.targets]
    best = folded[rows, of_target][:, None]
    bound = 2 * scoring.bound(known.queries)  # either side may be off
    ranks = 1 + (folded > best + bound).sum(axis=1)
    near = np.abs(folded - best) <= bound  # the target's own, too
    for row in np.flatnonzero(near.sum(axis=1) > 1).tolist():
        rivals, target = np.flatnonzero(near[row]), of_target[row]
        members, starts = groups.members(rivals)
        floors = np.repeat(folded[row, rivals] - bound, np.diff(starts))
        close = scores[row, members] >= floors  # no other can be the best of its group
        exact = np.full(len(members), -np.inf)
        exact[close] = scoring.against(known.queries[row : row + 1], members[close])
        exact[members == known.targets[row]] = known.own[row]
        bests = np.maximum.reduceat(exact, starts[:-1])
        own = bests[rivals == target]
        ranks[row] += ((bests > own) | ((bests == own) & (rivals < target))).sum()
    return np.asarray(ranks, np.int64)
