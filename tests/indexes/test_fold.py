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


def reference(queries, snapshot, k):
    """Score every view in float64, keep each document's best, sort: one query at a time."""
    results = []
    for query in queries.astype(float):
        best = {}
        for view, vector in zip(snapshot.views, snapshot.vectors.astype(float), strict=True):
            candidate = (-float(query @ vector), view.id)
            best[view.doc_id] = min(best.get(view.doc_id, candidate), candidate)
        ranked = sorted((score, doc, view) for doc, (score, view) in best.items())
        results.append([(doc, -score, view) for score, doc, view in ranked[:k]])
    return results


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 12))
@settings(max_examples=examples(100), deadline=None)
def test_search_takes_the_best_view_with_ties_by_id(seed, n, k):
    rng = np.random.default_rng(seed)
    owners = rng.permutation(list(enumerate(rng.integers(0, max(1, n // 2), n))))
    vectors = rng.integers(-2, 3, (n, 3)).astype(np.float32)  # small integers tie often
    queries = rng.integers(-2, 3, (4, 3)).astype(np.float32)
    snapshot = Snapshot.of(views(owners), vectors)
    top = snapshot.search(queries, k)
    expected = reference(queries, snapshot, k)
    for row in range(4):
        found = zip(top.doc_ids[row], top.scores[row], top.view_ids[row], strict=True)
        assert list(found) == expected[row]


@given(st.integers(0, 10**6), st.integers(1, 30))
@settings(max_examples=examples(60), deadline=None)
def test_ranks_are_places_in_the_full_ranking(seed, n):
    rng = np.random.default_rng(seed)
    snapshot = Snapshot.of(
        views(list(enumerate(rng.integers(0, max(1, n // 2), n)))),
        rng.integers(-2, 3, (n, 3)).astype(np.float32),
    )
    queries = rng.integers(-2, 3, (6, 3)).astype(np.float32)
    targets = [snapshot.doc_ids[i] for i in rng.integers(0, len(snapshot), 6)]
    full = snapshot.search(queries, n).doc_ids
    expected = [ranked.index(target) + 1 for ranked, target in zip(full, targets, strict=True)]
    assert snapshot.ranks(queries, targets).tolist() == expected


def unit(rng, n, dim=384):
    vectors = rng.normal(size=(n, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_equal_vectors_tie_by_document_wherever_they_lie():
    rng = np.random.default_rng(0)
    half = unit(rng, 150)
    owners = [(i, i % 60) for i in range(300)]  # view i equals view i + 150 of another document
    snapshot = Snapshot.of(views(owners), np.concatenate([half, half]))
    queries = unit(rng, 60)
    top = snapshot.search(queries, 60)
    expected = reference(queries, snapshot, 60)
    assert top.doc_ids == [[doc for doc, _, _ in row] for row in expected]
    assert top.view_ids == [[view for _, _, view in row] for row in expected]
    assert np.allclose(top.scores, [[score for _, score, _ in row] for row in expected])
    assert any(a == b for row in top.scores for a, b in itertools.pairwise(row))


def test_wrong_queries_are_named():
    snapshot = Snapshot.of(views([(0, 0)]), np.array([[1, 0]], np.float32))
    with pytest.raises(InputError, match=r"shape \(1, 3\); expected \(n, 2\)"):
        snapshot.search(np.ones((1, 3), np.float32), 1)
    with pytest.raises(InputError, match="1 query vectors are not finite"):
        snapshot.search(np.array([[np.nan, 0]], np.float32), 1)
    with pytest.raises(InputError, match="k=0; expected a whole number from 1"):
        snapshot.search(np.ones((1, 2), np.float32), 0)
    with pytest.raises(InputError, match="1 unknown document id: 'd9'"):
        snapshot.ranks(np.ones((1, 2), np.float32), ["d9"])
