"""Real collections, synthetic vectors and graphs, and where figures go."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from argus.data.provenance import content_hash, describe_environment, utc_now
from argus.data.types import Document, FloatArray, Qrels, Run
from argus.data.writing import write_whole
from argus.indexes.exact import search
from argus.knowledge.base import RelationGraph
from argus.measures import evaluate

T = TypeVar("T")
RESULTS = Path(__file__).parent / "results"


def collection(name: str) -> Path:
    """Return the path of a shared collection."""
    root = Path(os.environ.get("ARGUS_SHARED", Path(__file__).parents[2] / "shared"))
    return root / "data" / name


def store(name: str, result: Any) -> None:
    """Write what a benchmark measured, with when and where that was."""
    RESULTS.mkdir(exist_ok=True)
    whole = {"finished": utc_now(), "environment": describe_environment(), "result": result}
    write_whole(RESULTS / f"{name}.json", json.dumps(whole, indent=2) + "\n")


def stored(name: str) -> Any:
    """Return what a benchmark measured before; None where nothing is stored."""
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text("utf-8"))["result"] if file.is_file() else None


def kept_vectors(
    folder: str, name: str, encode: Callable[[], Mapping[str, FloatArray]]
) -> dict[str, FloatArray]:
    """Return vectors by name, encoded once where the environment variable `folder` names one."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(os.environ.get(folder, temporary)) / f"{name.replace('/', '_')}.npz"
        if not path.is_file():
            np.savez(path, **encode())
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)


def dense_run(
    names: Sequence[str], asked: FloatArray, documents: Sequence[Document],
    vectors: FloatArray, depth: int,
) -> Run:  # fmt: skip
    """Return the `depth` documents nearest to each question."""
    top = search(asked, vectors, depth)
    return {
        name: {documents[row].id: float(score) for row, score in zip(rows, scores, strict=True)}
        for name, rows, scores in zip(names, top.rows, top.scores, strict=True)
    }


def values_of(run: Run, qrels: Qrels, measure: str) -> dict[str, float]:
    """Return a measure of every judged question."""
    return {q: values[measure] for q, values in evaluate(run, qrels, [measure]).per_query.items()}


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """Return how many seconds a call took, and its result."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def unit_rows(n: int, dim: int) -> FloatArray:
    """Return random unit vectors, shape (n, dim)."""
    vectors = np.random.default_rng(0).standard_normal((n, dim), np.float32)
    unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def random_graph(n: int, neighbours: float) -> RelationGraph:
    """Return a graph of entities that have this many neighbours on average."""
    ends = np.random.default_rng(1).integers(0, n, (2, int(n * neighbours / 2)))
    return RelationGraph.from_edges(n, *ends)


class RandomEncoder:
    """Vectors that depend on the text and cost next to nothing."""

    pools_spans = False

    def __init__(self, dim: int) -> None:
        self.dim, self.fingerprint = dim, f"random dim={dim}"
        self._rows = unit_rows(1 << 12, dim)

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return unit rows, shape (n, dim)."""
        numbers = np.array([int.from_bytes(content_hash(text, size=6)) for text in texts])
        sums = self._rows[numbers % 4096] + 0.5 * self._rows[numbers // 4096 % 4096]
        unit: FloatArray = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return unit

    encode_documents = encode_queries

    def encode_spans(self, texts: Sequence[str], spans: Sequence[object]) -> FloatArray:
        """Return unit rows of the texts."""
        return self.encode_queries(texts)
