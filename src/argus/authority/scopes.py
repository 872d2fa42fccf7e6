"""Index records by rule and scope, sorted by time, to find superseders without storing pairs.

Under a rule, the superseders of a record are those of its scope from some time on: a suffix of a
sorted list. n records take n entries, and an insertion costs one search. `relation` and `stream`
use it.

`Heads` finds the controlling records of a crowded scope without a walk through all of it. Of the
records of one bucket (one rule in one scope) from some time on:

* A record may be active if it ends after the latest start of a place where it can be superseded.
  One such place per record is enough to find them: the one that most records of the bucket share.
* Of the records that lead to one other place, the one that ends first leads wherever any of them
  leads. You need not follow a place whose superseding records are all in this bucket: whatever is
  newer there is newer here. The other places are the outlets of the bucket.

Records with explicit edges, or that another time orders elsewhere, are looked at one by one. At an
earlier time the same holds of the records that end by then, as long as rules order by that time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sortedcontainers import SortedList

from argus.authority.rules import Order, Record, Rule, find_record
from argus.authority.times import FOREVER, Moment

Place = tuple[int, tuple[str, ...]]  # number of a rule, and a value for each of its scope keys
# A superseding record, its time, and the places where it is superseded; None: look at it alone.
Entry = tuple[Record, Moment, tuple[Place, ...] | None]
CROWDED = 64  # buckets of more superseding records have heads; smaller ones are walked
LAST = "\U0010ffff"  # sorts behind every id


def is_crowded(n: int) -> bool:
    """Return True if so many records in one place are a crowd."""
    return n > CROWDED


@dataclass(frozen=True, slots=True, eq=False)
class AsOf:
    """A time at which records are in force. Without limits it is now, and all are.

    effective: only records that had certainly taken effect by then. known: only records that had
    certainly been published by then.
    """

    records: Mapping[str, Record]
    effective: Moment | None = None
    known: Moment | None = None

    @property
    def is_earlier(self) -> bool:
        """True if this is an earlier time than now."""
        return self.effective is not None or self.known is not None

    def in_force(self, id_: str) -> bool:
        """Return whether a record had taken effect, and was known, at this time."""
        if self.effective is None and self.known is None:
            return True
        record = find_record(self.records, id_)
        effective = record.time or record.published
        return all(
            moment is None or limit is None or moment.end <= limit.end
            for moment, limit in ((effective, self.effective), (record.known, self.known))
        )

    def horizon(self, order: Order) -> int | None:
        """Return the end by which records in force lie. None if another time decides."""
        if not self.is_earlier:
            return FOREVER
        if order is Order.EFFECTIVE and self.effective is not None and self.known is None:
            return self.effective.end
        if order is Order.PUBLISHED and self.known is not None and self.effective is None:
            return self.known.end
        return None


class Bucket:
    """One rule in one scope: the records that may supersede there or be superseded, by time."""

    __slots__ = ("feeders", "heads", "superseded", "superseding")

    def __init__(
        self,
        superseding: Iterable[tuple[int, str]] = (),
        superseded: Iterable[tuple[int, str]] = (),
    ) -> None:
        self.superseding = SortedList(superseding)  # (start, id) of the records that supersede here
        self.superseded = SortedList(superseded)  # (end, id) of those that can be superseded here
        # Made when a crowded bucket is first asked for its heads, and kept up to date then.
        self.heads: Heads | None = None
        # Heads of buckets with superseding records that can be superseded here, by bucket.
        self.feeders: dict[Place, Heads] = {}

    @property
    def latest(self) -> int | None:
        """Latest start of a superseding record. Records that end by then are superseded."""
        return self.superseding[-1][0] if self.superseding else None

    def newer(self, moment: Moment, below: tuple[int, str] | None = None) -> Iterator[str]:
        """Yield the records that supersede one of that time, earliest first, before `below`."""
        later = self.superseding.irange((moment.end, ""), below, inclusive=(True, False))
        return (id_ for _, id_ in later)

    def older(self, moment: Moment, above: int | None = None) -> Iterator[str]:
        """Yield the records that one of that time supersedes, of those that end after `above`."""
        least = None if above is None else (above, LAST)
        earlier = self.superseded.irange(least, (moment.start, LAST))
        return (id_ for _, id_ in earlier)


class Heads:
    """The superseding records of one bucket: those that may be active, and those that lead out.

    buckets, rules: of the index, which keeps the buckets up to date.
    """

    __slots__ = (
        "buckets", "groups", "loose", "narrow", "own", "place", "rules", "singles", "size", "wide",
    )  # fmt: skip

    def __init__(
        self,
        buckets: Mapping[Place, Bucket],
        rules: Sequence[Rule],
        place: Place,
        entries: Iterable[Entry] = (),
    ) -> None:
        self.buckets, self.rules, self.place = buckets, rules, place
        members = list(entries)
        # Records when it was made; it is made anew when there are twice as many.
        self.size = len(members)
        # (start, id) of those that are looked at one by one.
        self.singles = SortedList(
            (m.start, record.id) for record, m, places in members if places is None
        )
        # Of the others: the place that decides first whether one is active, and its start.
        self.own: dict[str, tuple[Place | None, int]] = {}
        # (end, start, id) of those that share this place with few.
        self.loose: SortedList = SortedList()
        # Outlets to which few lead, and (end, start, id, place) of all who do.
        self.narrow: tuple[set[Place], SortedList] = set(), SortedList()
        # Outlets to which many may lead, and (end, start, id, place) of those who do.
        self.wide: dict[Place, SortedList] = {}
        counts = Counter(place for _, _, places in members for place in places or ())
        groups: dict[Place | None, list[tuple[int, int, str]]] = defaultdict(list)
        for record, moment, places in members:
            if places is not None:
                common = self._most_common(places, counts)
                self.own[record.id] = common, moment.start
                groups[common].append((moment.end, moment.start, record.id))
        # (end, start, id) of those that share it with many, by place.
        self.groups = {c: SortedList(g) for c, g in groups.items() if is_crowded(len(g))}
        self.loose.update(one for c, g in groups.items() if c not in self.groups for one in g)
        for other in counts:
            self._lead_to(other)

    def add(self, record: Record, moment: Moment, places: tuple[Place, ...] | None) -> None:
        """Add a record with where it is superseded. None puts it among those looked at alone.

        The buckets must have it already.
        """
        if places is None:
            self.singles.add((moment.start, record.id))
            return
        sizes = {place: len(self.groups.get(place, ())) for place in places}
        common = self._most_common(places, sizes)
        self.own[record.id] = common, moment.start
        self.groups.get(common, self.loose).add((moment.end, moment.start, record.id))
        for place in places:
            outlet = self._outlet(place)
            if outlet is not None:
                outlet.add((moment.end, moment.start, record.id, place))
            self._lead_to(place)

    def remove(self, record: Record, moment: Moment, places: tuple[Place, ...] | None) -> None:
        """Take a record out, wherever it is."""
        self.singles.discard((moment.start, record.id))
        if record.id not in self.own:
            return
        common, _ = self.own.pop(record.id)
        self.groups.get(common, self.loose).discard((moment.end, moment.start, record.id))
        for place in places or ():
            outlet = self._outlet(place)
            if outlet is not None:
                outlet.discard((moment.end, moment.start, record.id, place))

    def open(self, place: Place) -> None:
        """Make a place an outlet: a record supersedes there that does not supersede here.

        It stays one when that record goes: a few records more are then looked at.
        """
        if self._outlet(place) is not None:
            return
        superseded = self.buckets[place].superseded
        entries = [
            (end, self.own[id_][1], id_, place) for end, id_ in superseded if id_ in self.own
        ]
        if is_crowded(len(superseded)):
            self.wide[place] = SortedList(entries)
        else:
            self.narrow[0].add(place)
            self.narrow[1].update(entries)

    def latest_leading(self, place: Place, limit: int) -> int | None:
        """Return the latest start of records that end by `limit` and an outlet can supersede."""
        latest: int | None = None
        entries = self.wide.get(place, self.buckets[place].superseded)
        for entry in entries.irange(None, (limit + 1,), reverse=True):
            end, id_ = entry[0], entry[2] if place in self.wide else entry[1]
            if latest is not None and end <= latest:
                break
            if id_ in self.own:
                start = self.own[id_][1]
                latest = start if latest is None else max(start, latest)
        return latest

    def ahead(self, as_of: AsOf, least: int, read: int) -> Iterator[str]:
        """Yield records from start `least` on that may be active or lead the furthest.

        read: records that may be active and start from there on were yielded before. The rule of
        the bucket must order by a time that has a horizon (`AsOf.horizon`).
        """
        horizon = as_of.horizon(self.rules[self.place[0]].order)
        assert horizon is not None, "the caller asks where there is one"
        top = min(read, horizon), ""
        for _, id_ in self.singles.irange((least, ""), top, inclusive=(True, False)):
            yield id_
        for place, group in self.groups.items():
            latest = None if place is None else self._latest_start(place, as_of)
            low = least if latest is None else max(least, latest + 1)
            for _, start, id_ in group.irange((low,), (horizon, FOREVER)):
                if least <= start < read:
                    yield id_
        for end, start, id_ in self.loose.irange((least,), (horizon, FOREVER)):
            place = self.own[id_][0]
            if least <= start < read:
                latest = None if place is None else self._latest_start(place, as_of)
                if latest is None or end > latest:
                    yield id_
        yield from self._leading(as_of, least, horizon)

    def _leading(self, as_of: AsOf, least: int, horizon: int) -> Iterator[str]:
        """Yield, per outlet, the record that leads there the furthest."""
        for outlet in (self.narrow[1], *self.wide.values()):
            seen: set[Place] = set()
            for end, start, id_, place in outlet.irange((least,), (horizon, FOREVER)):
                if start < least or place in seen:
                    continue
                seen.add(place)
                latest = self._latest_start(place, as_of)
                if latest is not None and end <= latest:
                    yield id_
                if outlet is not self.narrow[1]:
                    break

    def _latest_start(self, place: Place, as_of: AsOf) -> int | None:
        """Return the latest start of a record in force that supersedes in a place, or None.

        The rule must order by a time that has a horizon.
        """
        bucket = self.buckets.get(place)
        if bucket is None:
            return None
        if not as_of.is_earlier:
            return bucket.latest
        top = as_of.horizon(self.rules[place[0]].order), ""
        earlier = bucket.superseding.irange(None, top, inclusive=(True, False), reverse=True)
        return next((int(start) for start, id_ in earlier if as_of.in_force(id_)), None)

    def _most_common(self, places: tuple[Place, ...], counts: dict[Place, int]) -> Place | None:
        """Return the place that most records share, the surest of equals. None without places."""
        rules = self.rules
        return max(places, key=lambda p: (counts[p], rules[p[0]].confidence), default=None)

    def _outlet(self, place: Place) -> SortedList | None:
        return self.narrow[1] if place in self.narrow[0] else self.wide.get(place)

    def _lead_to(self, place: Place) -> None:
        """Record, once, that records of this bucket can be superseded in a place."""
        feeders = self.buckets[place].feeders
        if feeders.get(self.place) is not self:
            feeders[self.place] = self
            if self._escapes(place):
                self.open(place)

    def _escapes(self, place: Place) -> bool:
        """Return True if a record supersedes in a place that does not supersede here."""
        if place == self.place:
            return False
        here = self.buckets[self.place].superseding
        return any(entry not in here for entry in self.buckets[place].superseding)


class ScopeIndex:
    """Buckets of all rules, kept up to date by `add` and `remove`."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.buckets: dict[Place, Bucket] = {}
        self._has_heads = False
        # Rules with their numbers, by the types that supersede under them, or are superseded.
        self._superseding: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
        self._superseded: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
        for number, rule in enumerate(self.rules):
            for type_ in dict.fromkeys(rule.superseding):
                self._superseding[type_].append((number, rule))
            for type_ in dict.fromkeys(rule.superseded):
                self._superseded[type_].append((number, rule))

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
        """Put one record where it may supersede or be superseded. Raise InputError for too many."""
        superseding = list(self.superseding_places(record))
        superseded = list(self.superseded_places(record))
        for place, moment in superseding:
            self.buckets.setdefault(place, Bucket()).superseding.add((moment.start, record.id))
        for place, moment in superseded:
            self.buckets.setdefault(place, Bucket()).superseded.add((moment.end, record.id))
        here = {place for place, _ in superseding}
        for place, moment in superseding if self._has_heads else ():
            heads = self.buckets[place].heads
            if heads is not None:
                heads.add(record, moment, self._leads_to(record, place))
            for feeder in self.feeding(place):
                if feeder.place not in here:
                    feeder.open(place)

    def remove(self, record: Record) -> None:
        """Take one record out again. It must be as it was added."""
        superseding = list(self.superseding_places(record))
        for place, moment in superseding:
            bucket = self.buckets[place]
            bucket.superseding.remove((moment.start, record.id))
            if bucket.heads is not None:
                bucket.heads.remove(record, moment, self._leads_to(record, place))
        for place, moment in self.superseded_places(record):
            self.buckets[place].superseded.remove((moment.end, record.id))
        for place in {place for place, _ in (*superseding, *self.superseded_places(record))}:
            if not self.buckets[place].superseding and not self.buckets[place].superseded:
                del self.buckets[place]

    def heads(self, place: Place, records: Mapping[str, Record], pinned: Container[str]) -> Heads:
        """Return the heads of a bucket. Those in `pinned` are superseded by explicit edges."""
        bucket = self.buckets[place]
        if bucket.heads is None or len(bucket.superseding) > 2 * bucket.heads.size:
            rule, entries = self.rules[place[0]], list[Entry]()
            for _, id_ in bucket.superseding:
                record = records[id_]
                if (moment := rule.moment(record)) is not None:  # as it is in a bucket
                    places = None if id_ in pinned else self._leads_to(record, place)
                    entries.append((record, moment, places))
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

    def pin(self, record: Record) -> None:
        """Record that an explicit edge supersedes a record."""
        for place, moment in self.superseding_places(record) if self._has_heads else ():
            heads = self.buckets[place].heads
            if heads is not None:
                heads.remove(record, moment, self._leads_to(record, place))
                heads.add(record, moment, None)

    def _leads_to(self, record: Record, place: Place) -> tuple[Place, ...] | None:
        """Return the places where a record is superseded. None if another time decides there."""
        order = self.rules[place[0]].order
        places = tuple(place for place, _ in self.superseded_places(record))
        return places if all(self.rules[i].order is order for i, _ in places) else None

    def superseding_places(self, record: Record) -> Iterator[tuple[Place, Moment]]:
        """Yield the places where a record supersedes others, and its time there."""
        for number, rule in self._superseding.get(record.type, ()):
            moment = rule.moment(record) if rule.can_supersede(record) else None
            if moment is not None:
                for scope in dict.fromkeys(rule.superseding_scopes(record)):
                    yield (number, scope), moment

    def superseded_places(self, record: Record) -> Iterator[tuple[Place, Moment]]:
        """Yield the places where a record can be superseded, and its time there."""
        for number, rule in self._superseded.get(record.type, ()):
            moment = rule.moment(record) if rule.can_be_superseded(record) else None
            if moment is not None:
                for scope in dict.fromkeys(rule.superseded_scopes(record)):
                    yield (number, scope), moment
