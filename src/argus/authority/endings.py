"""What controls each of many records: every supersession is looked at once for all of them.

What controls a record is what controls the records that supersede it, one link further away. So the
ends of a chain are found from its new end on, and the records of a long chain share the rest of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from argus.authority.links import Link
from argus.authority.relation import Authority

LINKS_PER_RECORD, LINKS_ANYWAY = 100, 2_000
"""Links that are looked at to find what chains share: so many per record met, and some more."""


@dataclass(frozen=True, slots=True)
class End:
    """One record that controls another, and how it is reached."""

    id: str
    hops: int
    """Links of the whole chain; 0 where it is the record itself."""
    chain: tuple[Link, ...]
    """The first links, oldest first."""


class Endings:
    """What controls the records of a relation, as `Authority.controlling_chains` finds it.

    most: ends of one record that are kept, those by the shortest chains; links: of a chain that are
    kept. It holds as long as the relation does not change.
    """

    def __init__(self, authority: Authority, most: int, links: int) -> None:
        self.authority, self.most, self.links = authority, most, links
        self._ends: dict[str, tuple[End, ...]] = {}

    def of(self, id_: str) -> tuple[End, ...]:
        """Return what controls a record in force, nearest first; itself where it is active.

        Each record is asked by itself, which is quadratic where each is superseded by all that came
        after it: once too many links were looked at, the record's own chains are walked instead.
        """
        todo, above, seen = [id_], dict[str, dict[str, Link]](), 0
        while todo:
            one = todo[-1]
            if one in self._ends:
                todo.pop()
                continue
            if one not in above:
                above[one] = _by_superseder(self.authority.ahead(one))
                seen += len(above[one])
                if seen > LINKS_PER_RECORD * (len(above) + len(self._ends)) + LINKS_ANYWAY:
                    self._ends[id_] = self._walked(id_)
                    break
            waiting = [newer for newer in above[one] if newer not in self._ends]
            todo += waiting
            if not waiting:
                self._ends[one] = tuple(self._merged(above.pop(one))) or (End(one, 0, ()),)
        return self._ends[id_]

    def _walked(self, id_: str) -> tuple[End, ...]:
        """Return the ends of a record by a walk of its own, which looks at each scope once."""
        chains = islice(self.authority.controlling_chains([id_]).items(), self.most)
        return tuple(End(end, len(chain), chain[: self.links]) for end, chain in chains)

    def _merged(self, above: Mapping[str, Link]) -> Iterator[End]:
        """Yield the ends of a record, the nearest of those of what supersedes it."""
        ways = [(end, link) for newer, link in above.items() for end in self._ends[newer]]
        seen: set[str] = set()
        for end, link in sorted(ways, key=lambda way: way[0].hops):
            if end.id not in seen:
                seen.add(end.id)
                yield End(end.id, end.hops + 1, (link, *end.chain[: self.links - 1]))
            if len(seen) == self.most:
                return


def _by_superseder(links: Iterator[Link]) -> dict[str, Link]:
    """Return the first link to each record that supersedes."""
    first: dict[str, Link] = {}
    for link in links:
        first.setdefault(link.superseder, link)
    return first
