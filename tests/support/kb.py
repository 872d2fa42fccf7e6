"""A small knowledge base on disk."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.kb import TABLES, KbWriter

Rows = Sequence[Mapping[str, Any]]

PARAGRAPHS = {
    "Q1": ("Ada Lovelace", "Ada Lovelace wrote to Charles Babbage about the engine."),
    "Q2": ("Charles Babbage", "Charles Babbage was an English inventor of computers."),
    "Q3": ("Royal Society", "The Royal Society is a learned society in London."),
    "Q4": ("Analytical Engine", "The Analytical Engine was a mechanical computer."),
    "Q5": ("London", "London is the capital of England. Ada Lovelace lived there."),
}
RELATIONS = [
    ("Q1", "P737", "Q2", "wikidata"),
    ("Q2", "P463", "Q3", "wikidata"),
    ("Q2", "P800", "Q4", "wikidata"),
    ("Q1", "", "Q4", "hyperlink"),
    ("Q3", "", "Q5", "hyperlink"),
]
ALIASES = [
    ("Q1", "Countess of Lovelace", "alias"),
    ("Q1", "Ada King", "redirect"),
    ("Q1", "Ada King", "title"),
    ("Q5", "London, England", "redirect"),
]


def entity_rows(paragraphs: Mapping[str, tuple[str, str]], targets: Sequence[str]) -> Rows:
    return [
        {
            "id": id_,
            "label": label,
            "description": f"about {label}",
            "article": label.replace(" ", "_"),
            "paragraph": paragraph,
            "target": id_ in targets,
        }
        for id_, (label, paragraph) in paragraphs.items()
    ]


def batches(table: str, rows: Rows, size: int = 2) -> Iterator[pa.RecordBatch]:
    """Rows in order, in batches of `size`; missing columns are null."""
    names = {"entities": ["id"], "relations": ["subject", "property", "object"]}.get(table, [])
    rows = sorted(rows, key=lambda row: tuple(row[name] for name in names))
    for start in range(0, len(rows), size):
        yield pa.RecordBatch.from_pylist(rows[start : start + size], TABLES[table])


def named(table: str, rows: Sequence[Sequence[str]]) -> Rows:
    return [dict(zip(TABLES[table].names, row, strict=True)) for row in rows]


def write_kb(
    location: str | Path,
    paragraphs: Mapping[str, tuple[str, str]] = PARAGRAPHS,
    relations: Sequence[Sequence[str]] = RELATIONS,
    aliases: Sequence[Sequence[str]] = ALIASES,
    *,
    graph: str = "wikidata",
    targets: Sequence[str] | None = None,
) -> str | Path:
    """Write a knowledge base and return where it is; all entities are targets unless named."""
    writer = KbWriter(location)
    chosen = list(paragraphs) if targets is None else targets
    writer.write("entities", batches("entities", entity_rows(paragraphs, chosen)))
    writer.write("relations", batches("relations", named("relations", relations)))
    writer.write("aliases", batches("aliases", named("aliases", aliases)))
    drawn = None if targets is None else len(targets)
    writer.finish(graph, {"language": "en", "entities": len(paragraphs), "sample": drawn})
    return location
