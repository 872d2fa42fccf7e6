"""Relations by mention: one entity's paragraph names another (ARGUS §3.1, no relations given)."""

from __future__ import annotations

from pathlib import Path

from argus.data.kb import MENTION
from argus.knowledge.base import Entity
from argus.knowledge.mentions import mention_relations
from argus.knowledge.sources.raw import RawWriter


def mention_rows(work: Path, into: RawWriter) -> dict[str, int]:
    """Relate the raw entities in `work` by exact mention; return how many pairs were related.

    Each pair is written once, whichever names the other, the smaller id as its subject: the order
    of the raw entities, which a database does not keep, changes nothing. All entities are held in
    memory with their paragraphs, and an automaton over their names: count on 3 KiB an entity.
    `into` may be the writer that was given these entities.
    """
    entities = [
        Entity(id_, label, paragraph)
        for batch in into.batches("entities", ["id", "label", "paragraph"])
        for id_, label, paragraph in zip(*(c.to_pylist() for c in batch.columns), strict=True)
    ]
    entities.sort(key=lambda entity: entity.id)
    graph = mention_relations(entities)
    pairs = 0
    for i, entity in enumerate(entities):
        for other in graph.neighbours(i):
            if i < other:
                into.add_relation(entity.id, MENTION, entities[other].id, MENTION)
                pairs += 1
    return {MENTION: pairs}
