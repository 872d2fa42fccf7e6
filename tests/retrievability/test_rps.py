import numpy as np
import pytest

from argus.knowledge import RelationGraph
from argus.retrievability.hypergeometric import hit_probability
from argus.retrievability.pairs import PairRanks
from argus.retrievability.ranks import pair_ranks
from argus.retrievability.reference import sampled_hit, sampled_rps
from argus.retrievability.rps import (
    band,
    curve_over_k,
    curve_over_pool,
    describe_groups,
    pool_grid,
    reservoir_error,
    score,
    tercile,
)


def scene(seed, n=90, edges=120, dim=6):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, dim))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return vectors, RelationGraph.from_edges(
        n, rng.integers(0, n, edges), rng.integers(0, n, edges)
    )


def ranks_of(entity, above, pool):
    entity = np.array(entity, np.int32)
    return PairRanks(
        entity, np.zeros_like(entity), np.zeros(len(entity), np.float32),
        np.array(above, np.int32), np.array(pool, np.int32),
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1])
def test_exact_rps_is_the_mean_of_the_papers_sampler(seed):
    vectors, graph = scene(seed)
    k, pool, draws = 5, 30, 300
    ranks = pair_ranks(vectors, graph)
    exact = score(ranks, graph.n, k=k, pool=pool)
    rng = np.random.default_rng(seed)
    sampled = [sampled_rps(vectors, graph, k=k, pool=pool, rng=rng) for _ in range(draws)]
    measured = exact.measured
    assert measured.sum() > 60
    difference = np.abs(np.mean(sampled, axis=0) - exact.rps)[measured]
    # A mean of independent Bernoulli draws: 4.5 standard errors, and four events for rare hits.
    hits = hit_probability(ranks.above, ranks.pool, k=k, draws=pool - 1)
    variance = np.bincount(ranks.entity, weights=hits * (1 - hits), minlength=graph.n)[measured]
    related = exact.related[measured]
    assert (difference <= 4.5 * np.sqrt(variance / draws) / related + 4 / draws / related).all()
    assert difference.mean() < 0.015


def test_the_sampler_counts_rank_k_as_a_hit():
    # 0 asks for 1; of the neutrals 2 and 3 only 2 is closer. With both drawn, 1 ranks second.
    vectors = np.array([[1, 0], [0.8, 0.6], [1, 0], [0, 1]], np.float32)
    graph = RelationGraph.from_edges(4, np.array([0]), np.array([1]))
    rng = np.random.default_rng(0)
    assert sampled_hit(vectors, graph, 1, 0, k=2, pool=3, rng=rng)
    assert not sampled_hit(vectors, graph, 1, 0, k=1, pool=3, rng=rng)


def test_entities_without_pairs_have_no_score_rather_than_zero():
    scores = score(ranks_of([0, 0], [0, 9], [9, 9]), 3, k=1, pool=10)
    assert scores.rps[0] == 0.5 and scores.related.tolist() == [2, 0, 0]
    assert np.isnan(scores.rps[1:]).all() and np.isnan(scores.low[1:]).all()
    assert scores.measured.tolist() == [True, False, False]


def test_pairs_with_too_small_a_pool_are_left_out_and_counted():
    scores = score(ranks_of([0, 0, 1], [9, 0, 0], [9, 4, 4]), 2, k=1, pool=10)
    assert scores.pairs_without_pool == 2
    assert scores.rps[0] == 0 and np.isnan(scores.rps[1])


def test_the_interval_is_wilsons_by_hand():
    # One of two: p = 1/2, n = 2, z = 1.96: centre 1/2, half-width 0.4055.
    scores = score(ranks_of([0, 0], [0, 9], [9, 9]), 1, k=1, pool=10)
    assert scores.low[0] == pytest.approx(0.0945, abs=1e-4)
    assert scores.high[0] == pytest.approx(0.9055, abs=1e-4)


