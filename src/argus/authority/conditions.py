"""Check Theorem 4 on any retrieved set: missing frontier documents and ignored superseders."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from argus.authority.relation import Authority, Link, chain_to
from argus.authority.scopes import Place
from argus.data.documents import listed


@dataclass(frozen=True, slots=True)
class Missing:
    """Condition (i) violated: a frontier element that was not retrieved.

    anchor: the first anchor that it controls.
    chain: from anchor to document. Empty where they are one.
    """

    document: str
    anchor: str
    chain: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Ignored:
    """Condition (ii) violated: a superseded document, and nothing retrieved supersedes it.

    chain: to a document that controls it.
    """

    document: str
    chain: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Conditions:
    """Violations of Theorem 4 by a retrieved set.

    superseded: retrieved documents that something supersedes, retrieved or not.
    """

    missing: tuple[Missing, ...]
    ignored: tuple[Ignored, ...]
    superseded: tuple[str, ...]

    @property
    def hold(self) -> bool:
        """True if both conditions hold: then, and only then, TCA can be 1."""
        return not self.missing and not self.ignored


def check_conditions(
    retrieved: Iterable[str], authority: Authority, anchors: Iterable[str] | None = None
) -> Conditions:
    """Return the violations of Theorem 4 in a retrieved set R.

    (i) front(cl(A)) is in R, for the anchors A. (ii) For every superseded document of R, one that
    supersedes it, directly or by a chain, is in R. anchors: those of the gold chain, if you know
    them. By default every retrieved document is its own anchor. Documents without a record, and
    those that are not in force at the time of a view, are left out. Raises InputError for an
    unknown anchor.
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
    newest: dict[Place, int] = {}  # latest start of a served document per place
    for id_ in served:
        for place, moment in authority.index.superseding_places(authority.records[id_]):
            newest[place] = max(moment.start, newest.get(place, moment.start))
    ignored = []
    for id_, above in reached.items():
        if len(above) > 1 and not _is_replaced(authority, above, served, newest):
            last = next(newer for newer in above if is_active(newer))
            ignored.append(Ignored(id_, tuple(chain_to(last, above))))
    superseded = tuple(id_ for id_, above in reached.items() if len(above) > 1)
    return Conditions(tuple(missing.values()), tuple(ignored), superseded)


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
