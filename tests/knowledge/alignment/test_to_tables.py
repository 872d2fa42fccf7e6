import hashlib

import pytest

from argus.errors import InputError
from tests.knowledge.alignment.worlds import finished, write_raw


def entity(id_: str | None, label: str | None = None, paragraph: str | None = "some words"):
    return (id_, id_ if label is None else label, None, None, paragraph)


def edges(*pairs: str, source: str = "triples", property_: str | None = "p"):
    return [(pair[0], property_, pair[1], source) for pair in pairs]


def test_a_relation_is_dropped_for_the_first_reason_that_holds(tmp_path):
    write_raw(
        tmp_path,
        entities=[entity("a"), entity("b")],
        relations=[
            *edges("ab", "ab", "ba", "aa", "aa", "ax", "xa", "xx"),
            *(("a", "p", None, "triples"), (None, None, None, "triples")),
            *edges("ab", "ab", property_=None),
            *edges("ab", source="hyperlink"),
        ],
    )
    tables, counts = finished(tmp_path)
    assert tables.rows["relations"] == [
        ("a", "", "b", "triples"),
        ("a", "p", "b", "hyperlink"),
        ("a", "p", "b", "triples"),
        ("b", "p", "a", "triples"),
    ]
    assert counts["relations"] == {"hyperlink": 1, "triples": 3}
    assert counts["dropped"]["relations"] == {
        "triples": {"to no entity": 5, "self-loop": 2, "duplicate": 2}
    }


@pytest.mark.parametrize(
    ("sources", "graph", "related"),
    [
        (("wikidata", "hyperlink", "mention"), "wikidata", {"a": 1, "b": 1, "c": 0, "d": 0}),
        (("triples", "hyperlink"), "triples", {"a": 1, "b": 1, "c": 0, "d": 0}),
        (("hyperlink", "mention"), "hyperlink", {"a": 0, "b": 1, "c": 1, "d": 0}),
        (("mention",), "mention", {"a": 0, "b": 0, "c": 1, "d": 1}),
        ((), "mention", {"a": 0, "b": 0, "c": 0, "d": 0}),
    ],
)
def test_related_entities_are_of_the_first_source_there_is(tmp_path, sources, graph, related):
    pairs = {"wikidata": "ab", "triples": "ba", "hyperlink": "bc", "mention": "cd"}
    relations = [edge for name in sources for edge in edges(pairs[name], source=name)]
    write_raw(tmp_path, entities=map(entity, "abcd"), relations=relations)
    tables, counts = finished(tmp_path)
    assert counts["graph"] == graph
    assert tables.by_id("related") == related
    assert tables.by_id("target") == {id_: n > 0 for id_, n in related.items()}
    assert counts["targets"] == sum(n > 0 for n in related.values())


RING = [entity(f"e{i:02d}") for i in range(40)]
RING_EDGES = [(f"e{i:02d}", "p", f"e{(i + 1) % 40:02d}", "triples") for i in range(40)]


def drawn_by_hand(n: int, seed: int) -> set[str]:
    ids = [row[0] for row in RING]
    return set(sorted(ids, key=lambda id_: hashlib.md5(f"{seed}:{id_}".encode()).hexdigest())[:n])


@pytest.mark.parametrize("seed", [0, 1, -7])
def test_a_sample_is_drawn_by_md5_with_its_related_entities(tmp_path, seed):
    write_raw(
        tmp_path,
        entities=RING,
        relations=[*RING_EDGES, ("e00", "p", "e20", "mention")],
        aliases=[(row[0], "alias", "alias") for row in RING],
        redirects=[(f"to {row[0]}", row[0], row[0]) for row in RING],
    )
    tables, counts = finished(tmp_path, sample=5, seed=seed)
    drawn = drawn_by_hand(5, seed)
    neighbours = {o for s, _, o, _ in RING_EDGES if s in drawn} | {
        s for s, _, o, _ in RING_EDGES if o in drawn
    }
    entities = drawn | neighbours
    assert {id_ for id_, target in tables.by_id("target").items() if target} == drawn
    assert set(tables.by_id("id")) == entities == {row[0] for row in tables.rows["aliases"]}
    assert [row[2] for row in tables.rows["redirects"]] == [
        row[0] if row[0] in entities else None for row in RING
    ]
    inside = [(s, p, o, source) for s, p, o, source in RING_EDGES if {s, o} <= entities]
    assert [row for row in tables.rows["relations"] if row[3] == "triples"] == inside
    assert counts["dropped"]["entities"] == {"not sampled": 40 - len(entities)}
    assert counts["dropped"]["relations"]["triples"] == {"not sampled": 40 - len(inside)}
    assert all(tables.by_id("related")[id_] == 2 for id_ in drawn)


def test_a_larger_sample_holds_the_smaller_and_all_is_all(tmp_path):
    write_raw(tmp_path, entities=RING, relations=RING_EDGES)
    targets = []
    for sample in (3, 10, 99, None):
        tables, _ = finished(tmp_path, sample=sample)
        targets.append({id_ for id_, is_one in tables.by_id("target").items() if is_one})
    assert [len(some) for some in targets] == [3, 10, 40, 40]
    assert targets[0] < targets[1] < targets[2] == targets[3]


def test_nothing_left_says_what_became_of_all(tmp_path):
    write_raw(tmp_path, entities=[entity("a", ""), entity("b", paragraph=None)])
    with pytest.raises(InputError, match=r"no label: 1, no paragraph: 1.*at least one with an id"):
        finished(tmp_path)
    with pytest.raises(InputError, match="no entity is left \\(there was none\\)"):
        finished(tmp_path / "empty")
