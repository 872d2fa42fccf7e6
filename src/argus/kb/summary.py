"""What a build says of a knowledge base in summary.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NotRequired

from pydantic import BeforeValidator
from typing_extensions import TypedDict

from argus.knowledge.alignment.from_dumps import AlignCounts
from argus.knowledge.alignment.to_tables import KbCounts

Reasons = dict[str, int]
"""How many rows came to what."""


def _pair(value: object) -> object:
    """Return a list as the pair that it was written from: JSON has no tuples."""
    return tuple(value) if isinstance(value, list) else value


Outcome = Annotated[tuple[str, Reasons], BeforeValidator(_pair)]
"""An input, or a kind of row, and what its rows came to."""


class ReadCounts(TypedDict):
    """Rows of every input that was read.

    wikipedia: pages by what became of them.
    wikidata: items by what became of them.
    source: rows of a source that is no dump, by what became of them.
    mentions: mentions by what became of them.
    """

    wikipedia: NotRequired[Reasons]
    wikidata: NotRequired[Reasons]
    aligned: NotRequired[AlignCounts]
    source: NotRequired[Reasons]
    mentions: NotRequired[Reasons]


RelatedBar = TypedDict("RelatedBar", {"from": int, "to": int, "entities": int})
"""Entities with so many related ones, both ends included.

from, to: least and most related entities, both included.
entities: entities that have so many.
"""


class PropertyCount(TypedDict):
    """A property, where its relations come from, and how many there are.

    property: property of Wikidata, or name of the relation.
    source: where its relations come from.
    relations: relations by it.
    """

    property: str
    source: str
    relations: int


class SampleEntity(TypedDict):
    """An entity to be read in the report.

    id: id of the entity.
    label: label of the entity.
    related: how many it is related to.
    paragraph: its paragraph; None without one.
    """

    id: str
    label: str | None
    related: int | None
    paragraph: str | None


class KbShards(TypedDict):
    """What the shards hold, read back.

    shown: entities to be read in the report.
    """

    related: list[RelatedBar]
    properties: list[PropertyCount]
    shown: list[SampleEntity]


class BuildCounts(TypedDict):
    """What was read and written.

    damage: where a dump breaks off, by its name.
    outcomes: per input, or kind of row, what its rows came to.
    """

    read: ReadCounts
    damage: dict[str, str]
    counts: KbCounts
    outcomes: list[Outcome]


class KbSummary(BuildCounts, KbShards):
    """A knowledge base, and what became of all that was read.

    key: what the build is known by.
    shards: folder of the shards.
    words: file of the index of words; None without one.
    language: language of the pages.
    made_of: inputs by name.
    """

    key: str
    shards: str
    words: str | None
    language: str
    made_of: dict[str, str]


def headline(summary: KbSummary) -> Iterator[str]:
    """Yield what a knowledge base holds, and what became of its input."""
    counts = summary["counts"]
    relations = [f"{n:,} by {source}" for source, n in counts["relations"].items()]
    yield (
        f"entities: {counts['entities']:,}, of which {counts['targets']:,} can be audited; "
        f"relations: {', '.join(relations) or 'none'}; "
        f"aliases: {counts['aliases']:,}; redirects: {counts['redirects']:,}"
    )
    for name, reasons in summary["outcomes"]:
        yield f"{name}: " + ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
    for name, where in summary["damage"].items():
        yield f"warning: {name} breaks off: {where}"
    yield f"shards: {summary['shards']}"
