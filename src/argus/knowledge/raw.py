"""Write the tables of pages, items and other sources, out of which a knowledge base is made."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.kb import MENTION
from argus.data.writing import writable
from argus.knowledge.base import Entity
from argus.knowledge.names import mention_relations

ROWS_PER_PART = 50_000


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
"""Columns of the tables under `raw/`, which alignment and every other source write. An end of a
relation may be no entity, or null."""


def rows_to_table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """Return rows, their values in the order of the schema, as a table."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


class PartWriter:
    """Writes rows into `folder/part-00000.parquet` and on, and counts them in `rows`.

    Raises NotWritten where the disk takes no more.
    """

    def __init__(self, folder: Path, schema: pa.Schema, prefix: str = "part") -> None:
        self.folder, self._schema, self._prefix = folder, schema, prefix
        self.rows = self._parts = 0
        self._buffer: list[tuple[str | int | None, ...]] = []
        with writable(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def add(self, *row: str | int | None) -> None:
        """Take one row, its values in the order of the schema."""
        self._buffer.append(row)
        self.rows += 1
        if len(self._buffer) >= ROWS_PER_PART:
            self.flush()

    def flush(self) -> None:
        """Write the rows in memory as a part."""
        if self._buffer:
            path = self.folder / f"{self._prefix}-{self._parts:05d}.parquet"
            with writable(path):
                pq.write_table(rows_to_table(self._buffer, self._schema), path, compression="zstd")
            self._parts += 1
            self._buffer.clear()


class RawWriter:
    """Writes entities, relations and aliases under `work/raw`, in place of earlier ones.

    Use it as a context manager. joins: add to the tables that are there, in place of what joined
    them before. limit: entities that are taken. `beyond` counts the others.
    """

    def __init__(self, work: Path, *, joins: bool = False, limit: int | None = None) -> None:
        self.work, self.beyond, self._limit = work, 0, limit
        raw = work / "raw"
        with writable(work):
            if not joins:
                shutil.rmtree(raw, ignore_errors=True)
            for earlier in raw.glob("*/added-*.parquet"):
                earlier.unlink()
        prefix = "added" if joins else "part"
        self.tables = {
            name: PartWriter(raw / name, RAW[name], prefix)
            for name in ("entities", "relations", "aliases")
        }
        self.add_relation = self.tables["relations"].add
        """Take subject, property, object and source, whether or not both ends are entities."""

    def add_entity(
        self, id_: str, label: str, paragraph: str = "", *, description: str = "", article: str = ""
    ) -> None:
        """Take an entity. article: title of its page, empty where it has none."""
        if self._limit is not None and self.tables["entities"].rows >= self._limit:
            self.beyond += 1
        else:
            self.tables["entities"].add(id_, label, description, article, paragraph)

    def add_aliases(self, id_: str, label: str, aliases: Sequence[str]) -> None:
        """Take an entity's other names, each once, without its label."""
        for alias in dict.fromkeys(aliases):
            if alias and alias != label:
                self.tables["aliases"].add(id_, alias, "alias")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for table in self.tables.values():
                table.flush()


def mention_rows(work: Path, into: RawWriter) -> dict[str, int]:
    """Relate the raw entities in `work` by exact mention. Return how many pairs were related.

    Each pair is written once, whichever names the other, the smaller id as its subject: the order
    of the raw entities, which a database does not keep, changes nothing. All entities are held in
    memory with their paragraphs, and an automaton over their names: count on 3 KiB an entity.
    """
    entities = [
        Entity(*row)
        for path in sorted((work / "raw" / "entities").glob("*.parquet"))
        for batch in pq.ParquetFile(path).iter_batches(columns=["id", "label", "paragraph"])
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    entities.sort(key=lambda entity: entity.id)
    graph = mention_relations(entities)
    for i, entity in enumerate(entities):
        for other in graph.neighbours(i):
            if i < other:
                into.add_relation(entity.id, MENTION, entities[other].id, MENTION)
    return {MENTION: into.tables["relations"].rows}
