import json

from argus.knowledge.base import Entity
from argus.knowledge.mentions import mention_relations
from argus.knowledge.sources import EntityRows, RawWriter, mention_rows

ROWS = [
    {"id": "bern", "label": "Bern", "text": "Bern lies on the Aare."},
    {"id": "aare", "label": "Aare", "text": "The Aare flows through Bern and into the Rhine."},
    {"id": "rhine", "label": "Rhine", "text": "A river."},
]
MENTIONED = {("aare", "mention", "bern", "mention"), ("aare", "mention", "rhine", "mention")}


def test_pairs_that_name_one_another_are_related_once(file, written):
    source = EntityRows(file("e.jsonl", *map(json.dumps, ROWS)))
    raw = written(source)
    for _ in range(2):  # a step that is run again adds nothing
        with RawWriter(raw.work) as into:
            assert mention_rows(raw.work, into) == {"mention": 2}
        assert dict(raw.relations) == dict.fromkeys(MENTIONED, 1)
        assert len(raw.entities) == 3


def test_the_order_of_entities_changes_nothing(file, written, tmp_path):
    pairs = []
    for name, rows in (("one", ROWS), ("two", ROWS[::-1])):
        raw = written(EntityRows(file(f"{name}.jsonl", *map(json.dumps, rows))), tmp_path / name)
        with RawWriter(raw.work) as into:
            mention_rows(raw.work, into)
        pairs.append(raw.rows("relations"))
    assert pairs[0] == pairs[1]
    assert all(row["subject"] < row["object"] for row in pairs[0])


def test_one_writer_may_take_the_entities_and_their_mentions(file, tmp_path):
    with RawWriter(tmp_path) as into:
        EntityRows(file("e.jsonl", *map(json.dumps, ROWS))).write(into)
        assert mention_rows(tmp_path, into) == {"mention": 2}
    assert into.counts == {"entities": 3, "relations": 2, "aliases": 0, "redirects": 0}


def test_mentions_of_real_entities_are_the_graphs(shared, file, written):
    with (shared("fb15k237") / "entities.jsonl").open() as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(2000), strict=False)]
    raw = written(EntityRows(file("e.jsonl", *map(json.dumps, rows))))
    with RawWriter(raw.work) as into:
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
