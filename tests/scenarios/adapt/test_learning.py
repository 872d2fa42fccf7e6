"""Learning a correction of queries: it finds one that is there, and none that is not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.scenarios.adapt import (
    ALPHAS,
    AdaptConfig,
    Examples,
    fold_of,
    held_out_gain,
    learn,
    low_rank,
    reciprocal_ranks,
)
from tests.support.draws import examples

QUICK = AdaptConfig(rank=4, epochs=30, folds=3, negatives=200, learning_rate=1e-2)


def unit(rows):
    rows = np.asarray(rows, np.float64)
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def twisted(n=300, dim=24, seed=0, noise=0.25):
    """Documents, and queries that see three of their directions the other way round."""
    rng = np.random.default_rng(seed)
    documents = unit(rng.normal(size=(n, dim)) * np.linspace(2.0, 0.5, dim))
    seen = documents + noise * unit(rng.normal(size=(n, dim)))
    seen[:, :3] *= -1
    return documents, unit(seen)


def test_a_correction_that_is_there_reaches_other_documents():
    documents, queries = twisted()
    some = Examples(documents, queries[:150], np.arange(150))
    learnt = learn(some, QUICK)
    gain = held_out_gain(learnt, some, 0)
    assert gain.verdict == "better" and learnt.alpha > 0
    assert gain.mean_after > gain.mean_before + 0.2
    unseen = Examples(documents, queries[150:], np.arange(150, 300))
    moves = (unseen.queries @ learnt.w) @ learnt.u.T
    ranks = reciprocal_ranks(unseen, moves)
    assert ranks[1 + ALPHAS.index(learnt.alpha)].mean() > ranks[0].mean() + 0.2
    assert learnt.u.shape == learnt.w.shape == (24, 4)


@pytest.mark.parametrize("seed", range(4))
def test_needs_without_meaning_teach_nothing(seed):
    documents, queries = twisted(seed=seed)
    wrong = np.random.default_rng(seed).permutation(150)
    some = Examples(documents, queries[:150], wrong)
    assert held_out_gain(learn(some, QUICK), some, 0).verdict != "better"


def test_equal_seeds_learn_equally():
    documents, queries = twisted()
    some = Examples(documents, queries[:60], np.arange(60))
    one, same, other = (learn(some, replace(QUICK, seed=seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.u, same.u)
    assert not np.array_equal(one.u, other.u)


def test_a_query_is_never_learnt_from_a_fold_that_judges_it():
    rng = np.random.default_rng(0)
    documents, queries = twisted(n=40)
    targets = rng.integers(40, size=30)
    folds = fold_of(Examples(documents, queries[:30], targets), QUICK)
    assert (folds[targets] >= 0).all() and (folds >= 0).sum() == len(set(targets))
    assert set(folds) <= {-1, 0, 1, 2} and len(set(folds[targets])) == 3


def defined(some, moves, alpha):
    """1 / rank of the best own document among those that are not the query's, in float64."""
    out = []
    for i, query in enumerate(some.queries.astype(float)):
        scores = some.documents.astype(float) @ (query + alpha * moves[i])
        best, others = scores[some.targets[i]], np.delete(scores, some.targets[i])
        out.append(1 / (1 + (others > best + 1e-5).sum()))
    return np.array(out)


@given(st.integers(0, 10**6))
@settings(max_examples=examples(40), deadline=None)
def test_ranks_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    documents = unit(rng.normal(size=(50, 8)))
    documents[7] = documents[3]  # one document twice
    targets = rng.integers(50, size=12)
    some = Examples(documents, unit(rng.normal(size=(12, 8))), targets)
    moves = rng.normal(size=(12, 8)).astype(np.float32)
    ranks = reciprocal_ranks(some, moves)
    for i, alpha in enumerate((0.0, *ALPHAS)):
        np.testing.assert_allclose(ranks[i], defined(some, moves, alpha))


@pytest.mark.parametrize("rank", [3, 9])
def test_a_mean_is_cut_to_the_nearest_of_its_rank(rank):
    u, w = np.random.default_rng(0).normal(size=(2, 12, 6))
    left, values, right = np.linalg.svd(u @ w.T)
    a, b = low_rank(u.astype(np.float32), w.astype(np.float32), rank)
    np.testing.assert_allclose(a @ b.T, (left[:, :rank] * values[:rank]) @ right[:rank], atol=1e-4)
