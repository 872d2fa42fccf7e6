import numpy as np
import pytest

from argus.authority.audit import rank_targets


def test_ranks_and_divergence_are_those_of_a_plain_computation():
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(300, 16)).astype(np.float32)
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    documents[7] = documents[5]  # a tie
    queries, targets = documents[rng.integers(0, 300, 500)], rng.integers(0, 300, 500)
    targets[0] = 7
    rank, outranking, divergence = rank_targets(queries, documents, targets)
    scores = queries.astype(np.float64) @ documents.astype(np.float64).T
    own = scores[np.arange(500), targets]
    above = (scores > own[:, None] + 1e-9).sum(axis=1)
    equal = (np.abs(scores - own[:, None]) <= 1e-9) & (np.arange(300) < targets[:, None])
    assert rank.tolist() == (1 + above + equal.sum(axis=1)).tolist()
    assert divergence == pytest.approx(scores.max(axis=1) - own, abs=1e-6)
    assert outranking.tolist() == above.tolist()
    assert (outranking < rank - 1).any(), "a tie that the rank counts and N+ does not"
