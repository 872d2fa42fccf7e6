"""Can what controls a document be reached from the document itself? No queries needed.

The authority counterpart of the Retrieval Probability Score: a superseded document asks with its
own title and text, and the documents that control it now must come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.authority.endings import Endings
from argus.authority.links import Link
from argus.authority.relation import Authority
from argus.data.types import FloatArray, IntArray
from argus.indexes.dense import known_item_search

BATCH = 4096
MOST = 16
"""Controlling documents of one superseded document that are asked for."""
LINKS = 20
"""Links of a chain that are told, from the superseded document on."""


@dataclass(frozen=True, slots=True)
class Supersession:
    """A superseded document and one of those that control it now."""

    superseded: str
    controlling: str
    chain: tuple[Link, ...]
    """From the one to the other, oldest first, its first LINKS links."""
    hops: int
    """Links of the whole chain; 1 where they are neighbours."""

    @property
    def rule(self) -> str:
        """The rule under which the document was superseded first."""
        return self.chain[0].rule


def supersessions(authority: Authority) -> Iterator[Supersession]:
    """Yield every superseded document with each of those that control it; by id of the former.

    Chains are followed to their ends: of d1, d2, d3 it yields (d1, d3) and (d2, d3). Of more than
    MOST that control a document, those by the shortest chains: so there are as many as superseded
    documents, times MOST at worst, and never as many as pairs of a scope. What chains share is
    looked at once for all of them.
    """
    endings = Endings(authority, MOST, LINKS)
    for id_ in sorted(authority.records):
        if authority.in_force(id_):
            for end in endings.of(id_):
                if end.hops:
                    yield Supersession(id_, end.id, end.chain, end.hops)


@dataclass(frozen=True)
class Reach:
    """Where the controlling documents stand. Arrays have shape (n_pairs,)."""

    rank: IntArray
    """1-based among all documents, the asking one included; equal scores by row."""
    outranking: IntArray
    """N+ (Corollary 1): documents that score strictly above the controlling one."""
    divergence: npt.NDArray[np.float64]
    """Score of what comes first less score of the controlling document: Delta of Def. 4 for a
    single controlling document, at least 0."""


def reach(queries: FloatArray, documents: FloatArray, targets: IntArray) -> Reach:
    """Return where document `targets[i]` stands for query i.

    queries: (n_pairs, dim), documents: (n_documents, dim), unit rows.
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
    return Reach(
        np.concatenate(ranks),
        np.concatenate(outranking),
        np.maximum(np.concatenate(divergences), 0.0),
    )
