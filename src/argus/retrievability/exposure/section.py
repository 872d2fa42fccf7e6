"""The exposure's section: concentration, hubs, misses."""

from __future__ import annotations

from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.tables import read_records, read_table
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, slices_table, table
from argus.retrievability.exposure.findings import DISPLACED
from argus.retrievability.exposure.summary import (
    ExposureFindings,
    ExposureSummary,
    Hub,
    KindFigures,
)


class Miss(TypedDict):
    """One row per probe that does not bring its document into the top k.

    probe: title or sentence.
    query: text of the probe.
    displaced_by: documents that came before it, at most three, as titles.
    parent: of chunks, the document that the chunk is of.
    """

    id: str
    label: str
    probe: str
    query: str
    rank: int | None
    """Rank of the document. None where the list of a retriever ended before it."""
    displaced_by: str
    parent: NotRequired[str]
    parent_rank: NotRequired[int | None]
    """Rank of that document among documents, each at its best chunk."""


def section(folder: Path, summary: ExposureSummary) -> Section:
    """Build it from misses.parquet."""
    spread = summary["concentration"]
    misses = read_records(Miss, folder / "misses.parquet")
    tables = {"misses": _misses(misses), "hubs": _hubs(summary["hubs"])}
    if "parents" in summary:
        tables["document_hubs"] = _hubs(summary["parents"]["hubs"])
    if "slices" in summary:
        tables["exposure_slices"] = slices_table(folder)
    plots = {"lorenz": figures.lorenz(spread["lorenz"], spread["gini"])}
    displaced = folder / f"{DISPLACED}.parquet"  # absent in folders of earlier versions
    pairs = read_table(displaced).to_pylist() if displaced.is_file() else []
    return Section(plots, tables, _brief(summary), {DISPLACED: pairs})


def _brief(summary: ExposureSummary) -> str:
    parents = summary.get("parents")
    if parents is None:
        return _come_back(summary, "")
    return f"{_come_back(summary, ' chunks')}; {_come_back(parents, ' documents')}"


def _come_back(summary: ExposureFindings, unit: str) -> str:
    total = f"{summary['documents']['total']:,}{unit}"
    never = f"{summary['never_retrieved']:,} of {total} never come back"
    if (sample := summary.get("sample")) is not None:
        never = (
            f"{sample['missed']:,} of {sample['asked']:,}{unit} that were drawn of "
            f"{sample['of']:,} are missed by every probe of their own"
        )
    shares = [
        _share(summary["sentence"], "a sentence of their own"),
        _share(summary["title"], "their title"),
    ]
    backs = ", ".join(share for share in shares if share)
    return f"{backs} come back in the top {summary['k']}; {never}" if backs else never


def _share(figures: KindFigures, name: str) -> str:
    share = figures["success_at_k"]
    return "" if share is None else f"{share:.1%} by {name}"


def _misses(misses: list[Miss]) -> Table:
    is_chunks = bool(misses) and "parent" in misses[0]
    columns = {
        "chunk" if is_chunks else "document": "text",
        "asked by": "text",
        "query": "text",
        "rank": "count",
        "returned instead": "text",
    }
    rows: list[list[object]] = []
    for row in misses[:MAX_ROWS]:
        values: list[object] = [naming(row["label"], row["id"]), row["probe"], row["query"]]
        rows.append([*values, row["rank"], row["displaced_by"]])
    if is_chunks:
        columns |= {"its document": "text", "the document's rank": "count"}
        for values, row in zip(rows, misses, strict=False):
            values += [row["parent"], row["parent_rank"]]
    return table(columns, rows, total=len(misses))


def _hubs(hubs: list[Hub]) -> Table:
    return table(
        {"document": "text", "lists": "count", "share of all lists": "share"},
        [[naming(hub["label"], hub["id"]), hub["lists"], hub["share"]] for hub in hubs],
    )
