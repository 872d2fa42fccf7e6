"""A whole run against Theorem 4: which queries are served something superseded, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from argus.authority.conditions import Conditions, check_conditions
from argus.authority.relation import Authority
from argus.data.runs import ranking
from argus.data.types import Run, State


@dataclass(frozen=True, slots=True)
class LintedQuery:
    """One query's top k.

    Not applicable where nothing was retrieved, or nothing of which there is a record.
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
    falsely_retired: tuple[str, ...]
    """Active documents that the run before had in its top k and this one removed; see `lint`."""

    @property
    def stale_share(self) -> float:
        """Share of the top k that something supersedes."""
        return len(self.conditions.superseded) / len(self.retrieved) if self.retrieved else 0.0

    @property
    def holds(self) -> bool:
        """Whether both conditions of Theorem 4 hold and nothing not yet in force is served."""
        return self.conditions.hold and not self.future


def lint(
    run: Run,
    authority: Authority,
    *,
    k: int,
    anchors: Mapping[str, Iterable[str]] | None = None,
    before: Run | None = None,
) -> list[LintedQuery]:
    """Check the top k of every query; queries in the order of the run.

    anchors: query -> the documents that it is about, where that is known; else every retrieved
    document is an anchor. before: the run before superseded documents were removed. A document of
    its top k is falsely retired when it is active, `run` has it nowhere, and yet `run` kept one
    that the run before ranked below it, or has room left in its top k: so it was removed, not
    pushed out by what came in. What controls a document of the run before came in, wherever it
    stood; room is left in a list that is shorter than k and than the longest of the run.
    """
    linted = []
    depth = min(k, max((len(scores) for scores in run.values()), default=0))
    for query, scores in run.items():
        order = ranking(scores)
        top = order[:k]
        known = [id_ for id_ in top if id_ in authority]
        given = anchors.get(query) if anchors is not None else None
        conditions = check_conditions(
            [id_ for id_ in known if authority.in_force(id_)], authority, given
        )
        linted.append(
            LintedQuery(
                query,
                State.MEASURED if known else State.NOT_APPLICABLE,
                tuple(top),
                tuple(id_ for id_ in top if id_ not in authority),
                tuple(id_ for id_ in known if not authority.in_force(id_)),
                conditions,
                tuple(_falsely_retired(order, before.get(query, {}), authority, k, depth))
                if before is not None
                else (),
            )
        )
    return linted


def _falsely_retired(
    kept: list[str], before: dict[str, float], authority: Authority, k: int, depth: int
) -> Iterable[str]:
    earlier, served = ranking(before), set(kept)
    known = [i for i in earlier if i in authority and authority.in_force(i)]
    came_in = set(authority.controlling(i for i in known if not authority.is_active(i)))
    stayed = served - came_in
    last = max((i for i, id_ in enumerate(earlier) if id_ in stayed), default=-1)
    if len(kept) < depth:
        last = len(earlier)
    active = {id_ for id_ in known if authority.is_active(id_)}
    for i, id_ in enumerate(earlier[:k]):
        if i < last and id_ not in served and id_ in active:
            yield id_
