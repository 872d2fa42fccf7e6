import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.knowledge import RelationGraph
from argus.retrievability import ranks as ranks_module
from argus.retrievability.limits import RESERVOIR_QUERIES
from argus.retrievability.pairs import PairRanks
from argus.retrievability.ranks import Ranker, draw_reservoir, pair_ranks
from argus.retrievability.reference import neutrals
from tests.support.draws import examples
from tests.support.rows import KINDS, plain_scores


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def random_graph(rng, n, edges):
    return RelationGraph.from_edges(n, rng.integers(0, n, edges), rng.integers(0, n, edges))


def plain_ranks(vectors, graph):
    """Count as the definition says, one Python float at a time."""

    def dot(a, b):
        return math.fsum(float(u) * float(v) for u, v in zip(a, b, strict=True))

    rows = {}
    for t in range(graph.n):
        pool = neutrals(graph, t)
        for x in graph.neighbours(t):
            own = dot(vectors[t], vectors[x])
            others = [(dot(vectors[t], vectors[z]), z) for z in pool]
            above = sum(s > own or (s == own and z < x) for s, z in others)
            rows[int(x), t] = (above, len(pool))
    return rows


def as_rows(ranks):
    pairs = zip(ranks.entity.tolist(), ranks.related.tolist(), strict=True)
    counts = zip(ranks.above.tolist(), ranks.pool.tolist(), strict=True)
    return dict(zip(pairs, counts, strict=True))


def same(a, b):
    return all(
        np.array_equal(getattr(a, f), getattr(b, f))
        for f in ("entity", "related", "similarity", "above", "pool")
    )


