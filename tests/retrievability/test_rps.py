import numpy as np
import pytest

from argus.knowledge import RelationGraph
from argus.retrievability.ranks import PairRanks, pair_ranks
from argus.retrievability.rps import band, hit_probability, reservoir_error, score, tercile
from tests.support.paper_sampler import sampled_rps


def scene(seed, n=90, edges=120, dim=6):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, dim))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return vectors, RelationGraph.from_edges(
        n, rng.integers(0, n, edges), rng.integers(0, n, edges)
    )


def test_exact_rps_is_the_mean_of_the_papers_sampler():
    vectors, graph = scene(0)
    k, pool, draws = 5, 30, 100
    ranks = pair_ranks(vectors, graph)
    exact = score(ranks, graph.n, k=k, pool=pool)
    rng = np.random.default_rng(0)
    sampled = [sampled_rps(vectors, graph, k=k, pool=pool, rng=rng) for _ in range(draws)]
    measured = exact.measured
    assert measured.sum() > 60
    difference = np.abs(np.mean(sampled, axis=0) - exact.rps)[measured]
    # A mean of independent Bernoulli draws: 4.5 standard errors, and four events for rare hits.
    hits = hit_probability(ranks.above, ranks.pool, k=k, draws=pool - 1)
    variance = np.bincount(ranks.entity, weights=hits * (1 - hits), minlength=graph.n)[measured]
    related = exact.related[measured]
    assert (difference <= 4.5 * np.sqrt(variance / draws) / related + 4 / draws / related).all()
    assert difference.mean() < 0.025


def test_the_interval_is_wilsons_and_entities_without_pairs_have_no_score():
    zeros = np.zeros(2, np.int32)
    ranks = PairRanks(zeros, zeros, np.zeros(2, np.float32), np.array([0, 9], np.int32), zeros + 9)
    scores = score(ranks, 3, k=1, pool=10)
    assert scores.rps[0] == 0.5 and scores.related.tolist() == [2, 0, 0]
    assert np.isnan(scores.rps[1:]).all() and np.isnan(scores.low[1:]).all()
    assert scores.measured.tolist() == [True, False, False]
    # One of two: p = 1/2, n = 2, z = 1.96: centre 1/2, half-width 0.4055.
    assert scores.low[0] == pytest.approx(0.0945, abs=1e-4)
    assert scores.high[0] == pytest.approx(0.9055, abs=1e-4)


def test_bands_are_half_open_as_in_the_paper():
    assert band(np.array([0, 0.3299, 0.33, 0.6599, 0.66, 1, np.nan])).tolist() == [
        "low", "low", "mid", "mid", "high", "high", "",
    ]  # fmt: skip


def test_equal_scores_share_the_tercile_that_holds_the_middle_of_their_ranks():
    assert tercile(np.array([0, 0, 0, 0, 0.5, 1.0])).tolist() == [*["mid"] * 4, "high", "high"]
    assert tercile(np.array([0, 0, 0.4, 0.5, 1, 1])).tolist() == (
        ["low", "low", "mid", "mid", "high", "high"]
    )
    assert set(tercile(np.zeros(5))) == {"mid"}
    assert tercile(np.array([np.nan])).tolist() == [""]


def test_the_reservoirs_stated_error_bounds_the_one_made():
    vectors, graph = scene(5, n=400, edges=900, dim=12)
    exact = score(pair_ranks(vectors, graph), 400, k=10, pool=60)
    made, stated = [], []
    for seed in range(12):
        ranks = pair_ranks(vectors, graph, reservoir=150, seed=seed)
        estimate = score(ranks, 400, k=10, pool=60)
        made.append(np.nanmean(np.abs(estimate.rps - exact.rps)))
        stated.append(reservoir_error(ranks, 400, k=10, pool=60))
    assert 0 < np.mean(made) < np.mean(stated) < 10 * np.mean(made)
