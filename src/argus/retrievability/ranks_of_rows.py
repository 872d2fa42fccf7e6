"""The exact ranks for rows that are no single vectors: sparse weights, vectors of tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

from argus.data.types import IntArray
from argus.encoders.rows import Rows
from argus.encoders.scoring import scoring_of
from argus.knowledge.relations import RelationGraph
from argus.retrievability.pairs import PairRanks, pairs_in


class RowsCounter:
    """Same contract as the counters of vectors: blocked scores, near-ties decided in float64.

    Rows ask as they are in the index: t's row is the query, x's the document.
    """

    def __init__(self, rows: Rows, graph: RelationGraph) -> None:
        self.rows, self.graph = rows, graph
        self.scoring = scoring_of(rows)

    def count(self, chunk: range, candidates: np.ndarray | None) -> PairRanks:
        """Rank the related entities of the queries in `chunk` among `candidates` (None: all)."""
        rows, out = pairs_in(self.graph, chunk)
        rows_of: Any = self.rows
        queries = rows_of[chunk.start : chunk.stop]
        among = self.scoring if candidates is None else scoring_of(rows_of[candidates])
        ids = np.arange(len(self.rows)) if candidates is None else candidates.astype(np.int64)
        scores, bound = among.products(queries), self.scoring.bound(queries)
        exact = self.scoring.pairs(rows_of[out.related], rows_of[out.entity])
        out.similarity[:] = exact
        ends = np.searchsorted(rows, np.arange(len(chunk) + 1))
        for row, t in enumerate(chunk):
            pairs = slice(ends[row], ends[row + 1])
            neutral = ~np.isin(ids, np.append(out.entity[pairs], t))
            out.pool[pairs] = neutral.sum()
            above = _Above(ids[neutral], scores[row][neutral], bound)
            for i in range(pairs.start, pairs.stop):
                near = above.near(exact[i])
                tied = self.scoring.against(queries[row : row + 1], near)
                first = (tied == exact[i]) & (near < out.entity[i])
                out.above[i] = above.surely(exact[i]) + int(((tied > exact[i]) | first).sum())
        return out


class _Above:
    """Candidates in the order of their scores for one query."""

    def __init__(self, ids: IntArray, scores: np.ndarray, bound: float) -> None:
        order = np.argsort(scores, kind="stable")
        self.ids, self.scores, self.bound = ids[order], scores[order].astype(np.float64), bound

    def surely(self, score: float) -> int:
        """Return how many are above a score by more than rounding."""
        return len(self.ids) - int(np.searchsorted(self.scores, score + self.bound, "right"))

    def near(self, score: float) -> IntArray:
        """Return those within rounding of a score."""
        low = np.searchsorted(self.scores, score - self.bound)
        high = np.searchsorted(self.scores, score + self.bound, "right")
        return self.ids[low:high]
