import numpy as np

from argus.knowledge import RelationGraph
from argus.retrievability.displacement import displacers


def test_displacers_are_the_neutrals_above_most_often_first():
    # x = 0 is related to 1 and 2, which both lie at angle 0; 3 lies at 0 too, 4 near, 5 away.
    angles = np.radians([60, 0, 0, 0, 30, 120])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    graph = RelationGraph.from_edges(6, np.array([0, 0, 2]), np.array([1, 2, 4]))
    # For t = 1 the neutrals above x are 2, 3, 4; for t = 2, whose neighbour is 4, they are 1 and 3.
    assert displacers(vectors, graph, [0], k=5) == [[(3, 2), (1, 1), (2, 1), (4, 1)]]
    assert displacers(vectors, graph, [0], k=5, top=1) == [[(3, 2)]]


def test_an_entity_without_relations_has_none():
    graph = RelationGraph.from_edges(3, np.array([0]), np.array([1]))
    assert displacers(np.eye(3, dtype=np.float32), graph, [2], k=2) == [[]]
