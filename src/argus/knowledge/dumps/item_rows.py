"""Lines of Wikidata's dump to tables: items, and what they state of one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from argus.knowledge.dumps.items import (
    BrokenItem,
    NotAnItem,
    entity_text,
    item_of,
    parse_entity,
    site_of,
    surely_without_article,
)
from argus.knowledge.dumps.records import Item

ITEMS = pa.schema(
    [
        ("id", pa.string()),
        ("label", pa.string()),
        ("description", pa.string()),
        ("aliases", pa.list_(pa.string())),
        ("article", pa.string()),
        ("disambiguation", pa.bool_()),
    ]
)
STATEMENTS = pa.schema(
    [("subject", pa.string()), ("property", pa.string()), ("object", pa.string())]
)


@dataclass(frozen=True)
class ItemSetup:
    """What is read of items. articles_only: leave out those without an article in `language`."""

    language: str = "en"
    articles_only: bool = True

    @property
    def site(self) -> str:
        """Wikidata's name for the language's Wikipedia."""
        return site_of(self.language)


@dataclass
class ItemPart:
    """A piece of the dump as tables: `items` as ITEMS, `statements` as STATEMENTS.

    counts: "entities" on the lines; of these "broken JSON", "not an item" and "no article" (unless
    they stay) are in no table; "deprecated": statements of items in the table that are left out.
    """

    items: pa.Table
    statements: pa.Table
    counts: dict[str, int]


def read_items(records: Iterable[bytes], setup: ItemSetup) -> ItemPart:
    """Read lines of a dump, each one entity, bracket or nothing.

    Broken lines are counted and do not stop it; memory holds the tables of all given lines.
    """
    counts: Counter[str] = Counter()
    rows = _Rows()
    for line in records:
        text = entity_text(line)
        if not text:
            continue
        counts["entities"] += 1
        if setup.articles_only and surely_without_article(text, setup.site):
            counts["no article"] += 1
            continue
        try:
            item, n_deprecated = item_of(parse_entity(text), setup.language)
        except BrokenItem:
            counts["broken JSON"] += 1
        except NotAnItem:
            counts["not an item"] += 1
        else:
            if setup.articles_only and item.article is None:
                counts["no article"] += 1
            else:
                counts["deprecated"] += n_deprecated
                rows.add(item)
    return ItemPart(*rows.tables(), dict(counts))


_Value = str | list[str] | bool | None


@dataclass
class _Rows:
    items: list[list[_Value]] = field(default_factory=lambda: [[] for _ in ITEMS])
    statements: list[list[str]] = field(default_factory=lambda: [[] for _ in STATEMENTS])

    def add(self, item: Item) -> None:
        values = (
            *(item.id, item.label, item.description),
            *(list(item.aliases), item.article, item.disambiguation),
        )
        for column, value in zip(self.items, values, strict=True):
            column.append(value)
        subjects, properties, objects = self.statements
        for statement in item.statements:
            subjects.append(statement.subject)
            properties.append(statement.property)
            objects.append(statement.object)

    def tables(self) -> tuple[pa.Table, pa.Table]:
        items = [pa.array(c, f.type) for c, f in zip(self.items, ITEMS, strict=True)]
        statements = [pa.array(column, pa.string()) for column in self.statements]
        return pa.table(items, schema=ITEMS), pa.table(statements, schema=STATEMENTS)
