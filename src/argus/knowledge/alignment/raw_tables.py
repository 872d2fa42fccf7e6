"""Raw tables that every source hands over, and the settings of alignment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pyarrow as pa

from argus.settings import Ge, check_settings

MIN_MEMORY_BYTES = 128 << 20


@dataclass(frozen=True, kw_only=True)
class AlignSettings:
    """Settings of aligning pages and items.

    language: of the dumps, for messages. sample: how many entities are drawn as targets, None for
    all; seed: of the draw. min_words: an entity whose paragraph has fewer is dropped; 1 for dumps,
    whose pages are judged when they are read. memory_bytes: memory of the database before it
    writes to disk; the process needs about 0.5 GB on top. Raises InputError.
    """

    language: str = "en"
    sample: Annotated[int | None, Ge(1)] = None
    seed: int = 0
    min_words: Annotated[int, Ge(1)] = 1
    memory_bytes: Annotated[int, Ge(MIN_MEMORY_BYTES)] = 2 << 30

    def __post_init__(self) -> None:
        check_settings(self)


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