@given(st.integers(0, 10**6), st.integers(4, 40), st.integers(2, 24))
@settings(max_examples=examples(60), deadline=None)
def test_counts_equal_the_definition_with_exact_ties_among_them(seed, n, dim):
    rng = np.random.default_rng(seed)
    vectors = unit(rng.normal(size=(n, dim)))
    vectors[rng.integers(0, n, n // 3)] = vectors[0]  # equal vectors tie exactly
    graph = random_graph(rng, n, 2 * n)
    assert as_rows(pair_ranks(vectors, graph)) == plain_ranks(vectors, graph)


def test_more_related_entities_than_the_direct_path_count_alike():
    rng = np.random.default_rng(1)
    n = 400
    graph = RelationGraph.from_edges(n, np.zeros(150, np.int64), np.arange(1, 151))
    vectors = unit(rng.normal(size=(n, 16)))
    vectors[200:220] = vectors[5]
    assert as_rows(pair_ranks(vectors, graph)) == plain_ranks(vectors, graph)


@pytest.mark.parametrize("options", [{"block": 1}, {"block": 7}, {"workers": 1}, {"workers": 3}])
def test_block_size_and_workers_change_nothing(options):
    rng = np.random.default_rng(2)
    graph, vectors = random_graph(rng, 300, 900), unit(rng.normal(size=(300, 48)))
    assert same(pair_ranks(vectors, graph), pair_ranks(vectors, graph, **options))


def test_the_torch_path_gives_the_same_counts_to_the_bit():
    rng = np.random.default_rng(3)
    graph, vectors = random_graph(rng, 250, 700), unit(rng.normal(size=(250, 32)))
    vectors[40:60] = vectors[10]
    assert same(pair_ranks(vectors, graph), pair_ranks(vectors, graph, device="torch:cpu"))
    reservoirs = [pair_ranks(vectors, graph, reservoir=90, device=d) for d in ("cpu", "torch:cpu")]
    assert same(*reservoirs)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_the_gpu_gives_the_same_counts_to_the_bit():
    rng = np.random.default_rng(4)
    graph, vectors = random_graph(rng, 3000, 20000), unit(rng.normal(size=(3000, 384)))
    assert same(pair_ranks(vectors, graph), pair_ranks(vectors, graph, device="cuda"))


def test_renumbering_the_entities_changes_nothing():
    rng = np.random.default_rng(5)
    n = 120
    subjects, objects = rng.integers(0, n, 300), rng.integers(0, n, 300)
    vectors = unit(rng.normal(size=(n, 20)))
    new = rng.permutation(n)  # old position -> new position
    moved = np.empty_like(vectors)
    moved[new] = vectors
    before = as_rows(pair_ranks(vectors, RelationGraph.from_edges(n, subjects, objects)))
    after = as_rows(pair_ranks(moved, RelationGraph.from_edges(n, new[subjects], new[objects])))
    assert after == {(int(new[x]), int(new[t])): row for (x, t), row in before.items()}


def test_duplicate_edges_and_self_loops_change_nothing():
    rng = np.random.default_rng(6)
    subjects, objects = rng.integers(0, 60, 100), rng.integers(0, 60, 100)
    vectors = unit(rng.normal(size=(60, 8)))
    twice = RelationGraph.from_edges(
        60,
        np.concatenate([subjects, objects, np.arange(60)]),
        np.concatenate([objects, subjects, np.arange(60)]),
    )
    once = RelationGraph.from_edges(60, subjects, objects)
    assert same(pair_ranks(vectors, once), pair_ranks(vectors, twice))


def test_equal_similarities_rank_by_position():
    # 0 asks for 2; 1 and 3 are equal to 2. Only 1 comes before it.
    vectors = unit(np.array([[1.0, 0], [1, 1], [1, 1], [1, 1]]))
    ranks = as_rows(pair_ranks(vectors, RelationGraph.from_edges(4, np.array([0]), np.array([2]))))
    assert ranks[2, 0] == (1, 2)


def test_ranking_in_parts_is_ranking_at_once():
    rng = np.random.default_rng(7)
    graph, vectors = random_graph(rng, 100, 250), unit(rng.normal(size=(100, 12)))
    parts = [pair_ranks(vectors, graph, queries=range(a, a + 25)) for a in range(0, 100, 25)]
    assert same(PairRanks.concatenate(parts), pair_ranks(vectors, graph))


def test_a_reservoir_estimates_the_share_above_without_bias():
    rng = np.random.default_rng(8)
    graph, vectors = random_graph(rng, 300, 500), unit(rng.normal(size=(300, 10)))
    exact = pair_ranks(vectors, graph)
    share = np.mean(
        [
            (r := pair_ranks(vectors, graph, reservoir=100, seed=seed)).above / r.pool
            for seed in range(200)
        ],
        axis=0,
    )
    # One estimate's standard error is at most 0.5/sqrt(~99); the mean of 200 has 0.0036.
    assert np.abs(share - exact.above / exact.pool).max() < 5 * 0.0036
    assert exact.pool.max() > 290 and r.pool.max() <= 100


def test_bad_arguments_are_named():
    graph = RelationGraph.from_edges(3, np.array([0]), np.array([1]))
    vectors = unit(np.eye(3))
    with pytest.raises(ValueError, match="row 1 has length 2"):
        pair_ranks(vectors * np.array([[1], [2], [1]], np.float32), graph)
    with pytest.raises(ValueError, match="the graph has 3 entities"):
        pair_ranks(vectors[:2], graph)
    with pytest.raises(ValueError, match=f"multiple of {RESERVOIR_QUERIES}"):
        pair_ranks(vectors, graph, reservoir=2, queries=range(1, 3))


@given(st.integers(0, 10**6), st.integers(6, 60))
@settings(max_examples=examples(40), deadline=None)
def test_ranks_in_a_reservoir_equal_the_definition(seed, n):
    rng = np.random.default_rng(seed)
    vectors = unit(rng.normal(size=(n, 6)))
    vectors[rng.integers(0, n, n // 3)] = vectors[0]
    graph = random_graph(rng, n, 2 * n)
    size = int(rng.integers(1, n))
    drawn = set(draw_reservoir(n, size, 0, seed).tolist())
    exact = {}
    for t in range(n):
        pool = [z for z in neutrals(graph, t) if z in drawn]
        dots = {z: math.fsum((vectors[t].astype(float) * vectors[z]).tolist()) for z in range(n)}
        for x in graph.neighbours(t):
            above = sum(dots[z] > dots[x] or (dots[z] == dots[x] and z < x) for z in pool)
            exact[int(x), t] = (above, len(pool))
    assert as_rows(pair_ranks(vectors, graph, reservoir=size, seed=seed)) == exact


@pytest.mark.parametrize("device", ["cpu", "torch:cpu"])
@pytest.mark.parametrize("reservoir", [None, 90])
def test_vectors_in_a_file_rank_as_vectors_in_memory(tmp_path, device, reservoir, monkeypatch):
    monkeypatch.setattr(ranks_module, "CHECKED_ROWS", 64)
    rng = np.random.default_rng(9)
    graph, vectors = random_graph(rng, 250, 700), unit(rng.normal(size=(250, 32)))
    (tmp_path / "v").write_bytes(vectors.tobytes())
    mapped = np.memmap(tmp_path / "v", np.float32, "r", shape=vectors.shape)
    options = {"reservoir": reservoir, "device": device}
    assert same(pair_ranks(mapped, graph, **options), pair_ranks(vectors, graph, **options))


def test_a_ranker_treats_one_range_after_another():
    rng = np.random.default_rng(10)
    n = 2 * RESERVOIR_QUERIES + 50
    graph, vectors = random_graph(rng, n, 3 * n), unit(rng.normal(size=(n, 8)))
    ranker = Ranker(vectors, graph, reservoir=200, seed=4)
    starts = range(0, n, RESERVOIR_QUERIES)
    parts = [ranker.rank(range(a, min(a + RESERVOIR_QUERIES, n))) for a in starts]
    assert same(PairRanks.concatenate(parts), pair_ranks(vectors, graph, reservoir=200, seed=4))


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@given(st.integers(0, 10**6), st.integers(4, 24))
@settings(max_examples=25, deadline=None)
def test_rows_of_other_families_count_by_the_definition(make, seed, n):
    rng = np.random.default_rng(seed)
    rows, graph = make(rng, n), random_graph(rng, n, 2 * n)
    scores = plain_scores(rows, rows)
    expected = {}
    for t in range(n):
        pool = neutrals(graph, t)
        for x in graph.neighbours(t):
            higher = (scores[t, pool] > scores[t, x]).sum()
            tied = ((scores[t, pool] == scores[t, x]) & (pool < x)).sum()
            expected[int(x), t] = (int(higher + tied), len(pool))
    assert as_rows(pair_ranks(rows, graph)) == expected
    assert as_rows(pair_ranks(rows, graph, block=3)) == expected


def test_a_reservoir_is_drawn_of_other_rows_too():
    rng = np.random.default_rng(5)
    rows, graph = KINDS["tokens"](rng, 40, whole=False), random_graph(rng, 40, 60)
    ranks = pair_ranks(rows, graph, reservoir=20)
    drawn = draw_reservoir(40, 20, 0, 0)
    scores = plain_scores(rows, rows)
    for (x, t), (above, pool) in as_rows(ranks).items():
        among = np.intersect1d(neutrals(graph, t), drawn)
        assert pool == len(among)
        assert above == (scores[t, among] > scores[t, x]).sum()


@given(st.integers(0, 10**6), st.integers(4, 40))
@settings(max_examples=20, deadline=None)
def test_lengths_count_where_vectors_are_no_unit_rows(seed, n):
    rng = np.random.default_rng(seed)
    vectors = (rng.normal(size=(n, 6)) * rng.uniform(0.1, 20, (n, 1))).astype(np.float32)
    vectors[rng.integers(0, n, n // 3)] = vectors[0]
    graph = random_graph(rng, n, 2 * n)
    assert as_rows(pair_ranks(vectors, graph, unit=False)) == plain_ranks(vectors, graph)
    on_device = pair_ranks(vectors, graph, unit=False, device="torch:cpu")
    assert as_rows(on_device) == plain_ranks(vectors, graph)
