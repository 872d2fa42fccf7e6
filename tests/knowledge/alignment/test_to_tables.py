import hashlib

import pytest

from argus.errors import InputError
from tests.knowledge.alignment.worlds import finished, write_raw


def entity(id_: str | None, label: str | None = None, paragraph: str | None = "some words"):
    return (id_, id_ if label is None else label, None, None, paragraph)


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
        relations=[*RING_EDGES, ("e00", "p", "e20", "hyperlink")],
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
