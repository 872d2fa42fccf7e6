"""The scoring's section: systems on a benchmark of controlling authority, and where each fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from argus.reports.section import MAX_ROWS, Section, table

SHARES = {
    "tca": "TCA",
    "answer_correct": "answer correct",
    "no_ignored_superseder": "no ignored superseder",
    "controlling_hit": "controlling hit",
    "controlling_hit_equivalent": "or an equal text",
    "provenance_recall": "ProvRec",
    "recall": "R",
    "anchor_recall": "anchor recall",
}


def section(folder: Path, scoring: dict[str, Any]) -> Section:
    """Build it from summary.json and authority_questions.parquet."""
    systems = scoring["systems"]
    tables = {"scoring_systems": _systems(systems)}
    if any(system["hops"] for system in systems):
        tables["scoring_hops"] = _hops(systems)
    if any(system["factors"] for system in systems):
        tables["scoring_factors"] = _factors(systems)
    tables["scoring_questions"] = _questions(folder)
    return Section({}, tables, _brief(scoring))


def _systems(systems: list[dict[str, Any]]) -> Any:
    shown = {
        name: heading
        for name, heading in SHARES.items()
        if any(system["overall"][name] for system in systems)
    }
    columns = {"system": "text", "TCA, 95% interval": "interval"}
    columns |= dict.fromkeys(shown.values(), "share") | {"failed": "count"}
    rows = []
    for system in systems:
        values = [_value(system["overall"][name]) for name in shown]
        tca = system["overall"]["tca"]
        interval = [tca["low"], tca["high"]] if tca else None
        rows.append([system["name"], interval, *values, system["questions"]["failed"]])
    return table(columns, rows)


def _hops(systems: list[dict[str, Any]]) -> Any:
    hops = sorted({hop for system in systems for hop in system["hops"]})
    columns = {"TCA by hop type": "text"} | dict.fromkeys(hops, "share")
    rows = [
        [system["name"], *[_value(system["hops"].get(hop, {}).get("tca")) for hop in hops]]
        for system in systems
    ]
    return table(columns, rows)


def _factors(systems: list[dict[str, Any]]) -> Any:
    columns = {
        "TCA = anchor × chain × frontier + rest": "text",
        "anchor found": "share",
        "right chain, given the anchor": "share",
        "TCA, given the chain": "share",
        "product": "share",
        "TCA without them": "share",
    }
    rows = [
        [
            system["name"],
            *[_value(system["factors"][name]) for name in ("anchor", "chain", "frontier")],
            system["factors"]["product"],
            system["factors"]["tca_without"],
        ]
        for system in systems
        if system["factors"]
    ]
    return table(columns, rows)


def _questions(folder: Path) -> Any:
    """Questions on which a system failed TCA, or failed to answer."""
    rows = pq.read_table(folder / "authority_questions.parquet").to_pylist()
    wrong = [row for row in rows if not row["tca"]]
    columns = dict.fromkeys(
        ("system", "question", "hop", "served", "gold", "what was wrong"), "text"
    )
    shown = [
        [
            row["system"], row["question"], row["hop"] or "", row["served"], row["gold"], _why(row),
        ]
        for row in wrong[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, shown, total=len(wrong))


def _why(row: dict[str, Any]) -> str:
    if row["state"] == "failed":
        return f"failed: {row['reason']}"
    faults = []
    if row["answer_correct"] is False:
        faults.append("wrong answer")
    if not row["controlling_hit"]:
        faults.append("controlling document not served")
    if not row["no_ignored_superseder"]:
        faults.append("a superseder ignored")
    return ", ".join(faults) or "part of the frontier not served"


def _value(share: dict[str, Any] | None) -> float | None:
    return None if share is None else float(share["value"])


def _brief(scoring: dict[str, Any]) -> str:
    about, systems = scoring["benchmark"], scoring["systems"]
    scored = [system for system in systems if system["overall"]["tca"]]
    if not scored:
        return "every question failed"
    best = max(scored, key=lambda system: system["overall"]["tca"]["value"])
    return (
        f"{about['name']}, {about['questions']:,} questions: TCA@{scoring['k']} up to "
        f"{best['overall']['tca']['value']:.3f} ({best['name']})"
    )