def test_k_beyond_the_pool_is_refused():
    with pytest.raises(ValueError, match="k=11, pool=10"):
        score(ranks_of([0], [0], [9]), 1, k=11, pool=10)


def test_bands_are_half_open_as_in_the_paper():
    assert band(np.array([0, 0.3299, 0.33, 0.6599, 0.66, 1, np.nan])).tolist() == [
        "low", "low", "mid", "mid", "high", "high", "",
    ]  # fmt: skip


def test_terciles_are_thirds_of_the_entities_whatever_their_range():
    values = np.array([0.9, np.nan, 0.01, 0.02, 0.03, 0.04, 0.05])
    assert tercile(values).tolist() == ["high", "", "low", "low", "mid", "mid", "high"]
    assert band(values).tolist() == ["high", "", *["low"] * 5]


def test_equal_scores_share_the_tercile_that_holds_the_middle_of_their_ranks():
    assert tercile(np.array([0, 0, 0, 0, 0.5, 1.0])).tolist() == [*["mid"] * 4, "high", "high"]
    assert tercile(np.array([0, 0, 0.4, 0.5, 1, 1])).tolist() == (
        ["low", "low", "mid", "mid", "high", "high"]
    )
    assert set(tercile(np.zeros(5))) == {"mid"}
    assert tercile(np.array([np.nan])).tolist() == [""]


def test_groups_tell_where_they_end():
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    described = describe_groups(values, tercile(values))
    assert described == {
        "counts": {"low": 2, "mid": 2, "high": 2}, "low_up_to": 0.2, "high_from": 0.5,
    }  # fmt: skip
    none_high = describe_groups(values[:2], band(values[:2]))
    assert none_high["high_from"] is None and none_high["low_up_to"] == 0.2


def test_curves_agree_with_single_scores():
    vectors, graph = scene(4)
    ranks = pair_ranks(vectors, graph)
    over_k = curve_over_k(ranks, graph.n, k_max=20, pool=40)
    over_pool = curve_over_pool(ranks, graph.n, k=5, pools=[20, 40, 80])
    for k in (1, 7, 20):
        rps = score(ranks, graph.n, k=k, pool=40).rps
        assert over_k["mean"][k - 1] == pytest.approx(np.nanmean(rps))
        assert over_k["share_above_half"][k - 1] == np.mean(rps[~np.isnan(rps)] > 0.5)
    for i, pool in enumerate([20, 40, 80]):
        rps = score(ranks, graph.n, k=5, pool=pool).rps
        assert over_pool["mean"][i] == pytest.approx(np.nanmean(rps))
    assert over_pool["mean"] == sorted(over_pool["mean"], reverse=True)


def test_the_pool_grid_doubles_from_a_hundred():
    assert pool_grid(1000, headline=800) == [100, 200, 400, 800, 1000]
    assert pool_grid(60, headline=50) == [50, 60]
    assert pool_grid(300, headline=800) == [100, 200, 300, 800]


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


def test_passes_over_few_pairs_at_a_time_change_nothing(monkeypatch):
    vectors, graph = scene(4)
    ranks, n = pair_ranks(vectors, graph), graph.n

    def found():
        scores = score(ranks, n, k=5, pool=84)
        curve = curve_over_k(ranks, n, k_max=9, pool=84)
        return scores, curve, reservoir_error(ranks, n, k=5, pool=84)

    whole, curve, error = found()
    assert 0 < whole.pairs_without_pool < len(ranks)
    monkeypatch.setattr("argus.retrievability.rps.PAIRS_AT_ONCE", 7)
    monkeypatch.setattr("argus.retrievability.rps._PAIRS_PER_PASS", 5)
    parts, in_parts, same = found()
    for name in ("rps", "low", "high", "related"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-12)
    assert parts.pairs_without_pool == whole.pairs_without_pool
    np.testing.assert_allclose(in_parts["mean"], curve["mean"], atol=1e-12)
    assert in_parts["share_above_half"] == curve["share_above_half"]
    assert in_parts["entities"] == curve["entities"] and same == error
