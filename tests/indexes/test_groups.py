"""Ranks of groups are those of a full sort, by the best row of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.encoders import scoring
from argus.indexes import dense, known_item_search
from argus.indexes.groups import Groups, RowLists
from tests.support.rows import KINDS, plain_scores


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
