"""Test whether a superseded document brings back the documents that control it, without queries.

The authority counterpart of the Retrieval Probability Score: a superseded document is the query,
with its own title or text, and the documents that control it now must come back. `Endings` finds
these for many records at once: the records that control one are those that control its superseders,
one link further away. So the records of a long chain share the rest of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from argus.authority.relation import Authority, Link
from argus.data.types import FloatArray, IntArray
from argus.indexes.dense import known_item_search

LINKS_PER_RECORD, LINKS_ANYWAY = 100, 2_000  # links read to find common ends: per record, and more
BATCH = 4096
MAX_CONTROLLING = 16  # controlling documents of one superseded document
MAX_LINKS = 20  # links of a chain that are named, from the superseded document on


@dataclass(frozen=True, slots=True)
class End:
    """One record that controls another, and how it is reached.

    hops: links of the whole chain. 0 where it is the record itself.
    chain: the first links, oldest first.
    """

    id: str
    hops: int
    chain: tuple[Link, ...]


class Endings:
    """Records that control others, as `Authority.controlling_chains` finds them.

    limit: ends of one record that are kept, by the shortest chains. links: of a chain that are
    kept. It holds as long as the relation does not change.
    """

    def __init__(self, authority: Authority, limit: int, links: int) -> None:
        self.authority, self.limit, self.links = authority, limit, links
        self._ends: dict[str, tuple[End, ...]] = {}

    def of(self, id_: str) -> tuple[End, ...]:
        """Return the controllers of a record in force, nearest first. An active one is its own.

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
                above[one] = {}
                for link in self.authority.ahead(one):
                    above[one].setdefault(link.superseder, link)
                seen += len(above[one])
                if seen > LINKS_PER_RECORD * (len(above) + len(self._ends)) + LINKS_ANYWAY:
                    chains = islice(self.authority.controlling_chains([id_]).items(), self.limit)
                    self._ends[id_] = tuple(
                        End(end, len(chain), chain[: self.links]) for end, chain in chains
                    )
                    break
            waiting = [newer for newer in above[one] if newer not in self._ends]
            todo += waiting
            if not waiting:
                self._ends[one] = tuple(self._merged(above.pop(one))) or (End(one, 0, ()),)
        return self._ends[id_]

    def _merged(self, above: Mapping[str, Link]) -> Iterator[End]:
        """Yield the ends of a record: the nearest ends of its superseders."""
        ways = [(end, link) for newer, link in above.items() for end in self._ends[newer]]
        seen: set[str] = set()
        for end, link in sorted(ways, key=lambda way: way[0].hops):
            if end.id not in seen:
                seen.add(end.id)
                yield End(end.id, end.hops + 1, (link, *end.chain[: self.links - 1]))
            if len(seen) == self.limit:
                return


def supersessions(authority: Authority) -> Iterator[tuple[str, End]]:
    """Yield every superseded document with each of its controllers, by id of the former.

    Chains are followed to their ends: of d1, d2, d3 it yields (d1, d3) and (d2, d3). Of more than
    MAX_CONTROLLING, those by the shortest chains. So there are at most MAX_CONTROLLING per
    superseded document, and never as many as pairs of a scope. A chain holds MAX_LINKS links.
    """
    endings = Endings(authority, MAX_CONTROLLING, MAX_LINKS)
    for id_ in sorted(authority.records):
        if authority.in_force(id_):
            yield from ((id_, end) for end in endings.of(id_) if end.hops)


def rank_targets(
    queries: FloatArray, documents: FloatArray, targets: IntArray
) -> tuple[IntArray, IntArray, npt.NDArray[np.float64]]:
    """Return where document `targets[i]` stands for query i: three arrays of shape (n_pairs,).

    queries: (n_pairs, dim), documents: (n_documents, dim), unit rows. The rank is 1-based among all
    documents, the asking one included, equal scores by row. N+ (Corollary 1) counts documents that
    score strictly above the controlling one. The divergence is the best score less the score of the
    controlling document: Delta of Def. 4 for a single controlling document, at least 0.
    """
    ranks, outranking, divergences = [], [], []
    for start in range(0, len(queries), BATCH):
        part = slice(start, start + BATCH)
        hits = known_item_search(queries[part], documents, targets[part], 1)
        ranks.append(hits.rank)
        outranking.append(hits.above)
        first = documents[hits.top.rows[:, 0]]
        own = documents[targets[part]]
        asking = queries[part].astype(np.float64)
        divergences.append(np.einsum("ij,ij->i", asking, first.astype(np.float64) - own))
    divergence = np.maximum(np.concatenate(divergences), 0.0)
    return np.concatenate(ranks), np.concatenate(outranking), divergence
