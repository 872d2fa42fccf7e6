"""The first reading of a store: what its vectors are, and which records their own vectors find."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import FloatArray
from argus.measures import wilson
from argus.progress import progress
from argus.reach.asked import AskedRecords, whole_rows
from argus.reach.config import ReachConfig
from argus.stores.protocol import Filter, Records, Store, StoreFacts

EXPLAINED = 5_000
"""Records that do not come back of which vectors are kept, so that the cause can be sought."""


@dataclass
class Survey:
    """What the first reading told. Counts are of records."""

    read: int = 0
    broken: dict[str, str] = field(default_factory=dict)
    """Id to why it has no vector to be found by."""
    hidden: int = 0
    """Records that the filter does not match: never asked for."""
    asked: int = 0
    reached: int = 0
    first: int = 0
    """Of those reached, that came first."""
    unreached: AskedRecords = field(default_factory=AskedRecords)
    """At most EXPLAINED of them."""
    for_recall: AskedRecords = field(default_factory=AskedRecords)
    shortest: float = np.inf
    longest: float = 0.0
    """Norms of whole vectors."""

    def count(self, id_: str, vector: FloatArray, hits: list[tuple[str, float]]) -> None:
        """Count one record that was asked for."""
        ids = [hit for hit, _ in hits]
        self.asked += 1
        self.reached += id_ in ids
        self.first += ids[:1] == [id_]
        if id_ not in ids and len(self.unreached) < EXPLAINED:
            self.unreached.add(id_, vector, hits)


def survey(
    store: Store, facts: StoreFacts, config: ReachConfig, matching: Filter | None = None
) -> Survey:
    """Read every record; ask for all of them, or for those that are drawn."""
    result = Survey()
    drawn = _Drawn(config)
    step = -(-max(facts.records, 1) // config.recall_sample)
    with progress("reading and asking", facts.records) as advance:
        for records in store.iterate(config.batch):
            for rows in _usable(records, matching, result):
                if drawn.all:
                    _ask(store, records, rows, config, matching, result, step)
                else:
                    drawn.offer(records, rows)
            advance(len(records.ids))
    for records in drawn.batches(config.batch):
        _ask(store, records, list(range(len(records.ids))), config, matching, result, 1)
        if config.until_width and _width(result) <= config.until_width:
            break
    return result


def _ask(
    store: Store,
    records: Records,
    rows: list[int],
    config: ReachConfig,
    matching: Filter | None,
    result: Survey,
    step: int,
) -> None:
    """Ask for some rows by their own vectors; every `step`th list is kept for recall."""
    vectors = records.vectors[rows]
    answers = store.search(vectors, config.k, matching=matching)
    for row, vector, hits in zip(rows, vectors, answers, strict=True):
        if result.asked % step == 0 and len(result.for_recall) < config.recall_sample:
            result.for_recall.add(records.ids[row], vector, hits)
        result.count(records.ids[row], vector, hits)


def _usable(records: Records, matching: Filter | None, result: Survey) -> Iterator[list[int]]:
    """Note what is broken or hidden; yield the rows that can be asked for, if there are any."""
    rows, broken = whole_rows(records)
    result.read += len(records.ids)
    result.broken |= {records.ids[row]: why for row, why in broken.items()}
    if matching:
        shown = [row for row in rows if matches(records.payloads[row], matching)]
        result.hidden += len(rows) - len(shown)
        rows = shown
    if rows:
        norms = np.linalg.norm(records.vectors[rows], axis=1)
        result.shortest = min(result.shortest, float(norms.min()))
        result.longest = max(result.longest, float(norms.max()))
        yield rows


def matches(payload: object, matching: Filter) -> bool:
    """Return whether a payload holds what a filter asks for."""
    return isinstance(payload, dict) and all(payload.get(k) == v for k, v in matching.items())


def _width(result: Survey) -> float:
    low, high = wilson(result.reached / result.asked, result.asked)
    return float(high - low)


class _Drawn:
    """Records drawn at random, by a hash of their ids: the same whatever order they come in."""

    def __init__(self, config: ReachConfig) -> None:
        self.all = config.sample is None and config.until_width is None
        self._size = config.sample or EXPLAINED * 4
        self._seed = str(config.seed)
        self._heap: list[tuple[int, str, FloatArray]] = []

    def offer(self, records: Records, rows: list[int]) -> None:
        """Keep the records whose hashes are lowest."""
        for row in rows:
            digest = content_hash(self._seed, records.ids[row], size=8)
            key = -int.from_bytes(digest, "big")  # the heap's first is the highest hash
            if len(self._heap) < self._size:
                heapq.heappush(self._heap, (key, records.ids[row], records.vectors[row].copy()))
            elif key > self._heap[0][0]:
                heapq.heapreplace(self._heap, (key, records.ids[row], records.vectors[row].copy()))

    def batches(self, size: int) -> Iterator[Records]:
        """Yield what was drawn, by hash."""
        ordered = sorted(self._heap, key=lambda item: -item[0])
        for start in range(0, len(ordered), size):
            part = ordered[start : start + size]
            ids = [id_ for _, id_, _ in part]
            yield Records(ids, np.stack([vector for *_, vector in part]), [{}] * len(part))


def reasons(broken: dict[str, str]) -> dict[str, int]:
    """Return how many records have no vector to be found by, for each reason."""
    return dict(Counter(broken.values()).most_common())
