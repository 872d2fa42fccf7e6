"""The Retrieved-Set Supersession Graph: rules on every pair of a few documents (CAR 5, 3.6).

The paper's way to the frontier, without index and oracle: n documents and m rules cost n·(n-1)·m
rule checks. `Authority` finds the same by lookups; this is what it is measured against, and what
there is for documents that no index holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from argus.authority.entities import Entity, EntityIndex
from argus.authority.links import Link
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Rule
from argus.data.documents import listed
from argus.errors import InputError


@dataclass(frozen=True, slots=True)
class SupersessionGraph:
    """What the rules say of the pairs of a set of documents."""

    documents: tuple[str, ...]
    links: tuple[Link, ...]
    """Direct supersessions, one per pair and rule that holds of it."""
    checks: int
    """Rule checks made: n·(n-1)·m, at most the |R_σ|²·m of Proposition 3 (ii)."""

    @property
    def frontier(self) -> list[str]:
        """front(R_σ): the documents that none of the others supersedes, in the order given."""
        superseded = {link.superseded for link in self.links}
        return [id_ for id_ in self.documents if id_ not in superseded]

    def closure(self, anchors: Iterable[str]) -> list[str]:
        """Return the anchors and what supersedes them by chains within the graph, nearest first.

        Raises InputError for an anchor that is none of the documents.
        """
        reached = dict.fromkeys(listed(anchors, "anchors"))
        known = set(self.documents)
        for id_ in reached:
            if id_ not in known:
                raise InputError(
                    f"anchor {id_!r} is not in the graph",
                    expected=f"one of its {len(self.documents)} documents",
                    fix="Build the graph of a neighbourhood that holds the anchor.",
                )
        above: dict[str, list[str]] = {}
        for link in self.links:
            above.setdefault(link.superseded, []).append(link.superseder)
        queue = list(reached)
        for id_ in queue:  # grows while it is read
            fresh = [newer for newer in dict.fromkeys(above.get(id_, ())) if newer not in reached]
            reached.update(dict.fromkeys(fresh))
            queue += fresh
        return queue

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
            if newer is older:
                continue
            for rule in rules:
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
    several keys can leave it, since ⇝ is transitive and sharing an entity is not; 2 adds what
    shares an entity with those, None goes on until nothing is new and holds every chain of rules
    that `index` was built with. Raises InputError for an unknown anchor and for hops below 1.
    """
    if hops is not None and hops < 1:
        raise InputError(f"hops={hops}", expected="1 or more", fix="Give None for all.")
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
