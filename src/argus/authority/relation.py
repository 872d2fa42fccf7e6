"""The authority relation over a set of records: closure, frontier, chains (CAR Def. 1 and 3)."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from argus.authority.as_of import AsOf
from argus.authority.confidence import require_theta
from argus.authority.cycles import can_cycle, cyclic_records, require_no_cycle
from argus.authority.given import all_of
from argus.authority.links import Link, chain_to, reach
from argus.authority.places import Place, is_crowded
from argus.authority.records import Record, find_record
from argus.authority.rules import Edge, Order, Rule
from argus.authority.scopes import ScopeIndex
from argus.authority.ties import all_ties, has_ties, tie_edges
from argus.authority.times import FOREVER, Moment, parse_moment
from argus.data.documents import listed
from argus.errors import InputError

Time = Moment | str | date | None
"""A time, or what is read as one."""

__all__ = ["Authority", "Calls", "Link", "chain_to"]


@dataclass(slots=True)
class Calls:
    """What resolving has cost (Proposition 3)."""

    lookups: int = 0
    """Scope lookups: a record asked for what supersedes it, all rules at once."""
    edges: int = 0
    """Direct supersessions looked at, each at most once per closure and scope."""


class Authority:
    """Records under rules and explicit edges: what supersedes what, now or at an earlier time.

    ⇝ is the transitive closure over all rules and edges. Nothing pairwise is stored. Raises
    InputError for two records of one id, an edge to an unknown record, and cycles, with the chain.
    """

    def __init__(
        self, records: Iterable[Record], rules: Sequence[Rule] = (), edges: Iterable[Edge] = ()
    ) -> None:
        self.records: dict[str, Record] = {}
        for record in all_of(Record, records):
            if record.id in self.records:
                raise InputError(
                    f"two records have the id {record.id!r}",
                    expected="one record per id",
                    fix="Remove or rename one of the two.",
                )
            self.records[record.id] = record
        self.index = ScopeIndex(tuple(all_of(Rule, rules)))
        self.index.fill(self.records.values())
        self.edges: dict[str, list[Edge]] = {}
        """Explicit edges by superseded id."""
        self.reverse: dict[str, list[Edge]] = {}
        """Explicit edges by superseder."""
        self.tied = all_ties(self.index, self.records)
        """Of the edges those between records of equal times, decided by id."""
        for edge in dict.fromkeys((*all_of(Edge, edges), *self.tied)):
            self._put(edge)
        self.calls = Calls()
        self.at = AsOf(self.records)
        """The time at which the records are looked at."""
        if can_cycle(self.rules, self.edges):
            members = cyclic_records(self.records, self.index.buckets, self.edges)
            require_no_cycle(members, self.links)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order given."""
        return self.index.rules

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of the authority relations, of rules first (Def. 10)."""
        named = (rule.relation for rule in self.rules)
        explicit = (edge.relation for edges in self.edges.values() for edge in edges)
        return tuple(dict.fromkeys((*named, *explicit)))

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, id_: object) -> bool:
        return id_ in self.records

    def record(self, id_: str) -> Record:
        """Return a record; InputError where there is none."""
        return find_record(self.records, id_)

    def as_of(self, effective: Time, known: Time = None) -> Authority:
        """Return the relation as it was: a view on the same records and index, not to be changed.

        effective: only what had certainly taken effect by then counts; a record that has only a
        publication is taken to have effect from then on. known: only what had certainly been
        published by then; None lets in what became known later. A record without any time counts.
        What is not in force takes no part: it neither supersedes nor is superseded, it is in no
        closure and no frontier, and it is not active. Times are read as those of `Record.of`;
        raises InputError for anything else.
        """
        view = copy.copy(self)
        times = (_moment(effective, "effective"), _moment(known, "known"))
        view.at, view.calls = AsOf(self.records, *times), Calls()
        return view

    @property
    def is_view(self) -> bool:
        """Whether this is the relation at an earlier time, from `as_of`."""
        return self.at.is_earlier

    def in_force(self, id_: str) -> bool:
        """Return whether a record had taken effect, and was known, at the time of this view."""
        return self.at.in_force(id_)

    def horizon(self, order: Order) -> int | None:
        """Return by which end what is ordered so is in force; None where another time decides."""
        return self.at.horizon(order)

    def links(
        self, id_: str, covered: dict[Place, int] | None = None, theta: float = 0.0
    ) -> Iterator[Link]:
        """Yield what directly supersedes a record, by edges of confidence `theta` or more.

        covered: per bucket from where on it has been read; what lies there is not yielded again,
        and the mark moves down. It makes a closure linear in its size. Raises InputError for an
        unknown id, and for a theta outside of 0 to 1, as whatever takes one does.
        """
        require_theta(theta)
        record = self.record(id_)
        self.calls.lookups += 1
        if not self.at.in_force(id_):
            return
        for place, moment in self.index.superseded_places(record):
            bucket, rule = self.index.buckets.get(place), self.rules[place[0]]
            if bucket is None or rule.confidence < theta:
                continue
            read = min(self.at.horizon(rule.order) or FOREVER, (covered or {}).get(place, FOREVER))
            if read <= moment.end:
                continue
            if covered is not None:
                covered[place] = moment.end
            for superseder in filter(self.at.in_force, bucket.newer(moment, (read, ""))):
                if superseder != id_:
                    self.calls.edges += 1
                    yield Link(id_, superseder, rule.name, rule.relation, rule.confidence, place[0])
        yield from self._linked(id_, theta)

    def older(
        self, id_: str, relation: str | None = None, covered: dict[Place, int] | None = None
    ) -> Iterator[str]:
        """Yield what a record directly supersedes, by one relation or any.

        covered: per bucket up to where it has been read, as in `links`; the mark moves up.
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

    def below(self, ids: Iterable[str], relation: str | None = None) -> set[str]:
        """Return all that one of these records supersedes, by chains of one relation or any."""
        below: set[str] = set()
        queue = deque(filter(self.at.in_force, listed(ids)))
        covered: dict[Place, int] = {}
        while queue:
            for older in self.older(queue.popleft(), relation, covered):
                if older not in below:
                    below.add(older)
                    queue.append(older)
        return below

    def among(self, ids: Iterable[str]) -> Authority:
        """Return the relation of some records alone, at the same time; InputError for unknown ids.

        Chains through other records are none in it.
        """
        records = [self.record(id_) for id_ in dict.fromkeys(listed(ids))]
        explicit = (edge for record in records for edge in self.edges.get(record.id, ()))
        inside = {record.id for record in records}
        edges = [edge for edge in explicit if edge.superseder in inside]
        return Authority(records, self.rules, edges).as_of(self.at.effective, self.at.known)

    def is_active(self, id_: str, theta: float = 0.0) -> bool:
        """Return whether nothing supersedes a record (Def. 1), by edges of confidence theta.

        What is not in force at the time of a view is not active then.
        """
        require_theta(theta)
        return self.at.in_force(id_) and next(self.links(id_, theta=theta), None) is None

    def reach(self, ids: Iterable[str], theta: float = 0.0) -> dict[str, Link | None]:
        """Return cl(ids), nearest first, each with the link by which it was reached first.

        The given ids that are in force come first, with None. theta: edges of less confidence are
        not followed (Def. 9). Raises InputError for an unknown id.
        """
        require_theta(theta)
        covered: dict[Place, int] = {}
        return reach(
            filter(self.at.in_force, listed(ids)), lambda id_: self.links(id_, covered, theta)
        )

    def closure(self, ids: Iterable[str], theta: float = 0.0) -> list[str]:
        """Return cl(ids): them and all that supersedes one of them (Def. 3), nearest first."""
        return list(self.reach(ids, theta))

    def frontier(self, ids: Iterable[str]) -> list[str]:
        """Return front(ids): those that none of them supersedes, in the order given (Def. 3).

        A superseder counts though the chain to it leads through records that are not among `ids`.
        With several relations, what is maximal under every one of them (Def. 10).
        """
        members = list(dict.fromkeys(filter(self.at.in_force, listed(ids))))
        dominated: set[str] = set()
        for relation in self.relations:
            dominated |= self.below(members, relation)
        return [id_ for id_ in members if id_ not in dominated]

    def controlling(self, ids: Iterable[str], theta: float = 0.0) -> list[str]:
        """Return front(cl(ids)): what controls them now, nearest first (CAR's target, eq. 2).

        A closure holds every superseder of its members, so its frontier is what is active.
        """
        superseded: set[str] = set()
        heads = self.heads(ids, theta, superseded=superseded)
        return [id_ for id_ in heads if id_ not in superseded]

    def heads(
        self,
        ids: Iterable[str],
        theta: float = 0.0,
        covered: dict[Place, int] | None = None,
        superseded: set[str] | None = None,
    ) -> dict[str, Link | None]:
        """Return a part of `reach` that holds all of it that is active, by chains as short as any.

        Whatever supersedes a record of the closure supersedes one of this part directly, or is in
        it. Of crowded scopes the rest is not looked at (`argus.authority.heads`); it is in a view,
        if a rule orders by another time than the view asks for, or it asks for two. covered: filled
        with the least end of this part per place where it can be superseded; superseded: with those
        of this part that are not active.
        """
        require_theta(theta)
        covered = {} if covered is None else covered
        return reach(
            filter(self.at.in_force, listed(ids)),
            lambda id_: self.ahead(id_, covered, theta, superseded),
        )

    def ahead(
        self,
        id_: str,
        covered: dict[Place, int] | None = None,
        theta: float = 0.0,
        superseded: set[str] | None = None,
    ) -> Iterator[Link]:
        """Yield of what supersedes a record what may be active, or leads the furthest.

        covered: as in `links`; superseded: as in `heads`.
        """
        covered = {} if covered is None else covered
        record = self.record(id_)
        self.calls.lookups += 1
        for place, moment in self.index.superseded_places(record):
            bucket, rule = self.index.buckets.get(place), self.rules[place[0]]
            read = covered.get(place, FOREVER)
            if bucket is None or rule.confidence < theta:
                continue
            horizon = self.at.horizon(rule.order)
            if superseded is not None and id_ not in superseded:
                later = filter(self.at.in_force, bucket.newer(moment, (horizon or FOREVER, "")))
                superseded.update([id_] if any(other != id_ for other in later) else [])
            if read <= moment.end:
                continue
            covered[place] = moment.end
            if horizon is not None and is_crowded(len(bucket.superseding)):
                heads = self.index.heads(place, self.records, self.edges)
                newer = heads.ahead(self.at, moment.end, read, theta)
            else:
                newer = bucket.newer(moment, (min(read, horizon or FOREVER), ""))
            for superseder in filter(self.at.in_force, newer):
                self.calls.edges += 1
                yield Link(id_, superseder, rule.name, rule.relation, rule.confidence, place[0])
        for link in self._linked(id_, theta):
            if superseded is not None:
                superseded.add(id_)
            yield link

    def controlling_chains(
        self, ids: Iterable[str], theta: float = 0.0
    ) -> dict[str, tuple[Link, ...]]:
        """Return what `controlling` does, each with a shortest chain that leads to it."""
        superseded: set[str] = set()
        heads = self.heads(ids, theta, superseded=superseded)
        return {i: tuple(chain_to(i, heads)) for i in heads if i not in superseded}

    def chain(self, older: str, newer: str) -> list[Link]:
        """Return a shortest chain of direct supersessions; none where there is no chain."""
        return chain_to(newer, self.reach([older]))

    def insert(self, record: Record, edges: Iterable[Edge] = ()) -> None:
        """Add one record, and edges of it; InputError for a known id or a cycle, nothing added."""
        self._require_base()
        if record.id in self.records:
            raise InputError(
                f"record {record.id!r} is there already",
                expected="a new id",
                fix="Correct it, or delete it first.",
            )
        added = list(all_of(Edge, edges))
        for edge in added:
            if record.id not in (edge.superseder, edge.superseded):
                raise InputError(
                    f"an edge from {edge.superseded!r} to {edge.superseder!r} with {record.id!r}",
                    expected="edges of the record that is inserted",
                    fix="Give it with one of its two records, or to a new Authority.",
                )
        self.index.add(record)
        self.records[record.id] = record
        try:
            ties = self.ties(record)
            self.tied |= ties
            for edge in dict.fromkeys((*added, *ties)):
                self._put(edge)
            if can_cycle(self.rules, self.edges) and not self._is_an_end(record.id):
                require_no_cycle([record.id], self.links)
        except InputError:
            self.delete(record.id)
            raise

    def ties(self, record: Record) -> dict[Edge, None]:
        """Return the edges that equal times make of a record, there or not yet, decided by id."""
        if not has_ties(self.rules):
            return {}
        return dict.fromkeys(tie_edges(record, self.index, self.records))

    def delete(self, id_: str) -> Record:
        """Remove a record with the explicit edges of it; return what it was."""
        self._require_base()
        record = self.record(id_)
        self.index.remove(record)
        for edge in self.edges.pop(id_, []):
            self.tied.pop(edge, None)
            _drop(self.reverse, edge.superseder, edge)
        for edge in self.reverse.pop(id_, []):
            self.tied.pop(edge, None)
            _drop(self.edges, edge.superseded, edge)
        del self.records[id_]
        return record

    def _linked(self, id_: str, theta: float) -> Iterator[Link]:
        """Yield what supersedes a record by explicit edges."""
        for edge in self.edges.get(id_, ()):
            if edge.confidence >= theta and self.at.in_force(edge.superseder):
                self.calls.edges += 1
                yield Link(id_, edge.superseder, edge.rule, edge.relation, edge.confidence)

    def _is_an_end(self, id_: str) -> bool:
        """Return whether nothing supersedes a record, or it supersedes nothing."""
        return self.is_active(id_) or next(self.older(id_), None) is None

    def _require_base(self) -> None:
        if self.is_view:
            raise InputError(
                "a view of an earlier time",
                expected="the relation itself: what is past is not changed",
                fix="Change the Authority that the view was made of.",
            )

    def _put(self, edge: Edge) -> None:
        for id_ in (edge.superseder, edge.superseded):
            self.record(id_)
        self.edges.setdefault(edge.superseded, []).append(edge)
        self.reverse.setdefault(edge.superseder, []).append(edge)
        self.index.pin(self.records[edge.superseded])


def _drop(edges: dict[str, list[Edge]], id_: str, edge: Edge) -> None:
    edges[id_].remove(edge)
    if not edges[id_]:
        del edges[id_]


def _moment(value: Time, name: str) -> Moment | None:
    return value if isinstance(value, Moment) else parse_moment(value, where=f"as_of, {name}")
