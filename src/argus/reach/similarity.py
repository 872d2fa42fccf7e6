"""The scores that stores rank by, computed in blocks: higher is nearer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from argus.data.rounding import rounding_bound
from argus.data.types import FloatArray
from argus.stores.protocol import Metric

Doubles = npt.NDArray[np.float64]


def similarities(queries: FloatArray, records: FloatArray, metric: Metric) -> FloatArray:
    """Return the scores of (n_queries, dim) against (n_records, dim): (n_queries, n_records).

    L2 is the negative square distance.
    """
    if metric is Metric.COSINE:
        queries, records = unit(queries), unit(records)
    products = queries @ records.T
    if metric is not Metric.L2:
        return np.asarray(products, np.float32)
    lengths = _squares(queries)[:, None] + _squares(records)[None, :]
    return np.asarray(2 * products - lengths, np.float32)


def own_scores(vectors: FloatArray, metric: Metric) -> FloatArray:
    """Return what each vector scores against itself, (n,)."""
    if metric is Metric.COSINE:
        return np.ones(len(vectors), np.float32)
    return np.zeros(len(vectors), np.float32) if metric is Metric.L2 else _squares(vectors)


def tolerances(queries: FloatArray, longest: float, metric: Metric) -> Doubles:
    """Return by how much two scores may differ and be one, (n_queries,): products round.

    longest: the norm of the longest record.
    """
    bound = 4 * rounding_bound(queries.shape[1])
    if metric is Metric.COSINE:
        return np.full(len(queries), bound)
    reach = np.sqrt(_squares(queries).astype(float)) + longest
    return np.asarray(bound * reach**2, np.float64)


def unit(vectors: FloatArray) -> FloatArray:
    """Return vectors of length 1; a zero vector stays one."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, np.finfo(np.float32).tiny), np.float32)


def _squares(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors), np.float32)
