"""Exact search, and ranks of known items and their groups: those of a full sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.encoders import scoring
from argus.indexes import dense, known_item_search, search
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


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    documents, queries = rng.normal(size=(50, 8)), rng.normal(size=(20, 8))
    whole = search(queries.astype(np.float32), documents.astype(np.float32), 5)
    monkeypatch.setattr(dense, "BLOCK_BYTES", 4 * 50 * 3)
    parts = search(queries.astype(np.float32), documents.astype(np.float32), 5)
    assert np.array_equal(whole.rows, parts.rows)


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


def test_nothing_to_search_is_an_error():
    with pytest.raises(ValueError, match="0 queries over 3 documents"):
        search(np.zeros((0, 2), np.float32), np.zeros((3, 2), np.float32), 1)


def test_equal_documents_tie_by_row_with_a_stand_in_too():
    rng = np.random.default_rng(1)
    half = rng.normal(size=(250, 384)).astype(np.float32)
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    documents = np.repeat(half, 2, axis=0)  # 250 pairs of equal documents
    found = known_item_search(documents, documents, np.arange(500), 5, target_vectors=documents)
    assert found.rank.tolist() == [1, 2] * 250


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


def test_equal_vectors_tie_whatever_block_they_fall_in(monkeypatch):
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(40, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[20:] = vectors[:20]  # each is in the group of its copy's neighbour, too
    groups = Groups(np.r_[np.arange(20), np.roll(np.arange(20), 1)])
    queries, targets = rng.normal(size=(30, 384)).astype(np.float32), np.arange(30) % 40
    whole = known_item_search(queries, vectors, targets, 5, groups=groups).group_rank
    monkeypatch.setattr(dense, "BLOCK_BYTES", 4 * 40 * 7)
    parts = known_item_search(queries, vectors, targets, 5, groups=groups).group_rank
    assert np.array_equal(whole, parts)


def test_equal_documents_take_one_exact_comparison_a_query(monkeypatch):
    """Boilerplate in every parent: a call per group took a hundred times as long."""
    calls = []
    plain = scoring.DenseScoring.against
    monkeypatch.setattr(
        scoring.DenseScoring, "against", lambda *args: calls.append(args) or plain(*args)
    )
    n = 200
    vectors = np.repeat(np.array([[0.6, 0.8]], np.float32), 2 * n, axis=0)
    vectors[n:] = [0.8, -0.6]  # a second, worse row in every group
    groups, targets = Groups(np.arange(2 * n) % n), np.arange(n)
    known = known_item_search(vectors[:n], vectors, targets, 5, groups=groups)
    assert known.group_rank.tolist() == list(range(1, n + 1))
    assert len(calls) == 2 * n, "one for rows, one for groups"
    assert max(len(rows) for _, _, rows in calls) == n, "rows that are worse are left out"
