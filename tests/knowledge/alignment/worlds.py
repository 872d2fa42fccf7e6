"""Small worlds of pages and items, on disk as the readers of dumps leave them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.kb import TABLES
from argus.knowledge.alignment import align, finish
from argus.knowledge.raw import ITEMS, LINKS, PAGES, STATEMENTS

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

    def write(self, work: Path) -> Path:
        for name, rows in self.rows().items():
            if rows is not None:
                write_rows(work / name, SCHEMAS[name], rows)
        return work


def redirect(title: str, target: str) -> Page:
    return Page(title, "", "redirect", target)


def write_rows(folder: Path, schema: pa.Schema, rows: Sequence[Sequence[Any]]) -> None:
    folder.mkdir(parents=True)
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    pq.write_table(pa.table(arrays, schema=schema), folder / "000000.parquet")


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
    work: Path, *, sample: int | None = None, seed: int = 0
) -> tuple[Tables, dict[str, Any]]:
    tables = Tables()
    settings = {"sample": sample, "seed": seed, "min_words": 1}
    return tables, finish(work, tables.write, memory_bytes=SMALL, **settings)


def built(world: World, work: Path) -> tuple[Tables, dict[str, Any]]:
    """Align and finish a world; counts of both steps, those of `align` under "align"."""
    world.write(work)
    counts = align(work, memory_bytes=SMALL)
    tables, more = finished(work)
    return tables, {"align": counts, **more}
