"""Theorem 4 on any retrieved set, whatever retrieved it: what is missing, and what is ignored."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from argus.authority.links import Link, chain_to
from argus.authority.places import Place
from argus.authority.relation import Authority
from argus.data.documents import listed


@dataclass(frozen=True, slots=True)
class Missing:
    """Condition (i) violated: a frontier element that was not retrieved."""

    document: str
    anchor: str
    """The first anchor that it controls."""
    chain: tuple[Link, ...]
    """From anchor to document; empty where they are one."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """Condition (ii) violated: a superseded document, and nothing retrieved supersedes it."""

    document: str
    chain: tuple[Link, ...]
    """To a document that controls it."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a retrieved set stands to Theorem 4."""

    missing: tuple[Missing, ...]
    ignored: tuple[Ignored, ...]
    superseded: tuple[str, ...]
    """Retrieved documents that something supersedes, retrieved or not."""

    @property
    def hold(self) -> bool:
        """Whether both hold: then, and only then, TCA can be 1."""
        return not self.missing and not self.ignored


def check_conditions(
    retrieved: Iterable[str], authority: Authority, anchors: Iterable[str] | None = None
) -> Conditions:
    """Return what violates Theorem 4 in a retrieved set R.

    (i) front(cl(A)) is in R, for the anchors A; (ii) for every superseded document of R, one that
    supersedes it, directly or by a chain, is in R. anchors: those of the gold chain, where they are
    known; else every retrieved document is its own anchor. Documents without record, and those that
    are not in force at the time of a view, are left out: nothing is known that supersedes them.
    Raises InputError for an unknown anchor.
    """
    served = dict.fromkeys(i for i in listed(retrieved) if i in authority and authority.in_force(i))
    reached = {id_: authority.heads([id_]) for id_ in served}
    active: dict[str, bool] = {}

    def is_active(id_: str) -> bool:
        if id_ not in active:
            active[id_] = authority.is_active(id_)
        return active[id_]

    missing: dict[str, Missing] = {}
    for anchor in served if anchors is None else listed(anchors, "anchors"):
        above = reached.get(anchor) or authority.heads([anchor])
        for id_ in above:
            if id_ not in served and is_active(id_):
                missing.setdefault(id_, Missing(id_, anchor, tuple(chain_to(id_, above))))
    newest = _newest(authority, served)
    ignored = []
    for id_, above in reached.items():
        if len(above) > 1 and not _is_replaced(authority, above, served, newest):
            last = next(newer for newer in above if is_active(newer))
            ignored.append(Ignored(id_, tuple(chain_to(last, above))))
    superseded = tuple(id_ for id_, above in reached.items() if len(above) > 1)
    return Conditions(tuple(missing.values()), tuple(ignored), superseded)


def _newest(authority: Authority, served: Iterable[str]) -> dict[Place, int]:
    """Return, per place where a served document supersedes, the latest start of one."""
    newest: dict[Place, int] = {}
    for id_ in served:
        for place, moment in authority.index.superseding_places(authority.records[id_]):
            newest[place] = max(moment.start, newest.get(place, moment.start))
    return newest


def _is_replaced(
    authority: Authority, heads: Iterable[str], served: Container[str], newest: dict[Place, int]
) -> bool:
    """Return whether a served document supersedes the first of these heads (`Authority.heads`)."""
    for i, id_ in enumerate(heads):
        if i and id_ in served:
            return True
        for place, moment in authority.index.superseded_places(authority.records[id_]):
            if place in newest and newest[place] >= moment.end:
                return True
        if any(edge.superseder in served for edge in authority.edges.get(id_, ())):
            return True
    return False
