"""What the shards hold, read back as other commands will read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from argus.data.kb import KnowledgeFolder
from argus.data.types import Document
from argus.indexes.lexical import LexicalIndex

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
    entities = kb.entities(["id", "label", "related", "paragraph"])
    return {
        "related": related_histogram(entities["related"].to_numpy()),
        "properties": _properties(kb),
        "shown": _shown(entities),
    }


def related_histogram(related: np.ndarray) -> list[dict[str, int]]:
    """Count entities by number of related ones: 0, 1, 2–3, 4–7, ..."""
    bucket = np.where(related > 0, np.floor(np.log2(np.maximum(related, 1))) + 1, 0).astype(int)
    counts = np.bincount(bucket)
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


def write_words(documents: Sequence[Document], folder: Path) -> None:
    """Write the BM25 index of label and paragraph of every entity."""
    LexicalIndex.build([d.id for d in documents], [d.content for d in documents]).save(folder)


def _properties(kb: KnowledgeFolder) -> list[dict[str, Any]]:
    counted: Counter[tuple[str, str]] = Counter()
    for part in kb.batches("relations", ["property", "source"]):
        groups = part.group_by(["property", "source"]).aggregate([([], "count_all")]).to_pylist()
        for group in groups:
            counted[group["property"], group["source"]] += group["count_all"]
    top = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:PROPERTIES]
    return [{"property": p, "source": s, "relations": n} for (p, s), n in top]


def _shown(entities: pa.Table) -> list[dict[str, Any]]:
    rows = np.unique(np.linspace(0, entities.num_rows - 1, SHOWN).astype(int))
    return list(pc.take(entities, pa.array(rows)).to_pylist())
