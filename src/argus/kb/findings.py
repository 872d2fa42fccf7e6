"""What the shards hold, read back as other commands will read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from argus.data.kb import KnowledgeFolder
from argus.data.types import Document
from argus.indexes.lexical import BATCH, LexicalIndex
from argus.kb.summary import (
    KbShards,
    Outcome,
    PropertyCount,
    ReadCounts,
    Reasons,
    RelatedBar,
    SampleEntity,
)
from argus.knowledge.alignment.from_dumps import AlignCounts, Fates
from argus.knowledge.alignment.to_tables import DroppedRows

SHOWN = 30
"""Entities that the report shows, to be read."""
_ALIGNED_LATER = frozenset(
    (
        *("articles", "redirects", "entities", "deprecated"),
        *("disambiguation", "no text", "no first paragraph", "paragraph too short"),
    )
)
"""What reading counts of rows that the alignment counts, too."""

PROPERTIES = 20
"""Most frequent properties that the report shows."""


def findings(kb: KnowledgeFolder) -> KbShards:
    """Return what the report shows of the shards."""
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
    """Return, for every input and every kind of row, how many came to what.

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
    """Return what the rows of a dump came to; what they were dropped for when read comes last."""
    if fates is None:
        return read
    dropped = fates["dropped"]
    alone = {reason: n for reason, n in read.items() if reason not in _ALIGNED_LATER}
    return {"entities": fates["read"] - sum(dropped.values()), **dropped, **alone}


def write_words(kb: KnowledgeFolder, folder: Path, *, made_of: str) -> None:
    """Write the BM25 index of label and paragraph of every entity, which no more than pass by."""
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
