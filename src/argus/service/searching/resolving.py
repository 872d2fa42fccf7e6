"""What controls many documents: an answer that is bounded however long chains are."""

from __future__ import annotations

from argus.authority.endings import End, Endings
from argus.authority.jobs.search import chain_link
from argus.authority.relation import Authority
from argus.service.searching.summary import Controlling, Resolved

MOST_CONTROLLING = 100
"""Documents that are named of those that control one document: the nearest."""
MOST_LINKS = 50
"""Links that are told of one chain, from the document that was asked for on."""
MOST_LINKS_IN_ALL = 10_000
"""Links that are told in one answer; chains after that have none."""


class Resolving:
    """Answers one request, document by document, while the relation may change in between."""

    def __init__(self) -> None:
        self._links_left = MOST_LINKS_IN_ALL
        self._of: tuple[int, Endings] | None = None
        """The state of the relation that was looked at, and what was found out about it."""

    def resolved(self, id_: str, authority: Authority, state: int) -> Resolved:
        """Return what controls a document. state: a number that another state does not have."""
        if id_ not in authority:
            return _uncontrolled(id_, known=False, in_force=True)
        if not authority.in_force(id_):
            return _uncontrolled(id_, known=True, in_force=False)
        if self._of is None or self._of[0] != state:
            self._of = state, Endings(authority, MOST_CONTROLLING + 1, MOST_LINKS)
        ends = self._of[1].of(id_)
        return {
            "id": id_,
            "known": True,
            "in_force": True,
            "active": not ends[0].hops,
            "controlling": [self._told(end, authority) for end in ends[:MOST_CONTROLLING]],
            "more": len(ends) > MOST_CONTROLLING,
        }

    def _told(self, end: End, authority: Authority) -> Controlling:
        links = end.chain[: self._links_left]
        self._links_left -= len(links)
        return {
            "id": end.id,
            "title": authority.records[end.id].title,
            "chain": [chain_link(link, authority) for link in links],
            "hops": end.hops,
        }


def _uncontrolled(id_: str, *, known: bool, in_force: bool) -> Resolved:
    return {
        "id": id_, "known": known, "in_force": in_force, "active": not known,
        "controlling": [], "more": False,
    }  # fmt: skip
