"""Empty collections of the stores that benchmarks fill, made by the stores' own clients."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def qdrant(client: Any, dim: int) -> None:
    """Make the collection `docs`."""
    from qdrant_client import models

    params = models.VectorParams(size=dim, distance=models.Distance.COSINE)
    client.create_collection("docs", vectors_config=params)


def milvus(file: Path, dim: int) -> Any:
    """Make the collection `docs` in a file of Milvus Lite, searched exactly; return the client."""
    from pymilvus import DataType, MilvusClient

    client = MilvusClient(uri=str(file))
    schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dim)
    params = client.prepare_index_params()
    params.add_index("vector", index_type="FLAT", metric_type="COSINE")
    client.create_collection("docs", schema=schema, index_params=params)
    return client


def sqlite_vec(file: Path, dim: int, columns: str) -> Any:
    """Make the table `docs` of SQLite; columns: as SQL; return the connection."""
    import apsw
    import sqlite_vec as extension

    database = apsw.Connection(str(file))
    database.enable_load_extension(True)
    database.load_extension(extension.loadable_path())
    database.execute(
        f"CREATE VIRTUAL TABLE docs USING vec0(id TEXT PRIMARY KEY, "
        f"embedding FLOAT[{dim}] distance_metric=cosine, {columns})"
    )
    return database
