"""The kernel on a complete real knowledge graph: FB15k-237 with Wikipedia openings."""

import csv
import json

import numpy as np
import pytest

from argus.corpora.opening import open_corpus
from argus.knowledge import KnowledgeSource, RelationGraph, read_knowledge
from argus.retrievability.ranks import pair_ranks

SKA = "/m/06rqw"
# How many of the slice's unrelated entities are closer to Ska's neighbour than Ska is.
EXPECTED = {
    "Bob Marley & The Wailers": 0,
    "Amy Winehouse": 3,
    "Chicago": 26,
    "Calle 13": 64,
    "Gwen Stefani": 122,
}


@pytest.fixture(scope="module")
def fb15k237(shared):
    return shared("fb15k237")


def test_the_graph_has_the_published_counts(fb15k237):
    knowledge = read_knowledge(open_corpus(fb15k237), KnowledgeSource())
    base, source = knowledge.base, knowledge.relations
    assert source == fb15k237 / "edges.tsv"  # found beside the corpus
    assert len(base.entities) == 14_541
    assert base.relations.triples == 272_115
    assert base.relations.n_pairs == 421_892
    assert (base.relations.degree == 0).sum() == 36  # "36 entities have no training edge"


def test_a_fixed_slice_by_hand(fb15k237, minilm):
    """Ska and its 16 neighbours among 300 entities: each rank read off a full sort."""
    with (fb15k237 / "entities.jsonl").open(encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["paragraph"]]
    with (fb15k237 / "edges.tsv").open(encoding="utf-8") as file:
        edges = [(r["subject"], r["object"]) for r in csv.DictReader(file, delimiter="\t")]
    related = {o if s == SKA else s for s, o in edges if SKA in (s, o)}
    chosen = [r for r in rows if r["id"] in related | {SKA}]
    chosen += [r for r in rows if r["id"] not in related | {SKA}][: 300 - len(chosen)]
    chosen.sort(key=lambda r: r["id"])
    position = {r["id"]: i for i, r in enumerate(chosen)}
    inside = [(position[s], position[o]) for s, o in edges if s in position and o in position]
    ends = np.array(inside)
    vectors = minilm.encode_documents([r["paragraph"] for r in chosen])
    ranks = pair_ranks(vectors, RelationGraph.from_edges(300, ends[:, 0], ends[:, 1]))

    x = position[SKA]
    mine = ranks.entity == x
    above, pool = ranks.above[mine], ranks.pool[mine]
    similarity = vectors.astype(float) @ vectors.T.astype(float)
    for t, r, m in zip(ranks.related[mine], above, pool, strict=True):
        linked = {b for a, b in inside if a == t} | {a for a, b in inside if b == t}
        competitors = [z for z in range(300) if z not in linked - {x} and z != t]
        ranking = sorted(competitors, key=lambda z: (-similarity[t, z], z))
        assert (ranking.index(x), len(ranking) - 1) == (r, m)
    names = [chosen[t]["label"] for t in ranks.related[mine]]
    assert len(names) == 16
    counted = dict(zip(names, above.tolist(), strict=True))
    # Another processor's rounding of the encoder may swap two neighbours in rank.
    assert {name: counted[name] for name in EXPECTED} == pytest.approx(EXPECTED, abs=1)
