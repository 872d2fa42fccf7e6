"""Plain references of CAR: the Retrieved-Set Supersession Graph, and Proposition 2's bound.

The paper finds the frontier without an index, by rule checks on every pair of a few documents.
`Authority` finds the same by look-ups and is compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from argus.authority.relation import Authority, Link, reach
from argus.authority.rules import Record, Rule
from argus.authority.theory import Entity, EntityIndex, ScopeAmbiguity


def scope_ceiling(
    ambiguities: Sequence[ScopeAmbiguity], anchored: Sequence[bool], *, chains: int = 1
) -> float:
    """Return Proposition 2's bound, the mean of φ(q)·R_anchor(q) over queries.

    anchored: whether a gold anchor was retrieved. chains: number of chains whose heads the
    algorithm serves. The printed bound is for one. With m of them it is min(1, m·φ). It holds in
    the mean over exchangeable chains of equal length with the anchor at the bottom. An algorithm
    can beat it on a corpus whose times tell the chains apart.
    """
    pairs = zip(ambiguities, anchored, strict=True)
    bounds = (min(1.0, chains * a.phi) for a, has_anchor in pairs if has_anchor)
    return math.fsum(bounds) / len(ambiguities)


@dataclass(frozen=True, slots=True)
class SupersessionGraph:
    """Supersessions that rules find between the pairs of a set of documents.

    links: direct supersessions, one per pair and rule that holds of it.
    checks: rule checks made: n·(n-1)·m, at most the |R_σ|²·m of Proposition 3 (ii).
    """

    documents: tuple[str, ...]
    links: tuple[Link, ...]
    checks: int

    @property
    def frontier(self) -> list[str]:
        """front(R_σ): the documents that none of the others supersedes, in the order given."""
        superseded = {link.superseded for link in self.links}
        return [id_ for id_ in self.documents if id_ not in superseded]

    def closure(self, anchors: Iterable[str]) -> list[str]:
        """Return the anchors and their superseders by chains within the graph, nearest first."""
        above: dict[str, list[Link]] = {}
        for link in self.links:
            above.setdefault(link.superseded, []).append(link)
        return list(reach(anchors, lambda id_: above.get(id_, ())))

    def controlling(self, anchors: Iterable[str]) -> list[str]:
        """Return the frontier as far as chains lead to it from the anchors, nearest first."""
        frontier = set(self.frontier)
        return [id_ for id_ in self.closure(anchors) if id_ in frontier]


def supersession_graph(records: Iterable[Record], rules: Sequence[Rule]) -> SupersessionGraph:
    """Apply every rule to every ordered pair of records, each id once.

    Rules alone decide: explicit edges are not known here, and whoever asks about an earlier time
    gives the records that were in force then.
    """
    members = list({record.id: record for record in records}.values())
    links: list[Link] = []
    checks = 0
    for older in members:
        for newer in members:
            for rule in rules if newer is not older else ():
                checks += 1
                if rule.holds(older, newer):
                    link = Link(older.id, newer.id, rule.name, rule.relation, rule.confidence)
                    links.append(link)
    return SupersessionGraph(tuple(record.id for record in members), tuple(links), checks)


def neighbourhood(
    anchors: Iterable[str], authority: Authority, index: EntityIndex, *, hops: int | None = 1
) -> list[Record]:
    """Return the records in force that share an entity with an anchor, the anchors first.

    hops: 1 is D_σ of the anchors (Def. 5), the paper's neighbourhood. A chain whose scopes have
    several keys can leave it, since ⇝ is transitive and sharing an entity is not. 2 adds the
    records that share an entity with those. None goes on until nothing is new and holds every chain
    of rules that `index` was built with. Raises InputError for an unknown anchor.
    """
    members = {id_: authority.record(id_) for id_ in anchors}
    shared: set[Entity] = set()
    fresh = list(members.values())
    while fresh and hops != 0:
        entities = {entity for record in fresh for entity in index.entities(record)} - shared
        shared |= entities
        ids = [id_ for id_ in index.sharing(entities) if id_ not in members]
        fresh = [authority.record(id_) for id_ in ids if authority.in_force(id_)]
        members.update((record.id, record) for record in fresh)
        hops = None if hops is None else hops - 1
    return list(members.values())
