"""The scores that stores rank by, computed in float64: higher is nearer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.stores.protocol import Metric

Doubles = npt.NDArray[np.float64]

TOLERANCE = 1e-6
"""Of two scores of one query, relative to what they are made of: stores reckon in float32, and may
rank either first."""


class Scorer:
    """Scores queries against records. queries: (n_queries, dim)."""

    def __init__(self, queries: FloatArray, metric: Metric) -> None:
        self._metric = metric
        self._queries = _prepared(queries, metric)
        self._squares = _squares(self._queries)
        self.own: Doubles = np.zeros(len(queries)) if metric is Metric.L2 else self._squares
        """What each query scores against itself, (n_queries,)."""

    def scores(self, records: FloatArray) -> tuple[Doubles, Doubles]:
        """Return scores, and by how much each may differ from another and be one.

        Both are (n_queries, n_records). L2 is the negative square distance.
        """
        rows = _prepared(records, self._metric)
        squares = _squares(rows)
        products = self._queries @ rows.T
        if self._metric is Metric.L2:
            sizes = (np.sqrt(self._squares)[:, None] + np.sqrt(squares)[None, :]) ** 2
            scores = 2 * products - self._squares[:, None] - squares[None, :]
            return scores, TOLERANCE * sizes
        return products, TOLERANCE * np.sqrt(self._squares[:, None] * squares[None, :])


def _prepared(vectors: FloatArray, metric: Metric) -> Doubles:
    rows = np.asarray(vectors, np.float64)
    if metric is not Metric.COSINE:
        return rows
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, np.finfo(np.float64).tiny), np.float64)


def _squares(vectors: Doubles) -> Doubles:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors), np.float64)
