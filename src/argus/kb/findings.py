"""What the shards hold, read back as other commands will read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.kb import KnowledgeFolder
from argus.data.types import Document
from argus.indexes.lexical import BATCH, LexicalIndex

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


def findings(kb: KnowledgeFolder) -> dict[str, Any]:
    """Return what the report shows of the shards."""
    kb.entities(["id"], limit=1)  # raises where there is none
    related = (part["related"].to_numpy() for part in kb.batches("entities", ["related"]))
    return {
        "related": related_histogram(related),
        "properties": _properties(kb),
        "shown": _shown(kb),
    }


def related_histogram(parts: Iterable[np.ndarray]) -> list[dict[str, int]]:
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


def outcomes(summary: dict[str, Any]) -> list[tuple[str, dict[str, int]]]:
    """Return, for every input and every kind of row, how many came to what.

    Every page and every item of a dump is in it once: as an entity, or under its reason.
    """
    read, dropped = dict(summary["read"]), summary["counts"]["dropped"]
    aligned = read.pop("aligned", {})
    groups: list[tuple[str, dict[str, int]]] = []
    for dump, rows in (("wikipedia", "pages"), ("wikidata", "items")):
        if rows in aligned:
            alone = {k: n for k, n in read.pop(dump).items() if k not in _ALIGNED_LATER}
            groups.append((dump, _came_to(aligned[rows]) | alone))
    groups += [*read.items(), ("entities left out", dropped["entities"])]
    relations = {source: dict(reasons) for source, reasons in dropped["relations"].items()}
    if deprecated := summary["read"].get("wikidata", {}).get("deprecated"):
        relations.setdefault("wikidata", {})["deprecated"] = deprecated
    groups += [(f"{source} relations left out", n) for source, n in relations.items()]
    return [(name, reasons) for name, reasons in groups if reasons]


def _came_to(rows: dict[str, Any]) -> dict[str, int]:
    lost = rows["dropped"]
    return {"entities": rows["read"] - sum(lost.values()), **lost}


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


def _properties(kb: KnowledgeFolder) -> list[dict[str, Any]]:
    counted: Counter[tuple[str, str]] = Counter()
    for part in kb.batches("relations", ["property", "source"]):
        groups = part.group_by(["property", "source"]).aggregate([([], "count_all")]).to_pylist()
        for group in groups:
            counted[group["property"], group["source"]] += group["count_all"]
    top = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:PROPERTIES]
    return [{"property": p, "source": s, "relations": n} for (p, s), n in top]


def _shown(kb: KnowledgeFolder) -> list[dict[str, Any]]:
    rows = np.unique(np.linspace(0, kb.rows("entities") - 1, SHOWN).astype(np.int64))
    return list(kb.take("entities", rows, ["id", "label", "related", "paragraph"]).to_pylist())
