"""Count the contents of a knowledge base, and show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, NotRequired

import numpy as np
from pydantic import BeforeValidator
from typing_extensions import TypedDict

from argus.data.kb import KnowledgeFolder
from argus.data.types import Document
from argus.indexes.lexical import BATCH, LexicalIndex
from argus.knowledge.alignment.pages_and_items import AlignCounts, Fates
from argus.knowledge.alignment.tables import DroppedRows, KbCounts
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import Section, naming, table

Reasons = dict[str, int]
"""Counts of rows by outcome."""


def _pair(value: object) -> object:
    """Return a list as the pair that it was written from: JSON has no tuples."""
    return tuple(value) if isinstance(value, list) else value


Outcome = Annotated[tuple[str, Reasons], BeforeValidator(_pair)]
"""An input, or a kind of row, and the outcomes of its rows."""


class ReadCounts(TypedDict):
    """Rows of every input that was read.

    wikipedia: pages by outcome.
    wikidata: items by outcome.
    source: rows of a source that is no dump, by outcome.
    mentions: mentions by outcome.
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
    paragraph: its paragraph. None without one.
    """

    id: str
    label: str | None
    related: int | None
    paragraph: str | None


class KbShards(TypedDict):
    """Figures of the shards, read back.

    shown: entities to be read in the report.
    """

    related: list[RelatedBar]
    properties: list[PropertyCount]
    shown: list[SampleEntity]


class BuildCounts(TypedDict):
    """Counts of rows read and written.

    damage: where a dump breaks off, by its name.
    outcomes: per input, or kind of row, its rows by outcome.
    """

    read: ReadCounts
    damage: dict[str, str]
    counts: KbCounts
    outcomes: list[Outcome]


class KbSummary(BuildCounts, KbShards):
    """A knowledge base, and the outcomes of all rows read.

    key: of the finished build.
    shards: folder of the shards.
    words: file of the index of words. None without one.
    language: language of the pages.
    made_of: inputs by name.
    """

    key: str
    shards: str
    words: str | None
    language: str
    made_of: dict[str, str]


def headline(summary: KbSummary) -> Iterator[str]:
    """Yield the figures of a knowledge base, and the outcomes of its input."""
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


SHOWN = 30
"""Entities that the report shows, to be read."""
_ALIGNED_LATER = frozenset(
    (
        *("articles", "redirects", "entities", "deprecated"),
        *("disambiguation", "no text", "no first paragraph", "paragraph too short"),
    )
)
"""Counts of reading that the alignment counts, too."""

PROPERTIES = 20
"""Most frequent properties that the report shows."""


def findings(kb: KnowledgeFolder) -> KbShards:
    """Return the report's figures of the shards."""
    kb.entities(["id"], limit=1)  # raises where there is none
    related = (part["related"].to_numpy() for part in kb.batches("entities", ["related"]))
    return {
        "related": related_histogram(related),
        "properties": _properties(kb),
        "shown": _sample(kb),
    }


def related_histogram(parts: Iterable[np.ndarray]) -> list[RelatedBar]:
    """Count entities by number of related ones: 0, 1, 2–3, 4–7, ..."""
    counts = np.zeros(64, np.int64)
    for related in parts:
        bucket = np.where(related > 0, np.floor(np.log2(np.maximum(related, 1))) + 1, 0)
        counts += np.bincount(bucket.astype(int), minlength=len(counts))
    counts = np.trim_zeros(counts, "b")
    return [
        {"from": 2 ** (b - 1) if b else 0, "to": 2**b - 1 if b else 0, "entities": int(n)}
        for b, n in enumerate(counts)
    ]


