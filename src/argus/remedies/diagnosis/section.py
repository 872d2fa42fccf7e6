"""The diagnosis' section: where in the corpus the risk sits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from typing_extensions import TypedDict

from argus.data.tables import read_table
from argus.remedies import figures as figures_repair
from argus.remedies.diagnosis.summary import DiagnosisSummary
from argus.reports.section import MAX_ROWS, Section, Table, table

NAMED = 8
"""Entities at risk that the table of documents names for each."""


class RiskRow(TypedDict):
    """What is read of a row of diagnosis.parquet whose entity is at risk."""

    doc_id: str
    entity: str
    rps: float


def section(folder: Path, diagnosis: DiagnosisSummary) -> Section:
    """Build it from diagnosis.parquet."""
    columns = ["doc_id", "entity", "rps", "flagged"]
    entities = read_table(folder / "diagnosis.parquet", columns=columns)
    risks: list[RiskRow] = [row for row in entities.to_pylist() if row["flagged"]]
    histogram = diagnosis["histogram"]
    plots = {}
    if diagnosis["mean_rps"] is not None:
        plots["predicted_risk"] = figures_repair.predicted_risk(
            histogram["edges"], histogram["entities"], diagnosis["tau"]
        )
    tables = {}
    if risks:
        tables = {
            "documents_at_risk": _documents(risks, Counter(entities["doc_id"].to_pylist())),
            "entities_at_risk": _entities(risks, Counter(entities["entity"].to_pylist())),
        }
    brief = (
        f"{diagnosis['documents_at_risk']:,} of {diagnosis['documents']:,} documents name an "
        f"entity at risk (predicted RPS below {diagnosis['tau']:g})"
    )
    return Section(plots, tables, brief)


def _documents(risks: list[RiskRow], entities: Counter[str]) -> Table:
    """Documents by entities at risk, most first; each with the worst of them.

    entities: how many each document names.
    """
    of_document: dict[str, list[RiskRow]] = {}
    for risk in risks:
        of_document.setdefault(risk["doc_id"], []).append(risk)
    ordered = sorted(of_document.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = []
    for doc_id, own in ordered[:MAX_ROWS]:
        own.sort(key=lambda risk: (risk["rps"], risk["entity"]))
        worst = ", ".join(risk["entity"] for risk in own[:NAMED])
        more = len(own) - NAMED
        worst += f" and {more} more" if more > 0 else ""
        rows.append([doc_id, len(own), entities[doc_id], own[0]["rps"], worst])
    columns = {"document": "text", "at risk": "count", "entities": "count"}
    columns |= {"lowest predicted RPS": "share", "which, worst first": "text"}
    return table(columns, rows, total=len(ordered))


def _entities(risks: list[RiskRow], documents: Counter[str]) -> Table:
    """Entities by the number of documents in which they are at risk, most first.

    documents: how many name each entity.
    """
    at_risk = Counter(risk["entity"] for risk in risks)
    lowest: dict[str, float] = {}
    for risk in risks:
        lowest[risk["entity"]] = min(risk["rps"], lowest.get(risk["entity"], 1.0))
    ordered = sorted(at_risk.items(), key=lambda item: (-item[1], lowest[item[0]], item[0]))
    columns = {"entity": "text", "at risk in documents": "count", "named in documents": "count"}
    return table(
        columns | {"lowest predicted RPS": "share"},
        [[name, n, documents[name], lowest[name]] for name, n in ordered[:MAX_ROWS]],
        total=len(ordered),
    )
