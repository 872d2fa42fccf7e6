"""Groups of questions that ask for the same are those of SciPy's average linkage."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

from argus.traffic.questions import average_linkage


@pytest.mark.parametrize("n", [2, 3, 9, 60, 200])
@pytest.mark.parametrize("most", [0.2, 0.5, 0.85])
def test_groups_are_scipys(n, most):
    rng = np.random.default_rng(n)
    rows = rng.random((n, 12)) * (rng.random((n, 12)) < 0.4) + 1e-3
    labels = fcluster(linkage(rows, "average", "cosine"), most, "distance")
    expected = sorted(np.flatnonzero(labels == label).tolist() for label in set(labels))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert average_linkage(1 - unit @ unit.T, most) == expected
