"""The second reading of a store: what an exact search would have brought back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.progress import progress
from argus.reach.asked import AskedRecords, whole_rows
from argus.reach.similarity import own_scores, similarities, tolerances
from argus.reach.survey import matches
from argus.stores.protocol import Filter, Store, StoreFacts

READ = 2_000
"""Records that are compared at once."""


@dataclass
class ExactRanks:
    """How records stand among all others, asked for by their own vectors; arrays are (n,)."""

    higher: IntArray
    """Records that score higher than the record itself."""
    equal: IntArray
    """Records that score the same, itself among them; 0: it was not there any more."""
    recall: npt.NDArray[np.float64]
    """Of its list, the share that an exact search brings back; ties count as brought back."""


def exact_ranks(
    store: Store,
    facts: StoreFacts,
    asked: AskedRecords,
    k: int,
    longest: float,
    matching: Filter | None = None,
) -> ExactRanks:
    """Compare every record with those asked for, in constant memory.

    longest: the norm of the longest record.
    """
    queries = asked.matrix
    own = own_scores(queries, facts.metric).astype(np.float64)
    near = tolerances(queries, longest, facts.metric)
    higher, equal = np.zeros(len(own), np.int64), np.zeros(len(own), np.int64)
    best = np.full((len(own), k), -np.inf, np.float32)
    lists = _Lists(asked.hits)
    n = 0
    with progress("comparing exactly", facts.records) as advance:
        for records in store.iterate(READ):
            rows, _ = whole_rows(records)
            if matching:
                rows = [row for row in rows if matches(records.payloads[row], matching)]
            if rows:
                scores = similarities(queries, records.vectors[rows], facts.metric)
                higher += (scores > (own + near)[:, None]).sum(axis=1)
                equal += (np.abs(scores - own[:, None]) <= near[:, None]).sum(axis=1)
                best = _best(best, scores)
                lists.note([records.ids[row] for row in rows], scores)
                n += len(rows)
            advance(len(records.ids))
    return ExactRanks(higher, equal, lists.recall(best, near, min(k, n)))


class _Lists:
    """The scores of what came back, found as the records go by."""

    def __init__(self, hits: list[list[str]]) -> None:
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._scores = [np.full(len(ids), -np.inf) for ids in hits]
        for query, ids in enumerate(hits):
            for place, id_ in enumerate(ids):
                self._places[id_].append((query, place))

    def note(self, ids: list[str], scores: FloatArray) -> None:
        """Note the scores of those records that came back for any query."""
        for column, id_ in enumerate(ids):
            for query, place in self._places.get(id_, ()):
                self._scores[query][place] = scores[query, column]

    def recall(
        self, best: FloatArray, near: npt.NDArray[np.float64], k: int
    ) -> npt.NDArray[np.float64]:
        """Return the share of the k best that each list holds; best: scores, highest first."""
        worst = best[:, k - 1].astype(float) - near
        found = [(scores >= w).sum() for scores, w in zip(self._scores, worst, strict=True)]
        return np.minimum(np.array(found, float) / k, 1)


def _best(best: FloatArray, scores: FloatArray) -> FloatArray:
    """Return the highest scores of both, highest first, as many as before."""
    both = np.concatenate([best, scores], axis=1)
    k = best.shape[1]
    top = np.partition(both, both.shape[1] - k, axis=1)[:, -k:]
    return np.asarray(-np.sort(-top, axis=1), np.float32)
