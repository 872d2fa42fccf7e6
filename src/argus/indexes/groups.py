"""Known items in groups: chunks of one document stand in for each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.encoders.rows import Rows
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

    def fold(self, scores: FloatArray) -> FloatArray:
        """Return the best score of each group, (n_queries, n_groups). scores: (n_queries, n)."""
        ordered = scores if self._are_contiguous else scores[:, self.order]
        folded: FloatArray = np.maximum.reduceat(ordered, self.starts[:-1], axis=1)
        return folded


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
    near = np.abs(folded - best) <= bound
    near[rows, of_target] = False
    for row in np.flatnonzero(near.any(axis=1)).tolist():
        own = _best(row, int(of_target[row]), scores, known, scoring, groups)
        for group in np.flatnonzero(near[row]).tolist():
            other = _best(row, group, scores, known, scoring, groups)
            ranks[row] += other > own or (other == own and group < of_target[row])
    return np.asarray(ranks, np.int64)


def _best(
    row: int,
    group: int,
    scores: FloatArray,
    known: KnownItems,
    scoring: Scoring[Any],
    groups: Groups,
) -> float:
    """Return the exact score of a group's best row for one query."""
    members = groups.rows(group)
    members = members[np.isfinite(scores[row, members])]
    exact = scoring.against(known.queries[row : row + 1], members)
    exact[members == known.targets[row]] = known.own[row]
    return float(exact.max())
