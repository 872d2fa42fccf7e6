"""The scoring's section: systems on a benchmark of controlling authority, and where each fails."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import TypedDict

from argus.authority.benchmarks.summary import (
    ScoringSummary,
    ShareFigures,
    ShareName,
    SystemFigures,
)
from argus.data.tables import read_records
from argus.data.types import State
from argus.reports.section import MAX_ROWS, Section, Table, table

SHARES: dict[ShareName, str] = {
    "tca": "TCA",
    "answer_correct": "answer correct",
    "no_ignored_superseder": "no ignored superseder",
    "controlling_hit": "controlling hit",
    "controlling_hit_equivalent": "or an equal text",
    "provenance_recall": "ProvRec",
    "recall": "R",
    "anchor_recall": "anchor recall",
}


class Answer(TypedDict):
    """What the report shows of a system's answer to a question; None where it does not apply."""

    system: str
    question: str
    hop: str | None
    state: str
    reason: str
    tca: bool | None
    answer_correct: bool | None
    no_ignored_superseder: bool | None
    controlling_hit: bool | None
    served: str
    gold: str


def section(folder: Path, scoring: ScoringSummary) -> Section:
    """Build it from summary.json and authority_questions.parquet."""
    systems = scoring["systems"]
    tables = {"scoring_systems": _systems(systems)}
    if any(system["hops"] for system in systems):
        tables["scoring_hops"] = _hops(systems)
    if any(system["factors"] for system in systems):
        tables["scoring_factors"] = _factors(systems)
    tables["scoring_questions"] = _questions(folder)
    return Section({}, tables, _brief(scoring))


def _systems(systems: list[SystemFigures]) -> Table:
    shown = {
        name: heading
        for name, heading in SHARES.items()
        if any(system["overall"][name] for system in systems)
    }
    columns = {"system": "text", "TCA, 95% interval": "interval"}
    columns |= dict.fromkeys(shown.values(), "share") | {"failed": "count"}
    rows: list[list[object]] = []
    for system in systems:
        values = [_value(system["overall"][name]) for name in shown]
        tca = system["overall"]["tca"]
        interval = [tca["low"], tca["high"]] if tca else None
        rows.append([system["name"], interval, *values, system["questions"]["failed"]])
    return table(columns, rows)


def _hops(systems: list[SystemFigures]) -> Table:
    hops = sorted({hop for system in systems for hop in system["hops"]})
    columns = {"TCA by hop type": "text"} | dict.fromkeys(hops, "share")
    rows: list[list[object]] = []
    for system in systems:
        shares = [system["hops"].get(hop) for hop in hops]
        rows.append([system["name"], *[_value(of and of["tca"]) for of in shares]])
    return table(columns, rows)


def _factors(systems: list[SystemFigures]) -> Table:
    columns = {
        "TCA = anchor × chain × frontier + rest": "text",
        "anchor found": "share",
        "right chain, given the anchor": "share",
        "TCA, given the chain": "share",
        "product": "share",
        "TCA without them": "share",
    }
    rows: list[list[object]] = [
        [
            system["name"],
            *[_value(share) for share in (of["anchor"], of["chain"], of["frontier"])],
            of["product"],
            of["tca_without"],
        ]
        for system in systems
        if (of := system["factors"])
    ]
    return table(columns, rows)


def _questions(folder: Path) -> Table:
    """Questions on which a system failed TCA, or failed to answer."""
    file = folder / "authority_questions.parquet"
    rows = read_records(Answer, file)
    wrong = [row for row in rows if not row["tca"]]
    columns = dict.fromkeys(
        ("system", "question", "hop", "served", "gold", "what was wrong"), "text"
    )
    shown: list[list[object]] = [
        [
            row["system"], row["question"], row["hop"] or "", row["served"], row["gold"], _why(row),
        ]
        for row in wrong[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, shown, total=len(wrong))


def _why(row: Answer) -> str:
    if row["state"] == State.FAILED:
        return f"failed: {row['reason']}"
    faults = []
    if row["answer_correct"] is False:
        faults.append("wrong answer")
    if not row["controlling_hit"]:
        faults.append("controlling document not served")
    if not row["no_ignored_superseder"]:
        faults.append("a superseder ignored")
    return ", ".join(faults) or "part of the frontier not served"


def _value(share: ShareFigures | None) -> float | None:
    return None if share is None else float(share["value"])


def _brief(scoring: ScoringSummary) -> str:
    about = scoring["benchmark"]
    by_system = {
        system["name"]: tca["value"]
        for system in scoring["systems"]
        if (tca := system["overall"]["tca"])
    }
    if not by_system:
        return "every question failed"
    best = max(by_system, key=by_system.__getitem__)
    return (
        f"{about['name']}, {about['questions']:,} questions: TCA@{scoring['k']} up to "
        f"{by_system[best]:.3f} ({best})"
    )
