"""A retriever's need audit in words: its headline, and its section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.data.types import State
from argus.measures.slices import slice_lines
from argus.reports.section import MAX_ROWS, Section, naming, slices_table, table
from argus.retrievers.protocol import note_lines
from argus.scenarios.needs.section import risk_lines, risk_table


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many documents are out of reach of their needs."""
    yield brief(summary)
    places = {"found_at_1": "first", "found_at_k": f"in the top {summary['k']}"}
    for name, where in places.items():
        share = summary[name]
        yield (
            f"found {where}: {share['mean']:.1%} of a document's needs "
            f"({share['low']:.1%} to {share['high']:.1%})"
        )
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    yield from risk_lines(summary)
    if summary["longest"] < summary["k"]:
        yield f"no list of {summary['retriever']['name']} was longer than {summary['longest']}"
    if summary["strange"]:
        yield f"{summary['strange']:,} results are no document of the corpus: mind --result-id"
    yield from note_lines(summary["retriever"], summary["needs"]["total"])
    if reasons := summary["documents"]["reasons"]:
        shown = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
        yield f"not measured: {shown}"
    if summary["profiles_elsewhere"]:
        yield f"{summary['profiles_elsewhere']:,} profiles are of documents that the corpus lacks"


def brief(summary: Mapping[str, Any]) -> str:
    """Return the result in one line."""
    return (
        f"{summary['unreached']:,} of {summary['documents']['measured']:,} documents come back "
        f"from {summary['retriever']['name']} for none of their needs (top {summary['k']})"
    )


def section(folder: Path, needs: Mapping[str, Any]) -> Section:
    """Build it from needs_served.parquet, documents out of reach first."""
    rows = read_table(folder / "needs_served.parquet").to_pylist()
    rows = [row for row in rows if row["state"] == State.MEASURED]
    rows.sort(key=lambda row: (row["high"], row["found"], row["id"]))
    columns = {
        "document": "text",
        "needs": "count",
        "bring it back": "share",
        "95% interval": "interval",
        "band": "band",
        "the need that fails it most": "text",
        "rank": "count",
        "returned instead": "text",
    }
    shown = [
        [
            naming(row["label"], row["id"]), row["needs"], row["found"], [row["low"], row["high"]],
            row["band"], row["worst_need"], row["worst_rank"], row["displaced_by"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    tables = {"needs_served": table(columns, shown, total=len(rows))}
    tables |= risk_table(folder, "need_risk_served", needs)
    if "slices" in needs:
        tables["needs_served_slices"] = slices_table(folder, "needs_served_slices")
    return Section({}, tables, brief(needs))
