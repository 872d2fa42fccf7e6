"""Search by the best view of each document: exact against a plain reading of SPIKE eq. 3."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import View
from argus.errors import InputError
from argus.indexes.snapshot import Snapshot
from tests.support.draws import examples


def views(owners):
    return [View(f"v{i:03}", f"d{owner:02}", "original", f"text {i}") for i, owner in owners]


def unit(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


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


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 12))
@settings(max_examples=examples(100), deadline=None)
def test_search_takes_the_best_view_with_ties_by_id(seed, n, k):
    rng = np.random.default_rng(seed)
    owners = rng.permutation(list(enumerate(rng.integers(0, max(1, n // 2), n))))
    vectors = rng.integers(-2, 3, (n, 3)).astype(np.float32)  # small integers tie often
    queries = rng.integers(-2, 3, (4, 3)).astype(np.float32)
    snapshot = Snapshot.of(views(owners), vectors)
    assert found(snapshot, queries, k, 0.7) == reference(queries, snapshot, k, 0.7)
    full = snapshot.search(queries, n).doc_ids
    targets = [snapshot.doc_ids[i] for i in rng.integers(0, len(snapshot), 4)]
    expected = [ranked.index(target) + 1 for ranked, target in zip(full, targets, strict=True)]
    assert snapshot.ranks(queries, targets).tolist() == expected


@given(
    st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.9, 1.0]),
    st.integers(1, 62), st.sampled_from([0.05, 0.4, 1.5]),
)  # fmt: skip
@settings(max_examples=examples(120), deadline=None)
def test_search_is_equation_three_for_every_document(seed, n, weight, k, spread):
    rng = np.random.default_rng(seed)
    views, vectors = scenario_views(rng, n, 8, spread=spread)
    snapshot = Snapshot.of(
        [*views, View("z", "z", "scenario", "s")], np.concatenate([vectors, vectors[:1]])
    )
    queries = unit(rng.normal(size=(3, 8)))
    same(found(snapshot, queries, k, weight), reference(queries, snapshot, k, weight))
    full = snapshot.search(queries, n + 1, weight).doc_ids
    targets = [snapshot.doc_ids[i] for i in rng.integers(0, n + 1, 3)]
    expected = [ranked.index(target) + 1 for ranked, target in zip(full, targets, strict=True)]
    assert snapshot.ranks(queries, targets, weight).tolist() == expected


def test_equal_vectors_tie_by_document_wherever_they_lie():
    rng = np.random.default_rng(0)
    half = unit(rng.normal(size=(150, 384)))
    owners = [(i, i % 60) for i in range(300)]  # view i equals view i + 150 of another document
    snapshot = Snapshot.of(views(owners), np.concatenate([half, half]))
    queries = unit(rng.normal(size=(60, 384)))
    ranked = found(snapshot, queries, 60, 0.7)
    same(ranked, reference(queries, snapshot, 60, 0.7))
    assert any(a[1] == b[1] for row in ranked for a, b in itertools.pairwise(row))


@pytest.mark.parametrize(
    ("query", "k", "message"),
    [
        ([[1, 1, 1]], 1, r"shape \(1, 3\); expected \(n, 2\)"),
        ([[np.nan, 0]], 1, "1 query vectors are not finite"),
        ([[1, 1]], 0, "k=0; expected a whole number from 1"),
    ],
)
def test_wrong_queries_are_named(query, k, message):
    snapshot = Snapshot.of(views([(0, 0)]), np.array([[1, 0]], np.float32))
    with pytest.raises(InputError, match=message):
        snapshot.search(np.array(query, np.float32), k)
