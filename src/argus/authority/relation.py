"""Answer which documents are in force, and which supersede which, by rules and explicit edges.

`Authority`: records, rules, edges -> superseders of a document (`links`), all of them in any number
of steps (`closure`), and those of them in force (`controlling`; CAR Def. 1 and 3). No pair is
stored: `links` reads `scopes.ScopeIndex`, and all else is a search along links. Rules that order by
one time cannot make a cycle. Two times, orders by type or name, and edges can, so those are
checked.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from argus.algorithms import components
from argus.authority.rules import Edge, Record, Rule, find_record
from argus.authority.scopes import AsOf, Bucket, Place, ScopeIndex, is_crowded
from argus.authority.times import FOREVER, Moment, parse_moment
from argus.data.documents import listed
from argus.errors import InputError

Time = Moment | str | date | None  # a time, or a value that is read as one


@dataclass(frozen=True, slots=True)
class Link:
    """One direct supersession, and the rule or edge that makes it.

    number: number of the rule, because two may have one name. None of an explicit edge.
    """

    superseded: str
    superseder: str
    rule: str
    relation: str
    confidence: float = 1.0
    number: int | None = None


@dataclass(slots=True)
class Calls:
    """Cost of resolving (Proposition 3).

    lookups: scope lookups: records whose superseders were looked up, all rules at once.
    edges: direct supersessions that were read, each at most once per closure and scope.
    """

    lookups: int = 0
    edges: int = 0


class Authority:
    """Records under rules and explicit edges, now or at an earlier time.

    ⇝ is the transitive closure over all rules and edges. Raises InputError for two records of one
    id, an edge to an unknown record, and cycles, with the chain.
    """

    def __init__(
        self, records: Iterable[Record], rules: Sequence[Rule] = (), edges: Iterable[Edge] = ()
    ) -> None:
        self.records: dict[str, Record] = {}
        for record in records:
            if record.id in self.records:
                got, expected = f"two records have the id {record.id!r}", "one record per id"
                raise InputError(got, expected=expected, fix="Remove or rename one of the two.")
            self.records[record.id] = record
        self.index = ScopeIndex(tuple(rules))
        self.index.fill(self.records.values())
        self.edges: dict[str, list[Edge]] = {}  # Explicit edges by superseded id
        self.reverse: dict[str, list[Edge]] = {}  # Explicit edges by superseder
        for edge in dict.fromkeys(edges):
            self._put(edge)
        self.calls = Calls()
        self.at = AsOf(self.records)  # The time of this view
        if self._can_cycle():
            self._require_no_cycle(find_cyclic(self.records, self.index.buckets, self.edges))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order given."""
        return self.index.rules

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, id_: object) -> bool:
        return id_ in self.records

    def record(self, id_: str) -> Record:
        """Return a record. Raise InputError if there is none."""
        return find_record(self.records, id_)

    def edges_of(self, id_: str) -> list[Edge]:
        """Return the explicit edges of a record, in both directions."""
        return [*self.edges.get(id_, ()), *self.reverse.get(id_, ())]

    def as_of(self, effective: Time, known: Time = None) -> Authority:
        """Return the relation as it was: a view on the same records and index, not to be changed.

        effective: only records that had certainly taken effect by then count. A record that has
        only a publication takes effect with it. known: only records that had certainly been
        published by then count. None lets in all. A record without any time counts. A record that
        is not in force takes no part: it neither supersedes nor is superseded, it is in no closure
        and no frontier, and it is not active. Times are read as those of `Record.of`. Raises
        InputError for any other value.
        """
        view = copy.copy(self)
        times = (
            value if isinstance(value, Moment) else parse_moment(value, where="as_of")
            for value in (effective, known)
        )
        view.at, view.calls = AsOf(self.records, *times), Calls()
        return view

    @property
    def is_view(self) -> bool:
        """True if this is the relation at an earlier time, from `as_of`."""
        return self.at.is_earlier

    def in_force(self, id_: str) -> bool:
        """Return whether a record had taken effect, and was known, at the time of this view."""
        return self.at.in_force(id_)

    def links(self, id_: str, covered: dict[Place, int] | None = None) -> Iterator[Link]:
        """Yield the direct superseders of a record.

        covered: per bucket from where on it has been read. Records from there on are not yielded
        again, and the mark moves down. It makes a closure linear in its size. Raises InputError for
        an unknown id.
        """
        if self.at.in_force(id_):
            yield from self._links(id_, covered)

    def ahead(self, id_: str) -> Iterator[Link]:
        """Yield the superseders of a record that may be active, or lead the furthest."""
        return self._links(id_, {}, skips=True)

    def _links(
        self,
        id_: str,
        covered: dict[Place, int] | None,
        skips: bool = False,
        superseded: set[str] | None = None,
    ) -> Iterator[Link]:
        """Yield the superseders of a record in force. skips: of crowded scopes only the heads.

        superseded: the record is added where it is not active.
        """
        record = self.record(id_)
        self.calls.lookups += 1
        for place, moment in self.index.superseded_places(record):
            bucket, rule = self.index.buckets.get(place), self.rules[place[0]]
            if bucket is None:
                continue
            horizon = self.at.horizon(rule.order)
            top = FOREVER if horizon is None else horizon
            if superseded is not None and id_ not in superseded:
                later = filter(self.at.in_force, bucket.newer(moment, (top, "")))
                superseded.update([id_] if any(other != id_ for other in later) else [])
            read = FOREVER if covered is None else covered.get(place, FOREVER)
            if (read if skips else min(read, top)) <= moment.end:
                continue
            if covered is not None:
                covered[place] = moment.end
            if skips and horizon is not None and is_crowded(len(bucket.superseding)):
                heads = self.index.heads(place, self.records, self.edges)
                newer = heads.ahead(self.at, moment.end, read)
            else:
                newer = bucket.newer(moment, (min(read, top), ""))
            for superseder in filter(self.at.in_force, newer):
                if superseder != id_:
                    self.calls.edges += 1
                    yield Link(id_, superseder, rule.name, rule.relation, rule.confidence, place[0])
        for edge in self.edges.get(id_, ()):
            if self.at.in_force(edge.superseder):
                self.calls.edges += 1
                if superseded is not None:
                    superseded.add(id_)
                yield Link(id_, edge.superseder, edge.rule, edge.relation, edge.confidence)

    def older(
        self, id_: str, relation: str | None = None, covered: dict[Place, int] | None = None
    ) -> Iterator[str]:
        """Yield the records that a record directly supersedes, by one relation or any.

        covered: per bucket up to where it has been read, as in `links`. The mark moves up.
        """
        record = self.record(id_)
        if not self.at.in_force(id_):
            return
        for place, moment in self.index.superseding_places(record):
            bucket = self.index.buckets.get(place)
            if bucket is None or relation not in (None, self.rules[place[0]].relation):
                continue
            read = None if covered is None else covered.get(place)
            if read is None or read < moment.start:
                if covered is not None:
                    covered[place] = moment.start
                for older in filter(self.at.in_force, bucket.older(moment, read)):
                    if older != id_:
                        yield older
        for edge in self.reverse.get(id_, ()):
            if relation in (None, edge.relation) and self.in_force(edge.superseded):
                yield edge.superseded

    def superseded_by_any(self, ids: Iterable[str], relation: str | None = None) -> set[str]:
        """Return all that one of these records supersedes, by chains of one relation or any."""
        found: set[str] = set()
        queue = deque(filter(self.at.in_force, listed(ids)))
        covered: dict[Place, int] = {}
        while queue:
            for older in self.older(queue.popleft(), relation, covered):
                if older not in found:
                    found.add(older)
                    queue.append(older)
        return found

    def among(self, ids: Iterable[str]) -> Authority:
        """Return the relation of some records alone, at the same time. Refuse unknown ids.

        Chains through other records are none in it.
        """
        records = [self.record(id_) for id_ in dict.fromkeys(listed(ids))]
        explicit = (edge for record in records for edge in self.edges.get(record.id, ()))
        inside = {record.id for record in records}
        edges = [edge for edge in explicit if edge.superseder in inside]
        return Authority(records, self.rules, edges).as_of(self.at.effective, self.at.known)

    def is_active(self, id_: str) -> bool:
        """Return whether nothing supersedes a record (Def. 1).

        A record that is not in force at the time of a view is not active then.
        """
        return self.at.in_force(id_) and next(self.links(id_), None) is None

    def reach(self, ids: Iterable[str]) -> dict[str, Link | None]:
        """Return cl(ids), nearest first, each with the link by which it was reached first.

        The given ids that are in force come first, with None. Raises InputError for an unknown id.
        """
        covered: dict[Place, int] = {}
        return reach(filter(self.at.in_force, listed(ids)), lambda id_: self.links(id_, covered))

    def closure(self, ids: Iterable[str]) -> list[str]:
        """Return cl(ids): them and all that supersedes one of them (Def. 3), nearest first."""
        return list(self.reach(ids))

    def frontier(self, ids: Iterable[str]) -> list[str]:
        """Return front(ids): those that none of them supersedes, in the order given (Def. 3).

        A superseder counts though the chain to it leads through records that are not among `ids`.
        With several relations, return those maximal under every one of them (Def. 10).
        """
        members = list(dict.fromkeys(filter(self.at.in_force, listed(ids))))
        dominated: set[str] = set()
        relations = {rule.relation for rule in self.rules}
        for relation in relations.union(e.relation for es in self.edges.values() for e in es):
            dominated |= self.superseded_by_any(members, relation)
        return [id_ for id_ in members if id_ not in dominated]

    def controlling(self, ids: Iterable[str]) -> list[str]:
        """Return front(cl(ids)): their controllers now, nearest first (CAR's target, eq. 2).

        A closure holds every superseder of its members, so its frontier is its active part.
        """
        superseded: set[str] = set()
        heads = self.heads(ids, superseded=superseded)
        return [id_ for id_ in heads if id_ not in superseded]

    def heads(
        self,
        ids: Iterable[str],
        covered: dict[Place, int] | None = None,
        superseded: set[str] | None = None,
    ) -> dict[str, Link | None]:
        """Return a part of `reach` that holds all of it that is active, by chains as short as any.

        Whatever supersedes a record of the closure supersedes one of this part directly, or is in
        it. Of crowded scopes the rest is not looked at (`argus.authority.scopes`). It is in a view,
        if a rule orders by another time than the view asks for, or it asks for two. covered: filled
        with the least end of this part per place where it can be superseded. superseded: filled
        with those of this part that are not active.
        """
        covered = {} if covered is None else covered
        return reach(
            filter(self.at.in_force, listed(ids)),
            lambda id_: self._links(id_, covered, True, superseded),
        )

    def controlling_chains(self, ids: Iterable[str]) -> dict[str, tuple[Link, ...]]:
        """Return the records of `controlling`, each with a shortest chain that leads to it."""
        superseded: set[str] = set()
        heads = self.heads(ids, superseded=superseded)
        return {i: tuple(chain_to(i, heads)) for i in heads if i not in superseded}

    def insert(self, record: Record, edges: Iterable[Edge] = ()) -> None:
        """Add one record and its edges. For a known id or a cycle raise InputError, unchanged."""
        self._require_base()
        if record.id in self.records:
            got = f"record {record.id!r} is there already"
            raise InputError(got, expected="a new id", fix="Correct it, or delete it first.")
        added = list(dict.fromkeys(edges))
        for edge in added:
            if record.id not in (edge.superseder, edge.superseded):
                expected = f"edges of {record.id!r}, the record that is inserted"
                raise InputError(f"{edge}", expected=expected, fix="Insert it with its record.")
        self.index.add(record)
        self.records[record.id] = record
        try:
            for edge in added:
                self._put(edge)
            if self._can_cycle() and next(self.older(record.id), None):
                self._require_no_cycle([record.id])
        except InputError:
            self.delete(record.id)
            raise

    def delete(self, id_: str) -> Record:
        """Remove a record with the explicit edges of it. Return the record."""
        self._require_base()
        record = self.record(id_)
        self.index.remove(record)
        for edge in self.edges_of(id_):
            for edges, end in ((self.edges, edge.superseded), (self.reverse, edge.superseder)):
                edges[end].remove(edge)
                if not edges[end]:
                    del edges[end]
        del self.records[id_]
        return record

    def _require_base(self) -> None:
        if self.is_view:
            fix = "Change the Authority that the view was made of: leave the date out."
            raise InputError("a view of an earlier time", expected="the relation itself", fix=fix)

    def _put(self, edge: Edge) -> None:
        for id_ in (edge.superseder, edge.superseded):
            self.record(id_)
        self.edges.setdefault(edge.superseded, []).append(edge)
        self.reverse.setdefault(edge.superseder, []).append(edge)
        self.index.pin(self.records[edge.superseded])

    def _can_cycle(self) -> bool:
        """Return whether these rules or edges can make a cycle. One order by time cannot."""
        has_several_orders = len({rule.order for rule in self.rules}) > 1
        return bool(self.edges) or has_several_orders or not all(r.is_timed for r in self.rules)

    def _require_no_cycle(self, ids: Iterable[str]) -> None:
        """Raise InputError with a shortest chain from one of these records back to it."""
        for id_ in ids:
            covered: dict[Place, int] = {}
            reached = reach([id_], lambda member: self.links(member, covered))  # noqa: B023
            last = (one for m in reached for one in self.links(m) if one.superseder == id_)
            link = next(last, None)
            if link is not None:
                chain = [*chain_to(link.superseded, reached), link]
                expected = "an order: what supersedes a record is not superseded by it"
                fix = "Mend a time or remove an edge of the chain, or let a rule order by one time."
                got = f"a cycle of {len(chain)}: {describe(chain)}"
                raise InputError(got, expected=expected, fix=fix)


