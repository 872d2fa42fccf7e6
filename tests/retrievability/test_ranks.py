import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.knowledge import RelationGraph
from argus.retrievability.ranks import draw_reservoir, pair_ranks
from tests.support.draws import examples
from tests.support.paper_sampler import neutrals
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


@pytest.mark.parametrize("options", [{"block": 1}, {"block": 7}, {"workers": 1}, {"workers": 3}])
def test_block_size_and_workers_change_nothing(options):
    rng = np.random.default_rng(2)
    graph, vectors = random_graph(rng, 300, 900), unit(rng.normal(size=(300, 48)))
    assert same(pair_ranks(vectors, graph), pair_ranks(vectors, graph, **options))


@pytest.mark.parametrize("pairs", [700, 20_000])  # few related entities each, and many
def test_the_torch_path_gives_the_same_counts_to_the_bit(pairs):
    rng = np.random.default_rng(3)
    graph, vectors = random_graph(rng, 250, pairs), unit(rng.normal(size=(250, 32)))
    vectors[40:60] = vectors[10]
    assert same(pair_ranks(vectors, graph), pair_ranks(vectors, graph, device="torch:cpu"))
    reservoirs = [pair_ranks(vectors, graph, reservoir=90, device=d) for d in ("cpu", "torch:cpu")]
    assert same(*reservoirs)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_the_gpu_gives_the_same_counts_to_the_bit():
    rng = np.random.default_rng(4)
    graph, vectors = random_graph(rng, 3000, 20000), unit(rng.normal(size=(3000, 384)))
    assert same(pair_ranks(vectors, graph), pair_ranks(vectors, graph, device="cuda"))


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
