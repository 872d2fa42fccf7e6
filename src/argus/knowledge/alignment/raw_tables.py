"""The raw tables: what every source hands to `finish`, before anything is checked or dropped."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

RAW = {
    "entities": pa.schema(
        [
            ("id", pa.string()),
            ("label", pa.string()),
            ("description", pa.string()),
            ("article", pa.string()),
            ("paragraph", pa.string()),
        ]
    ),
    "relations": pa.schema(
        [
            ("subject", pa.string()),
            ("property", pa.string()),
            ("object", pa.string()),
            ("source", pa.string()),
        ]
    ),
    "aliases": pa.schema([("id", pa.string()), ("alias", pa.string()), ("source", pa.string())]),
    "redirects": pa.schema([("title", pa.string()), ("target", pa.string()), ("id", pa.string())]),
}
"""Columns by table. An end of a relation that is known to be no entity may be null."""


def raw_folder(work: Path, table: str) -> Path:
    """Return the folder of a raw table's Parquet files, read in the order of their names.

    A table may be missing or have no files: then it is empty.
    """
    return work / "raw" / table
