"""What controls a record of a crowded scope, without a walk through all of it.

A closure in a scope of a million records may hold them all, yet few of them are active, and few
lead anywhere else. Of the records of one bucket from some time on

* those may be active that end after the latest start of a place where they can be superseded. One
  such place per record is enough to find them: the one that most records of the bucket share;
* of those that lead to one other place, the one that ends first leads wherever any of them leads.
  A place whose superseding records are all in this bucket need not be followed: whatever is newer
  there is newer here. The other places are the outlets of the bucket.

Records with explicit edges, or that another time orders elsewhere, are looked at one by one. At an
earlier time the same holds of what ends by then, as long as rules order by the time in question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sortedcontainers import SortedList

from argus.authority.as_of import AsOf
from argus.authority.places import LAST, Entry, Place, is_crowded
from argus.authority.records import Record
from argus.authority.rules import Rule
from argus.authority.times import FOREVER, Moment


class Bucket:
    """One rule in one scope: who may supersede there, and who may be superseded, by time."""

    __slots__ = ("feeders", "heads", "superseded", "superseding")

    def __init__(
        self,
        superseding: Iterable[tuple[int, str]] = (),
        superseded: Iterable[tuple[int, str]] = (),
    ) -> None:
        self.superseding = SortedList(superseding)
        """(start, id) of the records that supersede here."""
        self.superseded = SortedList(superseded)
        """(end, id) of those that can be superseded here."""
        self.heads: Heads | None = None
        """Made when a crowded bucket is first asked for its heads, and kept up to date then."""
        self.feeders: dict[Place, Heads] = {}
        """Heads of buckets with superseding records that can be superseded here, by bucket."""

    @property
    def latest(self) -> int | None:
        """The latest start of what supersedes here: what ends by then is superseded."""
        return self.superseding[-1][0] if self.superseding else None

    def newer(self, moment: Moment, below: tuple[int, str] | None = None) -> Iterator[str]:
        """Yield what supersedes a record of that time, earliest first, up to `below` exclusive."""
        later = self.superseding.irange((moment.end, ""), below, inclusive=(True, False))
        return (id_ for _, id_ in later)

    def older(self, moment: Moment, above: int | None = None) -> Iterator[str]:
        """Yield what a record of that time supersedes; only what ends after `above`, if given."""
        least = None if above is None else (above, LAST)
        earlier = self.superseded.irange(least, (moment.start, LAST))
        return (id_ for _, id_ in earlier)


class Heads:
    """The superseding records of one bucket: which may be active, and which lead out of it.

    buckets, rules: of the index, which keeps the buckets up to date.
    """

    __slots__ = (
        "alone", "buckets", "groups", "loose", "narrow", "own", "place", "rules", "size", "wide",
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
        self.size = len(members)
        """Records when it was made; it is made anew when there are twice as many."""
        self.alone = SortedList(
            (m.start, record.id) for record, m, places in members if places is None
        )
        """(start, id) of those that are looked at one by one."""
        self.own: dict[str, tuple[Place | None, int]] = {}
        """Of the others: the place that decides first whether one is active, and its start."""
        self.loose: SortedList = SortedList()
        """(end, start, id) of those that share this place with few."""
        self.groups: dict[Place | None, SortedList] = {}
        """(end, start, id) of those that share it with many, by place."""
        self.narrow: tuple[set[Place], SortedList] = set(), SortedList()
        """Outlets to which few lead, and (end, start, id, place) of all who do."""
        self.wide: dict[Place, SortedList] = {}
        """Outlets to which many may lead, and (end, start, id, place) of those who do."""
        counts = Counter(place for _, _, places in members for place in places or ())
        self._fill(members, counts)
        for other in counts:
            self._lead_to(other)

    def add(self, record: Record, moment: Moment, places: tuple[Place, ...] | None) -> None:
        """Add a record with where it is superseded; None puts it among those looked at alone.

        The buckets must have it already.
        """
        if places is None:
            self.alone.add((moment.start, record.id))
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
        self.alone.discard((moment.start, record.id))
        if record.id not in self.own:
            return
        common, _ = self.own.pop(record.id)
        self.groups.get(common, self.loose).discard((moment.end, moment.start, record.id))
        for place in places or ():
            outlet = self._outlet(place)
            if outlet is not None:
                outlet.discard((moment.end, moment.start, record.id, place))

    def open(self, place: Place) -> None:
        """Make a place an outlet, where it is none: something supersedes there that is not here."""
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

    def close(self, place: Place) -> None:
        """Make a place no outlet any more, if nothing supersedes there that is not here."""
        if self._outlet(place) is None or self._escapes(place):
            return
        self.wide.pop(place, None)
        if place in self.narrow[0]:
            self.narrow[0].discard(place)
            for end, id_ in self.buckets[place].superseded:
                if id_ in self.own:
                    self.narrow[1].discard((end, self.own[id_][1], id_, place))

    def latest_leading(self, place: Place, limit: int) -> int | None:
        """Return the latest start of what ends by `limit` and can be superseded in an outlet."""
        latest: int | None = None
        entries = self.wide.get(place, self.buckets[place].superseded)
        for entry in entries.irange(None, (limit + 1,), reverse=True):
            end, id_ = entry[0], entry[2] if place in self.wide else entry[1]
            if latest is not None and end <= latest:
                break
            if id_ in self.own:
                latest = max(self.own[id_][1], self.own[id_][1] if latest is None else latest)
        return latest

    def ahead(self, as_of: AsOf, least: int, read: int, theta: float) -> Iterator[str]:
        """Yield of the records that start from `least` on what may be active or leads the furthest.

        read: what may be active and starts from there on has been yielded before. The rule of the
        bucket must order by a time that has a horizon (`AsOf.horizon`). theta: rules of less
        confidence are none.
        """
        horizon = as_of.horizon(self.rules[self.place[0]].order)
        if horizon is None:
            return
        top = min(read, horizon), ""
        for _, id_ in self.alone.irange((least, ""), top, inclusive=(True, False)):
            yield id_
        for place, group in self.groups.items():
            latest = None if place is None else self._latest_start(place, as_of, theta)
            low = least if latest is None else max(least, latest + 1)
            for _, start, id_ in group.irange((low,), (horizon, FOREVER)):
                if least <= start < read:
                    yield id_
        for end, start, id_ in self.loose.irange((least,), (horizon, FOREVER)):
            place = self.own[id_][0]
            if least <= start < read:
                latest = None if place is None else self._latest_start(place, as_of, theta)
                if latest is None or end > latest:
                    yield id_
        yield from self._leading(as_of, least, horizon, theta)

    def _leading(self, as_of: AsOf, least: int, horizon: int, theta: float) -> Iterator[str]:
        """Yield, per outlet, what leads there the furthest."""
        for outlet in (self.narrow[1], *self.wide.values()):
            seen: set[Place] = set()
            for end, start, id_, place in outlet.irange((least,), (horizon, FOREVER)):
                if start < least or place in seen:
                    continue
                seen.add(place)
                latest = self._latest_start(place, as_of, theta)
                if latest is not None and end <= latest:
                    yield id_
                if outlet is not self.narrow[1]:
                    break

    def _latest_start(self, place: Place, as_of: AsOf, theta: float) -> int | None:
        """Return the latest start of what supersedes in a place and is in force; None of nothing.

        The rule must order by a time that has a horizon.
        """
        bucket, rule = self.buckets.get(place), self.rules[place[0]]
        if bucket is None or rule.confidence < theta:
            return None
        if not as_of.is_earlier:
            return bucket.latest
        top = as_of.horizon(rule.order), ""
        earlier = bucket.superseding.irange(None, top, inclusive=(True, False), reverse=True)
        return next((int(start) for start, id_ in earlier if as_of.in_force(id_)), None)

    def _fill(self, members: list[Entry], counts: Counter[Place]) -> None:
        loose, groups = [], dict[Place | None, list[tuple[int, int, str]]]()
        for record, moment, places in members:
            if places is None:
                continue
            common = self._most_common(places, counts)
            self.own[record.id] = common, moment.start
            groups.setdefault(common, []).append((moment.end, moment.start, record.id))
        for place, group in groups.items():
            if is_crowded(len(group)):
                self.groups[place] = SortedList(group)
            else:
                loose += group
        self.loose.update(loose)

    def _most_common(self, places: tuple[Place, ...], counts: dict[Place, int]) -> Place | None:
        """Return the place that most share, of those the surest; None of none."""
        rules = self.rules
        return max(places, key=lambda p: (counts[p], rules[p[0]].confidence), default=None)

    def _outlet(self, place: Place) -> SortedList | None:
        return self.narrow[1] if place in self.narrow[0] else self.wide.get(place)

    def _lead_to(self, place: Place) -> None:
        """Take note, once, that records of this bucket can be superseded in a place."""
        feeders = self.buckets[place].feeders
        if feeders.get(self.place) is not self:
            feeders[self.place] = self
            if self._escapes(place):
                self.open(place)

    def _escapes(self, place: Place) -> bool:
        """Return whether something supersedes in a place that is not here."""
        if place == self.place:
            return False
        here = self.buckets[self.place].superseding
        return any(entry not in here for entry in self.buckets[place].superseding)
