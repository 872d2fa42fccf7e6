"""Exact search, and ranks of known items and their groups: those of a full sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.indexes import known_item_search, search
from argus.indexes.dense import Groups, RowLists
from tests.support.draws import examples
from tests.support.rows import KINDS, plain_scores


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 12))
@settings(max_examples=examples(80), deadline=None)
def test_search_is_a_full_sort_with_ties_by_row(seed, n, k):
    rng = np.random.default_rng(seed)
    documents = rng.integers(-2, 3, (n, 3)).astype(np.float32)  # small integers tie often
    queries = rng.integers(-2, 3, (4, 3)).astype(np.float32)
    top = search(queries, documents, k)
    scores = queries @ documents.T
    for row in range(4):
        expected = sorted(range(n), key=lambda d: (-scores[row, d], d))[:k]
        assert top.rows[row].tolist() == expected
        assert top.scores[row].tolist() == scores[row, expected].tolist()


def test_known_item_rank_counts_ties_before_the_target():
    documents = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    queries = np.array([[1, 0], [1, 0], [1, 0]], np.float32)
    found = known_item_search(queries, documents, np.array([0, 1, 2]), k=2)
    assert found.rank.tolist() == [1, 2, 3]
    assert found.top.rows.tolist() == [[0, 1]] * 3


def test_a_stand_in_replaces_its_target_in_one_query_only():
    documents = np.array([[1, 0], [0.8, 0.6]], np.float32)
    queries = np.array([[1, 0], [1, 0]], np.float32)
    stand_in = np.array([[0, 1], [0.8, 0.6]], np.float32)  # document 0 without what was asked
    found = known_item_search(queries, documents, np.array([0, 1]), k=1, target_vectors=stand_in)
    assert found.rank.tolist() == [2, 2]
    assert found.top.rows.tolist() == [[1], [0]]


@pytest.mark.parametrize("dtype", [np.float16, np.int8])
def test_rows_of_few_bits_rank_as_the_same_numbers_of_32(dtype):
    rng = np.random.default_rng(0)
    for _ in range(20):
        documents = (rng.normal(size=(30, 4)) * (20 if dtype is np.int8 else 1)).astype(dtype)
        targets = rng.integers(0, 30, 5)
        wide = documents.astype(np.float32)
        found = known_item_search(documents[:5], documents, targets, 3)
        expected = known_item_search(wide[:5], wide, targets, 3)
        assert np.array_equal(found.rank, expected.rank)
        assert np.array_equal(found.top.rows, expected.top.rows)
        scores = search(documents[:5], documents, 3).scores
        assert np.array_equal(scores, search(wide[:5], wide, 3).scores)


def plain_rank(scores, own, target, of, hidden):
    """Rank groups by their best scores; ties by group."""
    scores = [own if row == target else score for row, score in enumerate(scores)]
    best = {}
    for row, score in enumerate(scores):
        if row not in hidden:
            best[of[row]] = max(score, best.get(of[row], -np.inf))
    return sorted(best, key=lambda group: (-best[group], group)).index(of[target]) + 1


def whole_numbers(rng, n):
    """Vectors of small integers, which tie often."""
    return rng.integers(-2, 3, (n, 3)).astype(np.float32)


@pytest.mark.parametrize("make", [whole_numbers, *KINDS.values()], ids=["dense", *KINDS])
@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_a_group_ranks_by_its_best_row(make, seed, n, n_groups):
    rng = np.random.default_rng(seed)
    n_groups = min(n, n_groups)
    of = rng.permutation(np.r_[np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
    documents, queries, stand_ins = make(rng, n), make(rng, 5), make(rng, 5)
    targets = rng.integers(0, n, 5)
    lists = [[], *rng.integers(0, n, (3, 2)).tolist()]  # shared, and of targets, too
    of_list = rng.integers(0, 4, 5)
    hidden = RowLists.of_queries(of_list, lists)
    known = known_item_search(
        queries, documents, targets, 3,
        target_vectors=stand_ins, groups=Groups(of), hidden=hidden,
    )  # fmt: skip
    scores, own = (
        rows @ queries.T if make is whole_numbers else plain_scores(queries, rows).T
        for rows in (documents, stand_ins)
    )
    hides = [set(lists[of_list[i]]) - {targets[i]} for i in range(5)]
    expected = [plain_rank(scores[:, i], own[i, i], targets[i], of, hides[i]) for i in range(5)]
    assert known.group_rank.tolist() == expected
