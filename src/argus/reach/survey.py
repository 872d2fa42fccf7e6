"""The first reading of a store: what its vectors are, and which records their own vectors find."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import FloatArray
from argus.errors import InputError
from argus.measures import wilson
from argus.progress import progress
from argus.reach.config import ReachConfig
from argus.reach.self_queries import Reservoir, SelfQueries
from argus.reach.tally import Tally
from argus.stores.filters import refuse_nothing, shown_rows
from argus.stores.protocol import Filter, Hits, Payload, Records, Store, StoreFacts
from argus.stores.vectors import whole_rows

EXPLAINED = 5_000
"""Records that do not come back of which vectors are kept, so that the cause can be sought."""
MOST_DRAWN = 50_000
"""Records that are asked for at most until an interval is narrow."""


@dataclass
class Survey:
    """What the first reading told. Counts are of records."""

    for_recall: SelfQueries
    """Some that were asked for, each with the same chance."""
    read: int = 0
    broken: dict[str, str] = field(default_factory=dict)
    """Id to why it has no vector to be found by."""
    hidden: int = 0
    """Records that the filter does not match: never asked for."""
    reachable: int = 0
    """Records that could be asked for."""
    asked: int = 0
    reached: int = 0
    first: int = 0
    """Of those reached, that came first."""
    unreached: SelfQueries = field(default_factory=SelfQueries)
    """At most EXPLAINED of them."""
    shortest: float = np.inf
    longest: float = 0.0
    """Norms of whole vectors."""
    tally: Tally = field(default_factory=Tally)
    """What was asked for by slice."""

    @property
    def width(self) -> float:
        """The width of the 95% interval of the share that is reached."""
        low, high = wilson(self.reached / self.asked, self.asked)
        return float(high - low)

    def count(self, id_: str, vector: FloatArray, hits: Hits) -> None:
        """Count one record that was asked for."""
        ids = [hit for hit, _ in hits]
        self.asked += 1
        self.reached += id_ in ids
        self.first += ids[:1] == [id_]
        if id_ not in ids and len(self.unreached) < EXPLAINED:
            self.unreached.add(id_, vector, hits)

    def note(self, records: Records, matching: Filter | None) -> list[int]:
        """Note what is hidden or broken in what was read; return the rows to ask for."""
        shown = shown_rows(records, matching)
        rows, broken = whole_rows(records, shown)
        self.read += len(records.ids)
        self.hidden += len(records.ids) - len(shown)
        self.reachable += len(rows)
        self.broken |= {records.ids[row]: why for row, why in broken.items()}
        if rows:
            norms = np.linalg.norm(records.vectors[rows].astype(np.float64), axis=1)
            self.shortest = min(self.shortest, float(norms.min()))
            self.longest = max(self.longest, float(norms.max()))
        return rows


def survey(
    store: Store, facts: StoreFacts, config: ReachConfig, matching: Filter | None = None
) -> Survey:
    """Read every record; ask for all of them, or for those that are drawn.

    Raises InputError for ids that repeat, and for a filter that shows nothing.
    """
    reservoir = Reservoir(config.recall_sample, config.seed)
    result = Survey(reservoir.kept, tally=Tally.of(config.by))
    drawn = _Drawn(config) if config.sample or config.until_width else None
    hashes = array("q")
    asking = _Asking(store, config, matching, result, reservoir)
    with progress("reading and asking", facts.records) as advance:
        for records in store.iterate(config.batch):
            hashes.extend(_hash(id_, "") for id_ in records.ids)
            if rows := result.note(records, matching):
                if drawn is None:
                    asking.ask(records, rows)
                else:
                    drawn.offer(records, rows)
            advance(len(records.ids))
    _refuse_repeated(hashes, store.name)
    if matching and result.hidden == result.read:
        raise refuse_nothing(matching, result.read)
    for records in drawn.batches(config.batch) if drawn else ():
        asking.ask(records, list(range(len(records.ids))))
        if config.until_width and result.width <= config.until_width:
            break
    return result


@dataclass(frozen=True)
class _Asking:
    store: Store
    config: ReachConfig
    matching: Filter | None
    result: Survey
    reservoir: Reservoir

    def ask(self, records: Records, rows: list[int]) -> None:
        """Ask for some rows by their own vectors."""
        vectors = records.vectors[rows]
        answers = self.store.search(vectors, self.config.k, matching=self.matching)
        for row, vector, hits in zip(rows, vectors, answers, strict=True):
            self.reservoir.offer(records.ids[row], vector, hits)
            id_ = records.ids[row]
            self.result.count(id_, vector, hits)
            self.result.tally.count(id_, records.payloads[row], any(id_ == hit for hit, _ in hits))


class _Drawn:
    """Records drawn at random, by a hash of their ids: the same whatever order they come in."""

    def __init__(self, config: ReachConfig) -> None:
        self._size = config.sample or MOST_DRAWN
        self._seed = str(config.seed)
        self._heap: list[tuple[int, str, int, FloatArray, Payload]] = []
        self._has_payload = bool(config.by)
        self._n = 0

    def offer(self, records: Records, rows: list[int]) -> None:
        """Keep the records whose hashes are lowest."""
        for row in rows:
            key = -_hash(records.ids[row], self._seed)  # the heap's first is the highest hash
            if len(self._heap) < self._size or key > self._heap[0][0]:
                self._n += 1
                payload = records.payloads[row] if self._has_payload else {}
                item = (key, records.ids[row], self._n, records.vectors[row].copy(), payload)
                full = len(self._heap) == self._size
                (heapq.heapreplace if full else heapq.heappush)(self._heap, item)

    def batches(self, size: int) -> Iterator[Records]:
        """Yield what was drawn, by hash."""
        ordered = sorted(self._heap, key=lambda item: (-item[0], item[1]))
        for start in range(0, len(ordered), size):
            part = ordered[start : start + size]
            vectors = np.stack([vector for *_, vector, _ in part])
            payloads = [payload for *_, payload in part]
            yield Records([id_ for _, id_, *_ in part], vectors, payloads)


def _hash(id_: str, seed: str) -> int:
    """Return 63 bits of an id."""
    return int.from_bytes(content_hash(seed, id_, size=8), "big") >> 1


def _refuse_repeated(hashes: array[int], name: str) -> None:
    """Refuse ids that several records share. hashes: eight bytes a record are all that is kept."""
    repeated = len(hashes) - len(np.unique(np.frombuffer(hashes, np.int64)))
    if repeated:
        raise InputError(
            f"{repeated:,} of {len(hashes):,} records have an id that another has",
            expected="one record per id: no list could tell which of them came back",
            fix="Name the column of the records' own ids with --store-id.",
            where=name,
        )
