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

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sortedcontainers import SortedList

from argus.authority.links import Link
from argus.authority.records import Record
from argus.authority.times import FOREVER, Moment

if TYPE_CHECKING:
    from argus.authority.relation import Authority
    from argus.authority.scopes import ScopeIndex

Place = tuple[int, tuple[str, ...]]
"""Number of a rule, and a value for each of its scope keys."""
Entry = tuple[Record, Moment, tuple[Place, ...] | None]
"""A superseding record, its time, and where it is superseded; None: to be looked at alone."""
CROWDED = 64
"""Buckets of more superseding records are asked for their heads; smaller ones are walked."""


class Heads:
    """The superseding records of one bucket: which may be active, and which lead out of it."""

    __slots__ = ("alone", "groups", "index", "loose", "narrow", "own", "place", "size", "wide")

    def __init__(self, index: ScopeIndex, place: Place, entries: Iterable[Entry] = ()) -> None:
        self.index, self.place = index, place
        held = list(entries)
        self.size = len(held)
        """Records when it was made; it is made anew when there are twice as many."""
        self.alone = SortedList(
            (m.start, record.id) for record, m, places in held if places is None
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
        counts = Counter(place for _, _, places in held for place in places or ())
        self._fill(held, counts)
        for other in counts:
            self._lead_to(other)

    def add(self, record: Record, moment: Moment, places: tuple[Place, ...] | None) -> None:
        """Add a record with where it is superseded; None puts it among those looked at alone.

        The buckets of the index must have it already.
        """
        if places is None:
            self.alone.add((moment.start, record.id))
            return
        chosen = self._chosen(places, {place: len(self.groups.get(place, ())) for place in places})
        self.own[record.id] = chosen, moment.start
        self.groups.get(chosen, self.loose).add((moment.end, moment.start, record.id))
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
        chosen, _ = self.own.pop(record.id)
        self.groups.get(chosen, self.loose).discard((moment.end, moment.start, record.id))
        for place in places or ():
            outlet = self._outlet(place)
            if outlet is not None:
                outlet.discard((moment.end, moment.start, record.id, place))

    def open(self, place: Place) -> None:
        """Make a place an outlet, where it is none: something supersedes there that is not here."""
        if self._outlet(place) is not None:
            return
        superseded = self.index.buckets[place].superseded
        entries = [
            (end, self.own[id_][1], id_, place) for end, id_ in superseded if id_ in self.own
        ]
        if len(superseded) > CROWDED:
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
            for end, id_ in self.index.buckets[place].superseded:
                if id_ in self.own:
                    self.narrow[1].discard((end, self.own[id_][1], id_, place))

    def latest_leading(self, place: Place, limit: int) -> int | None:
        """Return the latest start of what ends by `limit` and can be superseded in an outlet."""
        latest: int | None = None
        entries = self.wide.get(place, self.index.buckets[place].superseded)
        for entry in entries.irange(None, (limit + 1,), reverse=True):
            end, id_ = entry[0], entry[2] if place in self.wide else entry[1]
            if latest is not None and end <= latest:
                break
            if id_ in self.own:
                latest = max(self.own[id_][1], self.own[id_][1] if latest is None else latest)
        return latest

    def ahead(self, authority: Authority, least: int, read: int, theta: float) -> Iterator[str]:
        """Yield of the records that start from `least` on what may be active or leads the furthest.

        read: what may be active and starts from there on has been yielded before. The rule of the
        bucket must order by a time that has a horizon (`Authority.horizon`).
        """
        horizon = authority.horizon(self.index.rules[self.place[0]].order)
        if horizon is None:
            return
        top = min(read, horizon), ""
        for _, id_ in self.alone.irange((least, ""), top, inclusive=(True, False)):
            yield id_
        for place, group in self.groups.items():
            latest = None if place is None else latest_start(authority, place, theta)
            low = least if latest is None else max(least, latest + 1)
            for _, start, id_ in group.irange((low,), (horizon, FOREVER)):
                if least <= start < read:
                    yield id_
        for end, start, id_ in self.loose.irange((least,), (horizon, FOREVER)):
            place = self.own[id_][0]
            if least <= start < read:
                latest = None if place is None else latest_start(authority, place, theta)
                if latest is None or end > latest:
                    yield id_
        yield from self._leading(authority, least, horizon, theta)

    def _leading(
        self, authority: Authority, least: int, horizon: int, theta: float
    ) -> Iterator[str]:
        """Yield, per outlet, what leads there the furthest."""
        for outlet in (self.narrow[1], *self.wide.values()):
            seen: set[Place] = set()
            for end, start, id_, place in outlet.irange((least,), (horizon, FOREVER)):
                if start < least or place in seen:
                    continue
                seen.add(place)
                latest = latest_start(authority, place, theta)
                if latest is not None and end <= latest:
                    yield id_
                if outlet is not self.narrow[1]:
                    break

    def _fill(self, held: list[Entry], counts: Counter[Place]) -> None:
        loose, groups = [], dict[Place | None, list[tuple[int, int, str]]]()
        for record, moment, places in held:
            if places is None:
                continue
            chosen = self._chosen(places, counts)
            self.own[record.id] = chosen, moment.start
            groups.setdefault(chosen, []).append((moment.end, moment.start, record.id))
        for place, group in groups.items():
            if len(group) > CROWDED:
                self.groups[place] = SortedList(group)
            else:
                loose += group
        self.loose.update(loose)

    def _chosen(self, places: tuple[Place, ...], counts: dict[Place, int]) -> Place | None:
        """Return the place that most share, of those the surest; None of none."""
        rules = self.index.rules
        return max(places, key=lambda p: (counts[p], rules[p[0]].confidence), default=None)

    def _outlet(self, place: Place) -> SortedList | None:
        return self.narrow[1] if place in self.narrow[0] else self.wide.get(place)

    def _lead_to(self, place: Place) -> None:
        """Take note, once, that records of this bucket can be superseded in a place."""
        feeders = self.index.buckets[place].feeders
        if feeders.get(self.place) is not self:
            feeders[self.place] = self
            if self._escapes(place):
                self.open(place)

    def _escapes(self, place: Place) -> bool:
        """Return whether something supersedes in a place that is not here."""
        if place == self.place:
            return False
        here = self.index.buckets[self.place].superseding
        return any(entry not in here for entry in self.index.buckets[place].superseding)


def latest_start(authority: Authority, place: Place, theta: float) -> int | None:
    """Return the latest start of what supersedes in a place and is in force; None of nothing.

    The rule must order by a time that has a horizon. Rules of less confidence than theta are none.
    """
    bucket, rule = authority.index.buckets.get(place), authority.rules[place[0]]
    if bucket is None or rule.confidence < theta:
        return None
    if not authority.is_view:
        return bucket.latest
    top = authority.horizon(rule.order), ""
    for start, id_ in bucket.superseding.irange(None, top, inclusive=(True, False), reverse=True):
        if authority.in_force(id_):
            return int(start)
    return None


def heads_of(
    authority: Authority,
    ids: Iterable[str],
    theta: float = 0.0,
    covered: dict[Place, int] | None = None,
) -> dict[str, Link | None]:
    """Return a part of `Authority.reach` that holds all of it that is active, as it does.

    Chains in it are as short as those of all, and whatever supersedes a record of the closure
    supersedes one of this part directly, or is in it. theta: edges of less confidence are none.
    covered: filled with the least end of this part per place where it can be superseded. Raises
    InputError for an unknown id.
    """
    found: dict[str, Link | None] = dict.fromkeys(filter(authority.in_force, ids))
    covered = {} if covered is None else covered
    queue = deque(found)
    while queue:
        for link in _ahead(authority, queue.popleft(), covered, theta):
            authority.calls.edges += 1
            if link.superseder not in found:
                found[link.superseder] = link
                queue.append(link.superseder)
    return found


def _ahead(
    authority: Authority, id_: str, covered: dict[Place, int], theta: float
) -> Iterator[Link]:
    record, index = authority.record(id_), authority.index
    authority.calls.lookups += 1
    for place, moment in index.superseded_places(record):
        bucket, read, number = index.buckets.get(place), covered.get(place, FOREVER), place[0]
        rule = index.rules[number]
        if bucket is None or rule.confidence < theta or read <= moment.end:
            continue
        covered[place] = moment.end
        horizon = authority.horizon(rule.order)
        if horizon is not None and len(bucket.superseding) > CROWDED:
            heads = index.heads(place, authority.records, authority.edges)
            newer = heads.ahead(authority, moment.end, read, theta)
        else:
            newer = bucket.newer(moment, (min(read, horizon or FOREVER), ""))
        for superseder in filter(authority.in_force, newer):
            yield Link(id_, superseder, rule.name, rule.relation, rule.confidence, number)
    for edge in authority.edges.get(id_, ()):
        if edge.confidence >= theta and authority.in_force(edge.superseder):
            yield Link(id_, edge.superseder, edge.rule, edge.relation, edge.confidence)
