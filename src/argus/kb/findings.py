"""Count the contents of a knowledge base, and show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.kb import KnowledgeFolder
from argus.data.types import Document
from argus.indexes.lexical import BATCH, LexicalIndex
from argus.reports.figures import BAND_COLOURS, framed
from argus.reports.section import Section, naming, table

MAX_SHOWN, MAX_PROPERTIES = 30, 20
"""Entities that the report shows, to be read, and its most frequent properties."""
_ALIGNED_LATER = frozenset(
    (
        *("articles", "redirects", "entities", "deprecated"),
        *("disambiguation", "no text", "no first paragraph", "paragraph too short"),
    )
)
"""Counts of reading that the alignment counts, too."""


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
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


def findings(kb: KnowledgeFolder) -> dict[str, Any]:
    """Return the report's figures of the shards.

    related: per number of related entities, from and to (both included), the entities.
    properties: the most frequent ones: property, source of its relations, their number.
    shown: entities to be read: id, label, number of related ones, paragraph.
    """
    kb.entities(["id"], limit=1)  # raises where there is none
    related = (part["related"].to_numpy() for part in kb.batches("entities", ["related"]))
    counts: Counter[tuple[str, str]] = Counter()
    for part in kb.batches("relations", ["property", "source"]):
        groups = part.group_by(["property", "source"]).aggregate([([], "count_all")]).to_pylist()
        for group in groups:
            counts[group["property"], group["source"]] += group["count_all"]
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_PROPERTIES]
    rows = np.unique(np.linspace(0, kb.rows("entities") - 1, MAX_SHOWN).astype(np.int64))
    return {
        "related": related_histogram(related),
        "properties": [{"property": p, "source": s, "relations": n} for (p, s), n in top],
        "shown": kb.take("entities", rows, ["id", "label", "related", "paragraph"]).to_pylist(),
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


def outcomes(read: Mapping[str, Any], dropped: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the rows by outcome, for every input and every kind of row.

    Every page and every item of a dump is in it once: as an entity, or under its reason. read:
    rows of every input, as `KbResult` describes them.
    """
    aligned = read.get("aligned", {})
    groups = [
        (name, _aligned(aligned.get(kind), read.get(name, {})))
        for name, kind in (("wikipedia", "pages"), ("wikidata", "items"))
    ]
    groups += [(name, read.get(name, {})) for name in ("source", "mentions")]
    groups.append(("entities left out", dropped["entities"]))
    relations = {source: dict(reasons) for source, reasons in dropped["relations"].items()}
    if deprecated := read.get("wikidata", {}).get("deprecated"):
        relations.setdefault("wikidata", {})["deprecated"] = deprecated
    groups += [(f"{source} relations left out", n) for source, n in relations.items()]
    return [(name, reasons) for name, reasons in groups if reasons]


def _aligned(fates: Mapping[str, Any] | None, read: Mapping[str, int]) -> Mapping[str, int]:
    """Return the rows of a dump by outcome. Reasons for dropping them when read come last."""
    if fates is None:
        return read
    dropped = fates["dropped"]
    when_read = {reason: n for reason, n in read.items() if reason not in _ALIGNED_LATER}
    return {"entities": fates["read"] - sum(dropped.values()), **dropped, **when_read}


def write_words(kb: KnowledgeFolder, folder: Path, *, made_of: str) -> None:
    """Write the BM25 index of label and paragraph of every entity. They are streamed."""

    def contents() -> Iterator[tuple[list[str], list[str]]]:
        names = ["id", "label", "paragraph"]
        for part in kb.batches("entities", names):
            for batch in part.select(names).to_batches(max_chunksize=BATCH):
                ids, labels, paragraphs = (column.to_pylist() for column in batch.columns)
                rows = zip(ids, paragraphs, labels, strict=True)
                texts = [Document(i, text or "", label or "").content for i, text, label in rows]
                yield ids, texts

    LexicalIndex.from_batches(contents(), made_of=made_of).save(folder)


def section(folder: Path, kb: Mapping[str, Any]) -> Section:
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
    histogram = kb["related"]
    bars = {
        "type": "bar",
        "x": [
            f"{bar['from']:,}" if bar["to"] == bar["from"] else f"{bar['from']:,}–{bar['to']:,}"
            for bar in histogram
        ],
        "y": [bar["entities"] for bar in histogram],
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "%{x} related: %{y:,} entities<extra></extra>",
    }
    figure = framed([bars], "related entities", "entities", {"bargap": 0.04})
    figure["layout"]["xaxis"] |= {"type": "category"}
    return Section({"kb_related": figure}, tables, brief)