def reach(ids: Iterable[str], links: Callable[[str], Iterable[Link]]) -> dict[str, Link | None]:
    """Return all records that links lead to, nearest first, each with its first link.

    The given records come first, with None. links: direct supersessions of a record.
    """
    reached: dict[str, Link | None] = dict.fromkeys(ids)
    queue = deque(reached)
    while queue:
        for link in links(queue.popleft()):
            if link.superseder not in reached:
                reached[link.superseder] = link
                queue.append(link.superseder)
    return reached


def chain_to(id_: str, reached: Mapping[str, Link | None]) -> list[Link]:
    """Return the links that led to a record of `reach`, oldest first."""
    links: list[Link] = []
    link = reached.get(id_)
    while link is not None:
        links.append(link)
        link = reached[link.superseded]
    return links[::-1]


def describe(chain: Sequence[Link]) -> str:
    """Return a chain in words: "a, superseded by b (rule), superseded by c (rule)"."""
    steps = [f", superseded by {link.superseder!r} ({link.rule})" for link in chain]
    return "".join([repr(link.superseded) for link in chain[:1]] + steps)


def find_cyclic(
    ids: Iterable[str], buckets: Mapping[Place, Bucket], edges: Mapping[str, Sequence[Edge]]
) -> list[str]:
    """Return one record of every cycle, the first of its component.

    No pair is made: a suffix of a sorted bucket is one node, which leads to its first record and to
    the next suffix. ids: all records of buckets and edges. edges: by superseded id.
    """
    names = list(ids)
    number = {id_: i for i, id_ in enumerate(names)}
    targets: list[list[int]] = [[] for _ in names]
    for bucket in buckets.values():
        n, starts = len(targets), list(bucket.superseding)
        targets += [[number[id_], n + i + 1] for i, (_, id_) in enumerate(starts)]
        targets.append([])
        for end, id_ in bucket.superseded:
            targets[number[id_]].append(n + bisect_left(starts, (end, "")))
    for several in edges.values():
        for edge in several:
            targets[number[edge.superseded]].append(number[edge.superseder])
    records = ([i for i in cycle if i < len(names)] for cycle in components(targets))
    return [names[i] for i in sorted(min(cycle) for cycle in records if len(cycle) > 1)]
