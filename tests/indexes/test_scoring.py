"""Rows of every family against the plain definition of their scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import View
from argus.indexes import exact, known_item_search, search
from argus.indexes.exact import scoring_of
from argus.indexes.snapshot import Snapshot
from tests.support.rows import KINDS, WITH_DENSE, plain_scores, token_rows

kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
SEED = st.integers(0, 10**6)


@kinds
@given(SEED, st.integers(1, 20))
@settings(max_examples=25, deadline=None)
def test_scores_are_those_of_the_definition(make, seed, n):
    rng = np.random.default_rng(seed)
    queries, documents = make(rng, 5, whole=False), make(rng, n, whole=False)
    scoring, expected = scoring_of(documents), plain_scores(queries, documents)
    assert np.abs(scoring.products(queries) - expected).max() <= scoring.bound(queries)
    for i in range(5):
        against = scoring.against(queries[i : i + 1], np.arange(n))
        np.testing.assert_allclose(against, expected[i], rtol=1e-12)
        pairs = scoring.pairs(queries[np.full(n, i)], documents)
        np.testing.assert_array_equal(pairs, against)


@pytest.mark.parametrize("make", WITH_DENSE.values(), ids=WITH_DENSE)
@given(SEED, st.integers(2, 20), st.integers(1, 25))
@settings(max_examples=25, deadline=None)
def test_a_search_is_a_full_sort_with_ties_by_row(make, seed, n, k):
    rng = np.random.default_rng(seed)
    queries, documents = make(rng, 6), make(rng, n)
    targets, stand_ins = rng.integers(0, n, 6), make(rng, 6)
    expected = plain_scores(queries, documents)
    top = search(queries, documents, k)
    assert top.rows.tolist() == [_sorted(scores, k) for scores in expected]
    np.testing.assert_allclose(top.scores, -np.sort(-expected, axis=1)[:, :k], rtol=1e-6)
    own = plain_scores(queries, stand_ins).diagonal()
    for i in range(6):
        expected[i, targets[i]] = own[i]
    known = known_item_search(queries, documents, targets, k, target_vectors=stand_ins)
    assert known.top.rows.tolist() == [_sorted(scores, k) for scores in expected]
    places = [_sorted(scores, n).index(t) + 1 for scores, t in zip(expected, targets, strict=True)]
    assert known.rank.tolist() == places
    higher = [(scores > o).sum() for scores, o in zip(expected, own, strict=True)]
    assert known.above.tolist() == higher


def _sorted(scores, k):
    return sorted(range(len(scores)), key=lambda d: (-scores[d], d))[:k]


@kinds
def test_blocks_change_nothing(make, monkeypatch):
    rng = np.random.default_rng(0)
    queries, documents = make(rng, 30, whole=False), make(rng, 50, whole=False)
    targets = rng.integers(0, 50, 30)
    whole = known_item_search(queries, documents, targets, 50)
    monkeypatch.setattr(exact, "BLOCK_BYTES", 4 * 50 * 3)
    monkeypatch.setattr(exact, "BLOCK_TOKENS", 7)
    monkeypatch.setattr(exact, "PAIR_BYTES", 4 * 7 * 5)
    parts = known_item_search(queries, documents, targets, 50)
    np.testing.assert_array_equal(whole.rank, parts.rank)


def test_equal_texts_tie_though_their_products_are_rounded():
    rng = np.random.default_rng(1)
    half = token_rows(rng, 40, whole=False)
    documents = half[np.repeat(np.arange(40), 2)]
    ranks = known_item_search(documents, documents, np.arange(80), 3).rank
    own = scoring_of(documents).pairs(documents, documents)
    every = plain_scores(documents, documents)
    above = [(every[i] > own[i] + 1e-9).sum() for i in range(80)]
    assert (ranks - above).tolist() == [1, 2] * 40


@pytest.mark.parametrize("power", [-60, -66, -70, -72])
def test_tiny_vectors_rank_as_long_ones_do(power):
    """Their products are below what float32 holds in full."""
    rng = np.random.default_rng(0)
    documents, queries = (rng.normal(size=(n, 16)).astype(np.float32) for n in (300, 30))
    one, tiny = np.float32(1), np.float32(2.0**power)
    long, small = (
        known_item_search(queries * by, documents * by, np.arange(30), 3).rank for by in (one, tiny)
    )
    np.testing.assert_array_equal(small, long)
    views = [View(f"d{i:03}", f"d{i:03}", "original", "t") for i in range(300)]
    found, same = (
        Snapshot.of(views, documents * by).search(queries * by, 20).doc_ids for by in (one, tiny)
    )
    assert same == found
