"""The kernel on a complete real knowledge graph: FB15k-237 with Wikipedia openings."""

import csv
import itertools
import json

import numpy as np
import pytest
from scipy.stats import hypergeom

from argus.corpora.opening import read_corpus
from argus.encoders import EmbeddingStore, EncoderConfig, documents
from argus.encoders.store import stored_fingerprint
from argus.knowledge import KnowledgeSource, RelationGraph, ground, load_knowledge
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.job import audit
from argus.retrievability.ranks import pair_ranks

LIMIT = 700
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
    base, source = load_knowledge(read_corpus(fb15k237), KnowledgeSource(), corpus=fb15k237)
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


@pytest.mark.slow
def test_an_audit_of_real_entities_is_the_definition_in_full(fb15k237, tmp_path):
    """RPS_25 at N=400 of 700 entities, from dense float64 similarities and scipy's tail.

    The whole set's mean is in the benchmarks (`exact_rps`).
    """
    result = audit(
        fb15k237,
        out=tmp_path,
        encoder=EncoderConfig(precision="float32"),
        config=AuditConfig(k=(25,), pool=(400,), pooling="sentence"),
        limit=LIMIT,
    )
    with (fb15k237 / "entities.jsonl").open(encoding="utf-8") as file:
        rows = sorted(map(json.loads, itertools.islice(file, LIMIT)), key=lambda row: row["id"])
    told = [row for row in rows if row["paragraph"]]
    expected = rps_in_full(vectors_of(told, tmp_path), told, fb15k237)
    found = {row["id"]: row["rps"] for row in result.table.to_pylist() if row["rps"] is not None}
    assert found == pytest.approx(expected, abs=1e-7) and len(found) > 450
    summary, scores = result.summary, np.array(list(expected.values()))
    assert summary["mean_rps"] == pytest.approx(scores.mean(), abs=1e-6)
    assert summary["share_below_0.33"] == pytest.approx((scores < 0.33).mean(), abs=1e-6)
    above = [(scores > 0.5 + e).mean() for e in (1e-9, -1e-9)]  # 1 of 2 is half, give or take
    assert above[0] - 1e-6 <= summary["share_above_0.5"] <= above[1] + 1e-6
    assert summary["entities"]["reasons"]["no paragraph"] == len(rows) - len(told) > 0
    assert summary["entities"]["failed"] == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"{summary['mean_rps']:.3f}" in page and page.count("<svg") >= 4


def vectors_of(rows, folder):
    """What the audit embedded, in the order of the rows: grounded paragraphs."""
    texts = [ground(row["label"], row["paragraph"]).text for row in rows]
    path = folder / "embeddings"
    with EmbeddingStore(path, fingerprint=stored_fingerprint(path), dim=384) as store:
        return store.gather([item.key for item in documents(texts)]).astype(np.float64)


def rps_in_full(vectors, rows, folder, k=25, draws=399):
    """RPS by id: of every related t, all that is not related to t, by similarity, then by id."""
    position = {row["id"]: i for i, row in enumerate(rows)}
    related = np.zeros((len(rows), len(rows)), bool)
    with (folder / "edges.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["subject"] in position and row["object"] in position:
                s, o = position[row["subject"]], position[row["object"]]
                related[s, o] = related[o, s] = s != o
    similarity = vectors @ vectors.T
    neutral = ~(related | np.eye(len(rows), dtype=bool))
    hits = np.full(related.shape, np.nan)  # by t, x
    for t in range(len(rows)):
        others = np.flatnonzero(neutral[t])
        if len(others) < draws:
            continue
        xs = np.flatnonzero(related[t])
        nearer = similarity[t, others] - similarity[t, xs, None]
        above = (nearer > 1e-12) | ((abs(nearer) <= 1e-12) & (others < xs[:, None]))
        hits[t, xs] = hypergeom.cdf(k - 1, len(others), above.sum(axis=1), draws)
    scored = np.flatnonzero(~np.isnan(hits).all(axis=0))
    return {rows[x]["id"]: float(np.nanmean(hits[:, x])) for x in scored}
