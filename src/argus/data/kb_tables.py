"""The tables of a knowledge base on disk: columns, and the files that hold them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.kb_file import TABLE_NAMES

FORMAT = 1
SHARD_ROWS = 100_000
WIKIDATA, HYPERLINK, TRIPLES, MENTION = "wikidata", "hyperlink", "triples", "mention"
SOURCES = (WIKIDATA, HYPERLINK, TRIPLES, MENTION)
"""Where a relation comes from."""
ALL = "all"
"""In place of a source: all that the knowledge base has."""

ENTITIES = pa.schema(
    [
        ("id", pa.string()),
        ("label", pa.string()),
        ("description", pa.string()),
        ("article", pa.string()),
        ("paragraph", pa.string()),
        ("span_start", pa.int32()),
        ("span_end", pa.int32()),
        ("prepended", pa.bool_()),
        ("target", pa.bool_()),
        ("related", pa.int32()),
    ]
)
"""One row per entity of a knowledge base, in shards.

id: id of the entity, of Wikidata where it has one.
label: its label.
description: its description; empty without one.
article: title of its page; null without one.
paragraph: what is embedded of it; null without one.
span_start, span_end: characters of the paragraph that name it, from 0; null without any.
prepended: whether the label was put before the paragraph, which did not name it.
target: whether it can be audited; a sample brings others along.
related: entities that it is related to.
"""
RELATIONS = pa.schema(
    [
        ("subject", pa.string()),
        ("property", pa.string()),
        ("object", pa.string()),
        ("source", pa.string()),
    ]
)
"""One row per relation of a knowledge base, in shards.

subject, object: id of the entity.
property: property of Wikidata, or name of the relation.
source: wikidata, hyperlink, triples or mention.
"""
ALIASES = pa.schema([("id", pa.string()), ("alias", pa.string()), ("source", pa.string())])
"""One row per other name of an entity, in shards.

alias: the name.
source: where it is from.
"""
REDIRECTS = pa.schema([("title", pa.string()), ("target", pa.string()), ("id", pa.string())])
"""One row per redirect of Wikipedia, in shards.

title: title that redirects.
target: title of the page that it leads to.
id: id of the entity of that page.
"""
TABLES = dict(zip(TABLE_NAMES, (ENTITIES, RELATIONS, ALIASES, REDIRECTS), strict=True))
SORTED_BY = {"entities": ("id",), "relations": ("subject", "property", "object")}


class KbFacts(TypedDict, total=False):
    """What a build notes of itself in kb.json. damage: where a dump breaks off, by its name."""

    argus: str
    key: str
    language: str
    sample: int | None
    damage: dict[str, str]


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a table, as kb.json names it; `file` is relative to the folder."""

    file: str
    rows: int
    bytes: int
    sha256: str
