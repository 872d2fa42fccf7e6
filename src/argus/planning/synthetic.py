"""Texts, vectors and graphs that trials are run on."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

import numpy as np

from argus.data.types import FloatArray
from argus.knowledge.relations import RelationGraph

T = TypeVar("T")

WORDS = 80
"""Of a text."""


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """Return how many seconds something took, and what it gave."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def random_texts(n: int, *, vary: bool = False) -> list[str]:
    """Return n texts of random words as frequent as in English prose, all beginning differently.

    vary: lengths are exponentially distributed; otherwise all are the mean, WORDS.
    """
    words = _words()
    rng = np.random.default_rng(0)
    lengths = rng.exponential(WORDS, n).astype(int) + 1 if vary else np.full(n, WORDS)
    rows = (words[rng.integers(0, len(words), length)] for length in lengths)
    return [f"{i:x} {' '.join(row)}" for i, row in enumerate(rows)]


@cache
def _words() -> np.ndarray:
    from argus.knowledge.stdlib import standard_library

    return np.array(" ".join(e.paragraph for e in standard_library().entities).split())


def unit_rows(n: int, dim: int) -> FloatArray:
    """Return random unit vectors, shape (n, dim)."""
    vectors = np.random.default_rng(0).standard_normal((n, dim), np.float32)
    unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def random_ends(n: int, neighbours: float) -> np.ndarray:
    """Return both ends of n * neighbours / 2 edges, shape (2, edges)."""
    return np.random.default_rng(1).integers(0, n, (2, int(n * neighbours / 2)))


def random_graph(n: int, neighbours: float) -> RelationGraph:
    """Return a graph of entities that are related to so many others in the mean."""
    return RelationGraph.from_edges(n, *random_ends(n, neighbours))
