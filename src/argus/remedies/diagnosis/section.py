"""The diagnosis' section: where in the corpus the risk sits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.remedies import figures as figures_repair
from argus.reports.section import MAX_ROWS, Section, table

NAMED = 8
"""Entities at risk that the table of documents names for each."""


def section(folder: Path, diagnosis: dict[str, Any]) -> Section:
    """Build it from diagnosis.parquet."""
    columns = ["doc_id", "entity", "rps", "flagged"]
    rows = pq.read_table(folder / "diagnosis.parquet", columns=columns).to_pylist()
    flagged = [row for row in rows if row["flagged"]]
    histogram = diagnosis["histogram"]
    plots = {}
    if diagnosis["mean_rps"] is not None:
        plots["predicted_risk"] = figures_repair.predicted_risk(
            histogram["edges"], histogram["entities"], diagnosis["tau"]
        )
    tables = {}
    if flagged:
        tables = {
            "documents_at_risk": _documents(rows, flagged),
            "entities_at_risk": _entities(rows, flagged),
        }
    brief = (
        f"{diagnosis['documents_at_risk']:,} of {diagnosis['documents']:,} documents name an "
        f"entity at risk (predicted RPS below {diagnosis['tau']:g})"
    )
    return Section(plots, tables, brief)


def _documents(rows: list[dict[str, Any]], flagged: list[dict[str, Any]]) -> Any:
    """Documents by entities at risk, most first; each with the worst of them."""
    named = Counter(row["doc_id"] for row in rows)
    of_document: dict[str, list[dict[str, Any]]] = {}
    for row in flagged:
        of_document.setdefault(row["doc_id"], []).append(row)
    ordered = sorted(of_document.items(), key=lambda item: (-len(item[1]), item[0]))
    shown = []
    for doc_id, risks in ordered[:MAX_ROWS]:
        risks.sort(key=lambda row: (row["rps"], row["entity"]))
        worst = ", ".join(row["entity"] for row in risks[:NAMED])
        more = len(risks) - NAMED
        worst += f" and {more} more" if more > 0 else ""
        shown.append([doc_id, len(risks), named[doc_id], risks[0]["rps"], worst])
    columns = {"document": "text", "at risk": "count", "entities": "count"}
    columns |= {"lowest predicted RPS": "share", "which, worst first": "text"}
    return table(columns, shown, total=len(ordered))


def _entities(rows: list[dict[str, Any]], flagged: list[dict[str, Any]]) -> Any:
    """Entities by the number of documents in which they are at risk, most first."""
    everywhere = Counter(row["entity"] for row in rows)
    found = Counter(row["entity"] for row in flagged)
    lowest: dict[str, float] = {}
    for row in flagged:
        lowest[row["entity"]] = min(row["rps"], lowest.get(row["entity"], 1.0))
    ordered = sorted(found.items(), key=lambda item: (-item[1], lowest[item[0]], item[0]))
    columns = {"entity": "text", "at risk in documents": "count", "named in documents": "count"}
    return table(
        columns | {"lowest predicted RPS": "share"},
        [[name, n, everywhere[name], lowest[name]] for name, n in ordered[:MAX_ROWS]],
        total=len(ordered),
    )
