"""Search with scenarios: exact against a plain reading of SPIKE eq. 3, and nothing is ever lost."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import View
from argus.indexes.snapshot import Snapshot
from tests.support.draws import examples


def unit(vectors):
    vectors = np.asarray(vectors, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def scenario_views(rng, n, dim, *, share=0.7, spread=0.6):
    """n documents of one or two own views; a share of them with one to five scenarios nearby."""
    views, vectors = [], []
    for d in range(n):
        own = rng.normal(size=dim)
        for v in range(rng.integers(1, 3)):
            views.append(View(f"d{d:04}.{v}", f"d{d:04}", "expansion" if v else "original", "t"))
            vectors.append(own + 0.3 * v * rng.normal(size=dim))
        if rng.random() < share:
            for s in range(rng.integers(1, 6)):
                views.append(View(f"d{d:04}#{s}", f"d{d:04}", "scenario", "s"))
                vectors.append(own + spread * rng.normal(size=dim))
    return views, unit(vectors)


def reference(queries, snapshot, k, weight):
    """SPIKE eq. 3 for every document in float64: one query, one document, one view at a time."""
    results = []
    for query in queries.astype(float):
        own, scenario = {}, {}
        for view, vector in zip(snapshot.views, snapshot.vectors.astype(float), strict=True):
            side = scenario if view.kind == "scenario" else own
            candidate = (-float(query @ vector), view.id)
            side[view.doc_id] = min(side.get(view.doc_id, candidate), candidate)
        ranked = []
        for doc in snapshot.doc_ids:
            if doc not in own:
                score, best = -scenario[doc][0], scenario[doc][1]
            else:
                score, best = -own[doc][0], own[doc][1]
                if doc in scenario:
                    score = weight * score + (1 - weight) * -scenario[doc][0]
            ranked.append((-score, doc, best, scenario.get(doc, (0, ""))[1]))
        results.append([(doc, -s, view, name) for s, doc, view, name in sorted(ranked)[:k]])
    return results


def found(snapshot, queries, k, weight):
    top = snapshot.search(queries, k, weight)
    return [
        [(d, s, v, snapshot.best_scenario(q, d)) for d, s, v in zip(*row, strict=True)]
        for q, *row in zip(queries, top.doc_ids, top.scores, top.view_ids, strict=True)
    ]


def same(left, right):
    for a, b in zip(left, right, strict=True):
        assert [(x[0], x[2], x[3]) for x in a] == [(x[0], x[2], x[3]) for x in b]
        np.testing.assert_allclose([x[1] for x in a], [x[1] for x in b], atol=1e-6)


@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.9, 1.0]),
    st.integers(1, 12),
    st.sampled_from([0.05, 0.4, 1.5]),
)
@settings(max_examples=examples(120), deadline=None)
def test_search_is_equation_three_for_every_document(seed, n, weight, k, spread):
    rng = np.random.default_rng(seed)
    views, vectors = scenario_views(rng, n, 8, spread=spread)
    snapshot = Snapshot.of(
        [*views, View("z", "z", "scenario", "s")], np.concatenate([vectors, vectors[:1]])
    )
    queries = unit(rng.normal(size=(3, 8)))
    same(found(snapshot, queries, k, weight), reference(queries, snapshot, k, weight))


@given(st.integers(0, 10**6), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_no_pattern_of_failures_removes_a_document_from_search(seed, data):
    """Whichever are missing, every document has a place; without any, its own score."""
    rng = np.random.default_rng(seed)
    views, vectors = scenario_views(rng, 25, 6, share=1.0)
    owners = sorted({v.doc_id for v in views})
    failed = set(data.draw(st.lists(st.sampled_from(owners), unique=True)))
    lost = set(data.draw(st.lists(st.sampled_from([v.id for v in views if v.kind == "scenario"]))))
    kept = [
        i
        for i, v in enumerate(views)
        if v.kind != "scenario" or (v.doc_id not in failed and v.id not in lost)
    ]
    snapshot = Snapshot.of([views[i] for i in kept], vectors[kept])
    weight = data.draw(st.floats(0, 1))
    queries = unit(rng.normal(size=(2, 6)))
    top = snapshot.search(queries, len(owners), weight)
    alone = Snapshot.of(
        [v for v in views if v.kind != "scenario"],
        vectors[[v.kind != "scenario" for v in views]],
    ).search(queries, len(owners))
    for row in range(2):
        assert sorted(top.doc_ids[row]) == owners
        own = dict(zip(alone.doc_ids[row], alone.scores[row], strict=True))
        scores = dict(zip(top.doc_ids[row], top.scores[row], strict=True))
        assert all(scores[doc] == own[doc] for doc in failed)


@given(st.integers(0, 10**6), st.floats(0, 1))
@settings(max_examples=examples(40), deadline=None)
def test_ranks_are_places_in_the_full_ranking(seed, weight):
    rng = np.random.default_rng(seed)
    views, vectors = scenario_views(rng, 20, 5)
    snapshot = Snapshot.of(views, vectors)
    queries = unit(rng.normal(size=(6, 5)))
    full = snapshot.search(queries, len(snapshot), weight).doc_ids
    targets = [snapshot.doc_ids[i] for i in rng.integers(0, len(snapshot), 6)]
    expected = [ranked.index(t) + 1 for ranked, t in zip(full, targets, strict=True)]
    assert snapshot.ranks(queries, targets, weight).tolist() == expected
