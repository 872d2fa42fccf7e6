import json

from argus.knowledge.base import Entity
from argus.knowledge.names import mention_relations
from argus.knowledge.raw import RawWriter, mention_rows
from argus.knowledge.triples import EntityRows


def test_mentions_of_real_entities_are_the_graphs(shared, file, written):
    with (shared("fb15k237") / "entities.jsonl").open() as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(2000), strict=False)]
    raw = written(EntityRows(file("e.jsonl", *map(json.dumps, rows))))
    with RawWriter(raw.work, joins=True) as into:
        mention_rows(raw.work, into)
    entities = [Entity(r["id"], r["label"], r["paragraph"]) for r in rows]
    graph = mention_relations(entities)
    pairs = {
        frozenset((e.id, entities[j].id))
        for i, e in enumerate(entities)
        for j in graph.neighbours(i)
    }
    assert {frozenset((s, o)) for s, _, o, _ in raw.relations} == pairs
    assert len(pairs) > 100
