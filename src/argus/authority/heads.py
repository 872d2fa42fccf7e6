"""What controls a record of a crowded scope, without a walk through all of it.

A closure in a scope of a million records may hold them all, yet few of them are active. Records of
one bucket that can be superseded in the same places, by the same time, differ in their times alone:
the one that ends first leads wherever any of them leads, and active are only those that end after
the latest start in every place. So these are all that has to be looked at. Records with explicit
edges, or that another time orders elsewhere, are looked at one by one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sortedcontainers import SortedList

from argus.authority.records import Record
from argus.authority.times import Moment

if TYPE_CHECKING:
    from argus.authority.relation import Authority, Link
    from argus.authority.scopes import ScopeIndex

Place = tuple[int, tuple[str, ...]]
"""Number of a rule, and a value for each of its scope keys."""
CROWDED = 64
"""Buckets of more superseding records are asked for their heads; smaller ones are walked."""


class Heads:
    """The superseding records of one bucket, in groups that are superseded in the same places."""

    __slots__ = ("alone", "groups")

    def __init__(
        self, entries: Iterable[tuple[Record, Moment, tuple[Place, ...] | None]] = ()
    ) -> None:
        alone, groups = [], dict[tuple[Place, ...], list[tuple[int, int, str]]]()
        for record, moment, places in entries:
            if places is None:
                alone.append((moment.start, record.id))
            else:
                entry = moment.end, moment.start, record.id
                groups.setdefault(places, []).append(entry)
        self.groups = {places: SortedList(group) for places, group in groups.items()}
        """(end, start, id) by the places."""
        self.alone = SortedList(alone)
        """(start, id) of those that are looked at one by one."""

    def add(self, record: Record, moment: Moment, places: tuple[Place, ...] | None) -> None:
        """Add a record with where it is superseded; None puts it among those looked at alone."""
        if places is None:
            self.alone.add((moment.start, record.id))
            return
        group = self.groups.get(places)
        if group is None:
            group = self.groups[places] = SortedList()
        group.add((moment.end, moment.start, record.id))

    def remove(self, record: Record, moment: Moment, places: tuple[Place, ...] | None) -> None:
        """Take a record out, wherever it is."""
        self.alone.discard((moment.start, record.id))
        if places is not None and places in self.groups:
            self.groups[places].discard((moment.end, moment.start, record.id))
            if not self.groups[places]:
                del self.groups[places]

    def ahead(self, index: ScopeIndex, least: int, theta: float) -> Iterator[str]:
        """Yield of the records that start from `least` on what is active or leads the furthest."""
        for _, id_ in self.alone.irange((least, "")):
            yield id_
        for places, group in self.groups.items():
            for _, start, id_ in group.irange((least,)):
                if start >= least:
                    yield id_
                    break
            active_from = _active_from(index, places, theta)
            for _, start, id_ in group.irange((least if active_from is None else active_from,)):
                if start >= least:
                    yield id_


def heads_of(
    authority: Authority, ids: Iterable[str], theta: float = 0.0
) -> dict[str, Link | None]:
    """Return a part of `Authority.reach` that holds all of it that is active, as it does.

    Chains in it are as short as those of all. theta: edges of less confidence are none. Raises
    InputError for an unknown id.
    """
    found: dict[str, Link | None] = dict.fromkeys(ids)
    covered: dict[Place, int] = {}
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
    from argus.authority.relation import Link

    record, index = authority.record(id_), authority.index
    authority.calls.lookups += 1
    for place, moment in index.superseded_places(record):
        bucket, read, rule = index.buckets.get(place), covered.get(place), index.rules[place[0]]
        if bucket is None or rule.confidence < theta or (read is not None and read <= moment.end):
            continue
        covered[place] = moment.end
        if len(bucket.superseding) > CROWDED:
            heads = index.heads(place, authority.records, authority.edges)
            newer = heads.ahead(index, moment.end, theta)
        else:
            newer = bucket.newer(moment, None if read is None else (read, ""))
        for superseder in newer:
            yield Link(id_, superseder, rule.name, rule.relation, rule.confidence)
    for edge in authority.edges.get(id_, ()):
        if edge.confidence >= theta:
            yield Link(id_, edge.superseder, edge.rule, edge.relation, edge.confidence)


def _active_from(index: ScopeIndex, places: tuple[Place, ...], theta: float) -> int | None:
    """Return from which end on a record that can be superseded in these places is active."""
    least: int | None = None
    for place in places:
        bucket = index.buckets.get(place)
        latest = bucket.latest if bucket is not None else None
        if latest is not None and index.rules[place[0]].confidence >= theta:
            least = latest + 1 if least is None else max(least, latest + 1)
    return least
