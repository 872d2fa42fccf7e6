"""The second reading of a store: what an exact search would have brought back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.progress import progress
from argus.reach.self_queries import SelfQueries
from argus.reach.similarity import Doubles, Scorer
from argus.stores.filters import shown_rows
from argus.stores.protocol import Filter, Store, StoreFacts
from argus.stores.vectors import whole_rows

READ = TOGETHER = 2_000
"""Records, and queries, that are compared at once."""


@dataclass(frozen=True)
class ExactRanks:
    """How records stand among all others, asked for by their own vectors; arrays are (n,)."""

    higher: IntArray
    """Records that score higher than the record itself."""
    tied: IntArray
    """Records that score as it does, itself among them: a store that reckons in float32 cannot
    tell them apart. 0: it was not there any more."""
    recall: npt.NDArray[np.float64]
    """Of its list, the share that an exact search brings back; ties count as brought back."""


def exact_ranks(
    store: Store, facts: StoreFacts, queries: SelfQueries, k: int, matching: Filter | None = None
) -> ExactRanks:
    """Compare every record with every query, in constant memory."""
    blocks = [
        _Block(queries, slice(start, start + TOGETHER), facts, k)
        for start in range(0, len(queries), TOGETHER)
    ]
    n = 0
    with progress("comparing exactly", facts.records) as advance:
        for records in store.iterate(READ):
            rows, _ = whole_rows(records, shown_rows(records, matching))
            if rows:
                ids = [records.ids[row] for row in rows]
                for block in blocks:
                    block.compare(ids, *block.scorer.scores(records.vectors[rows]))
            n += len(rows)
            advance(len(records.ids))
    return ExactRanks(
        np.concatenate([block.higher for block in blocks]),
        np.concatenate([block.tied for block in blocks]),
        np.concatenate([block.recall(min(k, n)) for block in blocks]),
    )


class _Block:
    """Some queries, and what they met so far."""

    def __init__(self, queries: SelfQueries, part: slice, facts: StoreFacts, k: int) -> None:
        vectors, hits = np.stack(queries.vectors[part]), queries.hits[part]
        self.scorer = Scorer(vectors, facts.metric)
        self.higher = np.zeros(len(vectors), np.int64)
        self.tied = np.zeros(len(vectors), np.int64)
        self._best = np.full((len(vectors), k), -np.inf)
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for query, ids in enumerate(hits):
            for place, id_ in enumerate(ids):
                self._places[id_].append((query, place))
        self._most = [np.full(len(ids), -np.inf) for ids in hits]
        """What each result may have scored, at most."""

    def compare(self, ids: list[str], scores: Doubles, near: Doubles) -> None:
        """Note how these records score; near: by how much a score may be another."""
        gap = scores - self.scorer.own[:, None]
        self.higher += (gap > near).sum(axis=1)
        self.tied += (np.abs(gap) <= near).sum(axis=1)
        both = np.concatenate([self._best, scores], axis=1)
        k = self._best.shape[1]
        self._best = np.partition(both, both.shape[1] - k, axis=1)[:, -k:]
        for column, id_ in enumerate(ids):
            for query, place in self._places.get(id_, ()):
                self._most[query][place] = scores[query, column] + near[query, column]

    def recall(self, k: int) -> npt.NDArray[np.float64]:
        """Return the share of the k best that each list holds."""
        if not k:
            return np.zeros(len(self._most))
        worst = np.sort(self._best, axis=1)[:, -k]
        right = [(most >= w).sum() for most, w in zip(self._most, worst, strict=True)]
        return np.minimum(np.array(right, float) / k, 1)
