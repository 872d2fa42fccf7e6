from collections import Counter

import numpy as np
import pytest

from argus.knowledge import RelationGraph
from argus.retrievability import ranks
from argus.retrievability.ranks import displacers


def test_displacers_are_the_neutrals_above_most_often_first():
    # x = 0 is related to 1 and 2, which both lie at angle 0; 3 lies at 0 too, 4 near, 5 away.
    angles = np.radians([60, 0, 0, 0, 30, 120])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    graph = RelationGraph.from_edges(6, np.array([0, 0, 2]), np.array([1, 2, 4]))
    # For t = 1 the neutrals above x are 2, 3, 4; for t = 2, whose neighbour is 4, they are 1 and 3.
    assert displacers(vectors, graph, [0], k=5, top=5) == [[(3, 2), (1, 1), (2, 1), (4, 1)]]
    assert displacers(vectors, graph, [0], k=5, top=1) == [[(3, 2)]]


@pytest.mark.parametrize("queries", [3, 256])
@pytest.mark.parametrize("k", [1, 6, 300])
def test_it_is_the_same_in_blocks_of_every_size(monkeypatch, queries, k):
    monkeypatch.setattr(ranks, "DISPLACER_QUERIES", queries)
    rng = np.random.default_rng(0)
    n = 120
    vectors = rng.integers(-3, 4, (n, 5)).astype(np.float32) + 0.5  # sums of these are exact
    graph = RelationGraph.from_edges(n, *rng.integers(0, n, (2, 300)))
    similarity = vectors @ vectors.T
    for x, found in enumerate(displacers(vectors, graph, range(n), k=k, top=n)):
        sure, possible = Counter(), Counter()  # where the k-th best ties, either may be among k
        for t in graph.neighbours(x).tolist():
            neutral = np.setdiff1d(np.arange(n), [t, *graph.neighbours(t)])
            above = neutral[similarity[t][neutral] > similarity[t][x]]
            kth = np.sort(similarity[t][neutral])[-min(k, len(neutral))]
            sure.update(above[similarity[t][above] > kth].tolist())
            possible.update(above[similarity[t][above] >= kth].tolist())
        told = dict(found)
        assert all(sure[z] <= told.get(z, 0) for z in sure)
        assert all(count <= possible[z] for z, count in told.items())
        assert [count for _, count in found] == sorted(told.values(), reverse=True)
