"""The scope index: per rule and scope, who may supersede and who may be superseded, by time.

What supersedes a record under a rule are the records of one scope from some time on, a suffix of a
sorted list. So no pair is ever stored: a scope of n records takes n entries, not n squared, and
insertions and deletions cost a search in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from argus.authority.heads import Bucket, Heads
from argus.authority.places import Entry, Place, is_crowded
from argus.authority.records import Record
from argus.authority.rules import Rule
from argus.authority.times import Moment


@dataclass
class Coverage:
    """What one rule finds in the records."""

    superseding: int = 0
    superseded: int = 0
    no_scope: list[str] = field(default_factory=list)
    """Records of its types without one of its scope keys: it cannot apply to them."""
    no_time: list[str] = field(default_factory=list)
    """Records of its types without the time that it orders by: likewise."""


class ScopeIndex:
    """Buckets of all rules, kept up to date by `add` and `remove`."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.buckets: dict[Place, Bucket] = {}
        self._has_heads = False
        self._roles: dict[str, list[tuple[int, Rule, bool, bool]]] = defaultdict(list)
        for number, rule in enumerate(self.rules):
            for type_ in dict.fromkeys((*rule.superseding, *rule.superseded)):
                role = number, rule, type_ in rule.superseding, type_ in rule.superseded
                self._roles[type_].append(role)

    def fill(self, records: Iterable[Record]) -> None:
        """Add many records to an empty index at once: every bucket is sorted once."""
        lists: dict[Place, tuple[list[tuple[int, str]], list[tuple[int, str]]]] = {}
        for record in records:
            for place, moment in self.superseding_places(record):
                lists.setdefault(place, ([], []))[0].append((moment.start, record.id))
            for place, moment in self.superseded_places(record):
                lists.setdefault(place, ([], []))[1].append((moment.end, record.id))
        for place in list(lists):
            self.buckets[place] = Bucket(*lists.pop(place))

    def add(self, record: Record) -> None:
        """Put one record where it may supersede or be superseded; InputError for too many."""
        superseding = list(self.superseding_places(record))
        superseded = list(self.superseded_places(record))
        for place, moment in superseding:
            self._bucket(place).superseding.add((moment.start, record.id))
        for place, moment in superseded:
            self._bucket(place).superseded.add((moment.end, record.id))
        if not self._has_heads:
            return
        here = {place for place, _ in superseding}
        for place, moment in superseding:
            heads = self.buckets[place].heads
            if heads is not None:
                heads.add(record, moment, self._leads_to(record, place))
        for place in here:
            for feeder in self.feeding(place):
                if feeder.place not in here:
                    feeder.open(place)

    def remove(self, record: Record) -> None:
        """Take one record out again; it must be as it was added."""
        superseding = list(self.superseding_places(record))
        for place, moment in superseding:
            bucket = self.buckets[place]
            bucket.superseding.remove((moment.start, record.id))
            if bucket.heads is not None:
                bucket.heads.remove(record, moment, self._leads_to(record, place))
        for place, moment in self.superseded_places(record):
            self.buckets[place].superseded.remove((moment.end, record.id))
        for place, _ in superseding:
            if not is_crowded(len(self.buckets[place].superseding)):  # else it stays one, at a cost
                for feeder in self.feeding(place):
                    feeder.close(place)
        for place in {place for place, _ in (*superseding, *self.superseded_places(record))}:
            self._drop_if_empty(place)

    def heads(self, place: Place, records: Mapping[str, Record], pinned: Container[str]) -> Heads:
        """Return the heads of a bucket; those in `pinned` are superseded by explicit edges."""
        bucket = self.buckets[place]
        if bucket.heads is None or len(bucket.superseding) > 2 * bucket.heads.size:
            members = (records[id_] for _, id_ in bucket.superseding)
            entries = self._head_entries(place, members, pinned)
            bucket.heads = Heads(self.buckets, self.rules, place, entries)
            self._has_heads = True
        return bucket.heads

    def feeding(self, place: Place) -> list[Heads]:
        """Return the heads whose records can be superseded in a place."""
        return [
            heads
            for feeder, heads in self.buckets[place].feeders.items()
            if feeder in self.buckets and self.buckets[feeder].heads is heads
        ]

    def _head_entries(
        self, place: Place, members: Iterable[Record], pinned: Container[str]
    ) -> Iterator[Entry]:
        for record in members:
            moment = self.rules[place[0]].moment(record)
            if moment is not None:  # as it is for what is in a bucket
                yield record, moment, None if record.id in pinned else self._leads_to(record, place)

    def pin(self, record: Record) -> None:
        """Take note that an explicit edge supersedes a record."""
        if not self._has_heads:
            return
        for place, moment in self.superseding_places(record):
            heads = self.buckets[place].heads
            if heads is not None:
                heads.remove(record, moment, self._leads_to(record, place))
                heads.add(record, moment, None)

    def _leads_to(self, record: Record, place: Place) -> tuple[Place, ...] | None:
        """Return where a record is superseded, or None where another time than here decides it."""
        order = self.rules[place[0]].order
        places = tuple(place for place, _ in self.superseded_places(record))
        return places if all(self.rules[i].order is order for i, _ in places) else None

    def superseding_places(self, record: Record) -> Iterator[tuple[Place, Moment]]:
        """Yield where a record supersedes others, and its time there."""
        for number, rule, supersedes, _ in self._roles.get(record.type, ()):
            if supersedes and rule.can_supersede(record):
                moment = rule.moment(record)
                if moment is not None:
                    for scope in dict.fromkeys(rule.superseding_scopes(record)):
                        yield (number, scope), moment

    def superseded_places(self, record: Record) -> Iterator[tuple[Place, Moment]]:
        """Yield where a record can be superseded, and its time there."""
        for number, rule, _, is_superseded in self._roles.get(record.type, ()):
            if is_superseded and rule.can_be_superseded(record):
                moment = rule.moment(record)
                if moment is not None:
                    for scope in dict.fromkeys(rule.superseded_scopes(record)):
                        yield (number, scope), moment

    def coverage(self, records: Iterable[Record]) -> list[Coverage]:
        """Say per rule what takes part in it, and what cannot, and why."""
        coverage = [Coverage() for _ in self.rules]
        for record in records:
            for number, rule, supersedes, is_superseded in self._roles.get(record.type, ()):
                self._cover(coverage[number], rule, record, supersedes, is_superseded)
        return coverage

    @staticmethod
    def _cover(
        entry: Coverage, rule: Rule, record: Record, supersedes: bool, is_superseded: bool
    ) -> None:
        newer = supersedes and rule.can_supersede(record)
        older = is_superseded and rule.can_be_superseded(record)
        if not newer and not older:
            return
        newer = newer and any(True for _ in rule.superseding_scopes(record))
        older = older and any(True for _ in rule.superseded_scopes(record))
        if not newer and not older:
            entry.no_scope.append(record.id)
        elif rule.moment(record) is None:
            entry.no_time.append(record.id)
        else:
            entry.superseding += newer
            entry.superseded += older

    def _bucket(self, place: Place) -> Bucket:
        bucket = self.buckets.get(place)
        if bucket is None:
            bucket = self.buckets[place] = Bucket()
        return bucket

    def _drop_if_empty(self, place: Place) -> None:
        bucket = self.buckets[place]
        if not bucket.superseding and not bucket.superseded:
            del self.buckets[place]