def outcomes(read: ReadCounts, dropped: DroppedRows) -> list[Outcome]:
    """Return the rows by outcome, for every input and every kind of row.

    Every page and every item of a dump is in it once: as an entity, or under its reason.
    """
    fates = read.get("aligned", AlignCounts(entities=0))
    groups: list[Outcome] = [
        ("wikipedia", _came_to(fates.get("pages"), read.get("wikipedia", {}))),
        ("wikidata", _came_to(fates.get("items"), read.get("wikidata", {}))),
        ("source", read.get("source", {})),
        ("mentions", read.get("mentions", {})),
        ("entities left out", dropped["entities"]),
    ]
    relations = {source: dict(reasons) for source, reasons in dropped["relations"].items()}
    if deprecated := read.get("wikidata", {}).get("deprecated"):
        relations.setdefault("wikidata", {})["deprecated"] = deprecated
    groups += [(f"{source} relations left out", n) for source, n in relations.items()]
    return [(name, reasons) for name, reasons in groups if reasons]


def _came_to(fates: Fates | None, read: Reasons) -> Reasons:
    """Return the rows of a dump by outcome. Reasons for dropping them when read come last."""
    if fates is None:
        return read
    dropped = fates["dropped"]
    alone = {reason: n for reason, n in read.items() if reason not in _ALIGNED_LATER}
    return {"entities": fates["read"] - sum(dropped.values()), **dropped, **alone}


def write_words(kb: KnowledgeFolder, folder: Path, *, made_of: str) -> None:
    """Write the BM25 index of label and paragraph of every entity. They are streamed."""
    LexicalIndex.from_batches(_contents(kb), made_of=made_of).save(folder)


def _contents(kb: KnowledgeFolder) -> Iterator[tuple[list[str], list[str]]]:
    names = ["id", "label", "paragraph"]
    for part in kb.batches("entities", names):
        for batch in part.select(names).to_batches(max_chunksize=BATCH):
            ids, labels, paragraphs = (column.to_pylist() for column in batch.columns)
            rows = zip(ids, paragraphs, labels, strict=True)
            yield ids, [Document(i, text or "", label or "").content for i, text, label in rows]


def _properties(kb: KnowledgeFolder) -> list[PropertyCount]:
    counts: Counter[tuple[str, str]] = Counter()
    for part in kb.batches("relations", ["property", "source"]):
        groups = part.group_by(["property", "source"]).aggregate([([], "count_all")]).to_pylist()
        for group in groups:
            counts[group["property"], group["source"]] += group["count_all"]
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:PROPERTIES]
    return [{"property": p, "source": s, "relations": n} for (p, s), n in top]


def _sample(kb: KnowledgeFolder) -> list[SampleEntity]:
    rows = np.unique(np.linspace(0, kb.rows("entities") - 1, SHOWN).astype(np.int64))
    return list(kb.take("entities", rows, ["id", "label", "related", "paragraph"]).to_pylist())


def section(folder: Path, kb: KbSummary) -> Section:
    """Build it from summary.json."""
    counts = kb["counts"]
    tables = {
        "kb_read": table(
            {"input": "text", "came to": "text", "number": "count"},
            [[name, what, n] for name, rows in kb["outcomes"] for what, n in rows.items()],
        ),
        "kb_shown": table(
            {"entity": "text", "related": "count", "first paragraph": "text"},
            [[naming(e["label"], e["id"]), e["related"], e["paragraph"]] for e in kb["shown"]],
        ),
    }
    if kb["properties"]:
        rows = [[p["property"], p["source"], p["relations"]] for p in kb["properties"]]
        columns = {"property": "text", "source": "text", "relations": "count"}
        tables["kb_properties"] = table(columns, rows)
    brief = (
        f"{counts['entities']:,} entities, {sum(counts['relations'].values()):,} relations; "
        f"{counts['targets']:,} entities can be audited"
    )
    return Section({"kb_related": _related(kb["related"])}, tables, brief)


def _related(histogram: list[RelatedBar]) -> Figure:
    names = [
        f"{bar['from']:,}" if bar["to"] == bar["from"] else f"{bar['from']:,}–{bar['to']:,}"
        for bar in histogram
    ]
    bars = {
        "type": "bar",
        "x": names,
        "y": [bar["entities"] for bar in histogram],
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "%{x} related: %{y:,} entities<extra></extra>",
    }
    figure = framed([bars], "related entities", "entities", {"bargap": 0.04})
    figure["layout"]["xaxis"] |= {"type": "category"}
    return figure
