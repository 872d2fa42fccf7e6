"""The section of a knowledge base: what became of its input, how entities relate, what they say."""

from __future__ import annotations

from pathlib import Path

from argus.kb.summary import KbSummary, RelatedBar
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import Section, naming, table


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
