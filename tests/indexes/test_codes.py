"""Vectors in eight bits a number: no score is above its bound, and bounds are near."""

from __future__ import annotations

import numpy as np
import pytest

from argus.indexes import pruned
from argus.indexes.pruned import CodedQuery, Codes


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("dim", [1, 2, 33, 384])
def test_no_score_is_above_its_bound(dim, monkeypatch):
    monkeypatch.setattr(pruned, "ROWS", 64)
    rng = np.random.default_rng(dim)
    rows = unit(rng.normal(size=(300, dim)))
    rows[:3] = np.eye(dim, dtype=np.float32)[0]  # one number holds all
    some = rng.permutation(300)[:200]
    starts = np.array([0, 1, 5, 120, 200])
    coded = Codes.of(rows, some)
    for query in unit(rng.normal(size=(20, dim))):
        scores = rows[some].astype(float) @ query.astype(float)
        most = coded.most(CodedQuery.of(query), starts)
        best = np.maximum.reduceat(scores, starts[:-1])
        assert (most >= best).all() and (most <= best + 0.03).all()


@pytest.mark.parametrize("dim", [1, 384, 20_000])
@pytest.mark.parametrize("shape", ["even", "one number", "random"])
def test_the_largest_products_fit(dim, shape):
    rng = np.random.default_rng(0)
    row = {"even": np.ones(dim), "one number": np.eye(1, dim)[0], "random": rng.normal(size=dim)}
    rows = unit(np.array([row[shape], -row[shape]]))
    most = Codes.of(rows, np.arange(2)).most(CodedQuery.of(rows[0]), np.array([0, 1, 2]))
    assert np.allclose(most, [1, -1], atol=0.03) and (most >= [0.99999, -1.00001]).all()
