"""Small worlds of pages and items, on disk as the readers of dumps leave them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.kb import TABLES
from argus.knowledge.alignment import align, finish
from argus.knowledge.raw import ITEMS, LINKS, PAGES, RAW, STATEMENTS

SCHEMAS = {"pages": PAGES, "links": LINKS, "items": ITEMS, "statements": STATEMENTS}
SMALL = 128 << 20


class Page(NamedTuple):
    title: str | None
    paragraph: str = "a paragraph of words"
    reason: str = ""
    redirect: str | None = None


class Item(NamedTuple):
    id: str
    label: str | None
    article: str | None = None
    description: str = "a description"
    aliases: tuple[str, ...] = ()
    disambiguation: bool = False


@dataclass
class World:
    pages: Sequence[Page] | None = None
    items: Sequence[Item] | None = None
    links: Sequence[tuple[str, str]] = ()
    statements: Sequence[tuple[str, str, str]] = ()

    def rows(self) -> dict[str, list[tuple[Any, ...]] | None]:
        pages = self.pages and [(p.title, p.redirect, p.reason, p.paragraph) for p in self.pages]
        items = self.items and [
            (i.id, i.label, i.description, list(i.aliases), i.article, i.disambiguation)
            for i in self.items
        ]
        return {
            "pages": pages or None,
            "links": list(self.links),
            "items": items or None,
            "statements": list(self.statements),
        }

    def write(self, work: Path, *, files: int = 1) -> Path:
        """Write every table as `files` Parquet files."""
        for name, rows in self.rows().items():
            if rows is not None:
                write_rows(work / name, SCHEMAS[name], rows, files=files)
        return work


def redirect(title: str, target: str) -> Page:
    return Page(title, "", "redirect", target)


def write_rows(
    folder: Path, schema: pa.Schema, rows: Sequence[Sequence[Any]], *, files: int = 1
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    size = max(1, -(-len(rows) // files))
    for number, start in enumerate(range(0, max(len(rows), 1), size)):
        part = rows[start : start + size]
        columns = list(zip(*part, strict=True)) or [()] * len(schema)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
        table = pa.table(arrays, schema=schema)
        pq.write_table(table, folder / f"{number:06d}.parquet")


def write_raw(work: Path, **tables: Iterable[Sequence[Any]]) -> Path:
    for name, rows in tables.items():
        write_rows(work / "raw" / name, RAW[name], list(rows))
    return work


@dataclass
class Tables:
    """A writer that keeps what it is given."""

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)

    def write(self, table: str, batches: Iterator[pa.RecordBatch]) -> int:
        rows = self.rows[table] = []
        for batch in batches:
            assert batch.schema == TABLES[table]
            rows.extend(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        return len(rows)

    def column(self, table: str, name: str) -> list[Any]:
        return [row[TABLES[table].names.index(name)] for row in self.rows[table]]

    def by_id(self, name: str) -> dict[str, Any]:
        return dict(zip(self.column("entities", "id"), self.column("entities", name), strict=True))


def finished(
    work: Path, *, sample: int | None = None, seed: int = 0, min_words: int = 1
) -> tuple[Tables, dict[str, Any]]:
    tables = Tables()
    settings = {"sample": sample, "seed": seed, "min_words": min_words}
    return tables, finish(work, tables.write, memory_bytes=SMALL, **settings)


def built(world: World, work: Path, **settings: Any) -> tuple[Tables, dict[str, Any]]:
    """Align and finish a world; counts of both steps, those of `align` under "align"."""
    world.write(work)
    counts = align(work, memory_bytes=SMALL)
    tables, more = finished(work, **settings)
    return tables, {"align": counts, **more}
