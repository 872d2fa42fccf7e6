"""A local Qdrant whose payloads are the rows of somebody's chunks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argus.data.types import FloatArray


def write_payloads(
    folder: Path | str, rows: Sequence[dict[str, Any]], vectors: FloatArray, name: str = "docs"
) -> str:
    """Write rows with their vectors into a new collection; return what names it."""
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder))
    params = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
    client.create_collection(name, vectors_config=params)
    points = models.Batch(ids=list(range(len(rows))), vectors=vectors.tolist(), payloads=rows)
    client.upsert(name, points)
    client.close()
    return f"qdrant:{folder}/{name}"
