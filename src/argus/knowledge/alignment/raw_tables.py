"""Columns of the tables that readers of sources hand over, and the settings of alignment.

Readers of dumps write PAGES and LINKS, ITEMS and STATEMENTS. Every other source, and the alignment
of dumps, writes the tables of RAW.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

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


def _schema(names: str, **others: pa.DataType) -> pa.Schema:
    """Return a schema of texts, but for the columns of `others`."""
    return pa.schema([(name, others.get(name, pa.string())) for name in names.split()])


PAGES = _schema("page_id title redirect reason paragraph", page_id=pa.int64())
"""Pages of Wikipedia. redirect: title where it leads, null for others. reason: why it is no
article, "" for articles. paragraph: "" where there is none."""
LINKS = _schema("source target")
"""Titles of an article and of the pages that it links to."""
ITEMS = _schema(
    "id label description aliases article disambiguation",
    aliases=pa.list_(pa.string()),
    disambiguation=pa.bool_(),
)
"""Items of Wikidata, with texts in one language. label: null where there is none. article: title of
its page in that language's Wikipedia, or null. disambiguation: it says that it is such a page."""
STATEMENTS = _schema("subject property object")
"""Relations of items: ids as in "Q42", a property as in "P31"."""
RAW = {
    "entities": _schema("id label description article paragraph"),
    "relations": _schema("subject property object source"),
    "aliases": _schema("id alias source"),
    "redirects": _schema("title target id"),
}
"""Columns by table. An end of a relation that is known to be no entity may be null."""


def rows_to_table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """Return rows, their values in the order of the schema, as a table."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def raw_folder(work: Path, table: str) -> Path:
    """Return the folder of a raw table's Parquet files, read in the order of their names.

    A table may be missing or have no files: then it is empty.
    """
    return work / "raw" / table
