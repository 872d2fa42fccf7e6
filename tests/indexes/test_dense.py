"""Exact search of rows of few bits, and ranks of groups of rows: those of a full sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.indexes import known_item_search
from argus.indexes.exact import Groups, RowLists
from tests.support.rows import WITH_DENSE, plain_scores


@pytest.mark.parametrize("dtype", [np.float16, np.int8])
def test_rows_of_few_bits_rank_as_the_same_numbers_of_32(dtype):
    rng = np.random.default_rng(0)
    for _ in range(20):
        few = (rng.normal(size=(30, 4)) * (20 if dtype is np.int8 else 1)).astype(dtype)
        wide, targets = few.astype(np.float32), rng.integers(0, 30, 5)
        found, expected = (known_item_search(d[:5], d, targets, 3) for d in (few, wide))
        assert np.array_equal(found.rank, expected.rank)
        assert np.array_equal(found.top.rows, expected.top.rows)
        assert np.array_equal(found.top.scores, expected.top.scores)


def plain_rank(scores, own, target, of, hidden):
    """Rank groups by their best scores; ties by group."""
    scores = [own if row == target else score for row, score in enumerate(scores)]
    best = {}
    for row, score in enumerate(scores):
        if row not in hidden:
            best[of[row]] = max(score, best.get(of[row], -np.inf))
    return sorted(best, key=lambda group: (-best[group], group)).index(of[target]) + 1


@pytest.mark.parametrize("make", WITH_DENSE.values(), ids=WITH_DENSE)
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
    scores, own = (plain_scores(queries, rows).T for rows in (documents, stand_ins))
    hides = [set(lists[of_list[i]]) - {targets[i]} for i in range(5)]
    expected = [plain_rank(scores[:, i], own[i, i], targets[i], of, hides[i]) for i in range(5)]
    assert known.group_rank.tolist() == expected
