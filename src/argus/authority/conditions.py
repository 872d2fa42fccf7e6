"""Theorem 4 on any retrieved set, whatever retrieved it: what is missing, and what is ignored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from argus.authority.relation import Authority, Link, chain_to


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
    """Condition (ii) violated: a superseded document without any of its superseders."""

    document: str
    superseders: tuple[str, ...]
    """All of them, nearest first; none was retrieved."""
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
    known; else every retrieved document is its own anchor. Documents without record are left out:
    nothing is known that supersedes them. Raises InputError for an unknown anchor.
    """
    served = dict.fromkeys(id_ for id_ in retrieved if id_ in authority)
    reached = {id_: authority.heads([id_]) for id_ in served}
    active: dict[str, bool] = {}

    def is_active(id_: str) -> bool:
        if id_ not in active:
            active[id_] = authority.is_active(id_)
        return active[id_]

    missing: dict[str, Missing] = {}
    for anchor in served if anchors is None else anchors:
        above = reached.get(anchor) or authority.heads([anchor])
        for id_ in above:
            if id_ not in served and is_active(id_):
                missing.setdefault(id_, Missing(id_, anchor, tuple(chain_to(id_, above))))
    ignored = []
    for id_, heads in reached.items():
        if len(heads) == 1 or any(newer in served for newer in heads if newer != id_):
            continue
        above = authority.reach([id_])  # all of it: a crowded scope has more than its heads
        superseders = tuple(above)[1:]
        if not any(newer in served for newer in superseders):
            last = next((newer for newer in superseders if is_active(newer)), superseders[-1])
            ignored.append(Ignored(id_, superseders, tuple(chain_to(last, above))))
    superseded = tuple(id_ for id_, above in reached.items() if len(above) > 1)
    return Conditions(tuple(missing.values()), tuple(ignored), superseded)
