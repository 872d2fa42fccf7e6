"""A whole run against Theorem 4: which queries are served something superseded, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from argus.authority.conditions import Conditions, check_conditions
from argus.authority.relation import Authority
from argus.data.runs import ranking
from argus.data.types import Run, State


@dataclass(frozen=True, slots=True)
class Removed:
    """What the run before had in its top k and this one has nowhere, though not pushed out."""

    active: tuple[str, ...]
    """In force: falsely retired."""
    unreplaced: tuple[str, ...]
    """Superseded, and nothing that controls them is in the run, either."""


@dataclass(frozen=True, slots=True)
class LintedQuery:
    """One query's top k.

    Not applicable where nothing was retrieved, or nothing of which there is a record, now or in the
    run before.
    """

    query_id: str
    state: State
    retrieved: tuple[str, ...]
    """The top k, best first."""
    unknown: tuple[str, ...]
    """Those of them of which there is no record."""
    future: tuple[str, ...]
    """Those that were not in force at the time of the view (`Authority.as_of`)."""
    conditions: Conditions
    removed: Removed | None
    """See `lint`; None where the run before has no such query, or is not given."""

    @property
    def stale_share(self) -> float:
        """Share of the top k that something supersedes."""
        return len(self.conditions.superseded) / len(self.retrieved) if self.retrieved else 0.0

    @property
    def holds(self) -> bool:
        """Whether both conditions of Theorem 4 hold for what is served and what was removed.

        Nothing that is not yet in force is served, and what controls a removed document is there.
        """
        lost = self.removed.unreplaced if self.removed is not None else ()
        return self.conditions.hold and not self.future and not lost


def lint_queries(
    run: Run,
    authority: Authority,
    *,
    k: int,
    anchors: Mapping[str, Iterable[str]] | None = None,
    before: Run | None = None,
) -> list[LintedQuery]:
    """Check the top k of every query, those of the run first, then those of the run before.

    anchors: query -> the documents that it is about, where that is known; else every retrieved
    document is an anchor. before: the run before superseded documents were removed. A document of
    its top k was removed when `run` has it nowhere, and yet `run` kept one that the run before
    ranked below it, or has room left in its top k: else it was pushed out by what came in. What
    controls a document of the run before came in, wherever it stood; room is left in a list that is
    shorter than k and than the longest of the run.
    """
    earlier = before or {}
    depth = min(k, max((len(scores) for scores in run.values()), default=0))
    linted = []
    for query in dict.fromkeys((*run, *earlier)):
        order = ranking(run.get(query, {}))
        removed = None
        if query in earlier:
            removed = _removed(order, ranking(earlier[query]), authority, k, depth)
        own = anchors.get(query) if anchors is not None else None
        former = any(id_ in authority for id_ in earlier.get(query, {}))
        linted.append(_linted(query, order[:k], authority, own, removed, former=former))
    return linted


def _linted(
    query: str,
    top: list[str],
    authority: Authority,
    anchors: Iterable[str] | None,
    removed: Removed | None,
    *,
    former: bool,
) -> LintedQuery:
    known = [id_ for id_ in top if id_ in authority]
    served = [id_ for id_ in known if authority.in_force(id_)]
    return LintedQuery(
        query,
        State.MEASURED if known or former else State.NOT_APPLICABLE,
        tuple(top),
        tuple(id_ for id_ in top if id_ not in authority),
        tuple(id_ for id_ in known if not authority.in_force(id_)),
        check_conditions(served, authority, anchors),
        removed,
    )


def _removed(
    later: list[str], earlier: list[str], authority: Authority, k: int, depth: int
) -> Removed:
    served = set(later)
    known = {i: None for i in earlier if i in authority and authority.in_force(i)}
    active = {id_ for id_ in known if authority.is_active(id_)}
    came_in = set(authority.controlling(i for i in known if i not in active))
    stayed = served - came_in
    last = max((i for i, id_ in enumerate(earlier) if id_ in stayed), default=-1)
    if len(later) < depth:
        last = len(earlier)
    gone = [i for n, i in enumerate(earlier[:k]) if n < last and i not in served and i in known]
    return Removed(
        tuple(id_ for id_ in gone if id_ in active),
        tuple(
            id_
            for id_ in gone
            if id_ not in active and served.isdisjoint(authority.controlling([id_]))
        ),
    )
