"""What the rows of one or two systems come to: the job's part of summary.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from argus.evaluation.significance import paired_difference
from argus.generative.failures.diagnosis import (
    FAILED,
    FOUND,
    LATE,
    Finding,
    Spread,
    derived,
    diagnose,
    outcome,
    spreads,
)
from argus.generative.failures.measures import to_table
from argus.generative.failures.tables import figures
from argus.generative.failures.taxonomy import FailureMode

Rows = Sequence[dict[str, Any]]
COMPARED = (
    "hit_1", "hit_k", "r_precision", "answer_hit_1", "answer_hit_k", "unigram_share", "overlap",
    "dominance", "diversity", "frequency_top", "title_score_share", "query_score_share",
)  # fmt: skip
"""Figures of which two systems' differences are shown, over the questions that both have."""
DIAGNOSIS_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("system", "query_id", "question", "outcome")),
        ("first_correct", pa.int64()),
        ("modes", pa.list_(pa.string())),
        ("evidence", pa.list_(pa.string())),
    ]
)
_NO_QUERIES = "the system wrote no pseudo-query for any question"


@dataclass(frozen=True)
class System:
    """One system's rows, and the modes of failure that hold for each of them."""

    name: str
    rows: Rows
    findings: list[list[Finding]]
    spreads: dict[str, Spread]
    modes: list[FailureMode]


def diagnosed(name: str, rows: Rows, modes: Sequence[FailureMode], k: int) -> System:
    """Return a system with a diagnosis for every question.

    Pseudo-queries are not missed where the system writes none at all.
    """
    writes_queries = any(row["query_ngrams_all"] for row in rows)
    known = [m for m in modes if writes_queries or m.column != "query_ngrams_first"]
    whole = [derived(row, k) for row in rows]
    spread = spreads(whole, known)
    return System(name, rows, [diagnose(row, known, spread, k) for row in whole], spread, known)


def system_summary(
    system: System, modes: Sequence[FailureMode], k: int, seed: int
) -> dict[str, Any]:
    """Return the figures of one system."""
    outcomes = Counter(outcome(row) for row in system.rows)
    return {
        "questions": {
            "total": len(system.rows),
            "judged": outcomes[FAILED] + outcomes[LATE] + outcomes[FOUND],
            "failed": outcomes[FAILED],
            "late": outcomes[LATE],
            "found": outcomes[FOUND],
        },
        "figures": figures(to_table(system.rows), k=k, seed=seed),
        "modes": [_mode(mode, system) for mode in modes if mode.column],
    }


def diagnosis_table(systems: Sequence[System]) -> pa.Table:
    """Return one row per system and question."""
    rows = [
        {
            "system": system.name,
            "query_id": row["query_id"],
            "question": row["question"],
            "outcome": outcome(row),
            "first_correct": row["first_correct"],
            "modes": [finding.mode.name for finding in found],
            "evidence": [finding.evidence for finding in found],
        }
        for system in systems
        for row, found in zip(system.rows, system.findings, strict=True)
    ]
    return pa.Table.from_pylist(rows, DIAGNOSIS_SCHEMA)


def comparison(systems: Sequence[System], seed: int) -> dict[str, Any] | None:
    """Return differences of two systems, question by question; None for one, or without shared."""
    if len(systems) != 2:
        return None
    by_id = [{row["query_id"]: row for row in system.rows} for system in systems]
    shared = sorted(by_id[0].keys() & by_id[1].keys())
    if not shared:
        return None
    rows: list[list[Any]] = []
    for name in COMPARED:
        ids = [q for q in shared if all(side[q].get(name) is not None for side in by_id)]
        if ids:
            before, after = ({q: float(side[q][name]) for q in ids} for side in by_id)
            told = paired_difference(before, after, seed=seed)
            rows.append(
                [name, len(ids), told.mean_before, told.mean_after, told.mean_difference,
                 told.low, told.high, told.p_value]
            )  # fmt: skip
    columns = ["figure", "questions", "first", "second", "difference", "low", "high", "p"]
    return {
        "questions": len(shared),
        "only_first": len(by_id[0]) - len(shared),
        "only_second": len(by_id[1]) - len(shared),
        "columns": columns,
        "rows": [[_round(v) if isinstance(v, float) else v for v in row] for row in rows],
    }  # fmt: skip


def described_modes(modes: Sequence[FailureMode]) -> list[dict[str, Any]]:
    """Return the taxonomy as it is shown."""
    names = ("id", "category", "name", "definition", "indicator", "needs", "threshold_text",
             "reference", "direct")  # fmt: skip
    return [{name: asdict(mode)[name] for name in names} for mode in modes]


def _mode(mode: FailureMode, system: System) -> dict[str, Any]:
    spread: Spread | None = system.spreads.get(mode.id)
    failing = [
        found
        for row, found in zip(system.rows, system.findings, strict=True)
        if outcome(row) == FAILED
    ]
    why = None
    if spread is None:
        why = _NO_QUERIES
    elif not spread.measured:
        why = f"needs {mode.needs}"
    return {
        "id": mode.id,
        "name": mode.name,
        "category": mode.category,
        "direct": mode.direct,
        "threshold_text": mode.threshold_text,
        "measured": spread.measured if spread else 0,
        "among_failed": _round(spread and spread.failed),
        "among_found": _round(spread and spread.found),
        "difference": _round(spread and spread.difference),
        "low": _round(spread and spread.low),
        "high": _round(spread and spread.high),
        "leading": sum(bool(found) and found[0].mode.id == mode.id for found in failing),
        "not_applicable": why,
    }


def _round(value: Any) -> float | None:
    return None if value is None else round(float(value), 5)


def named_verdicts(rows: Rows, verdicts: Mapping[str, str] | None) -> None:
    """Write verdicts into rows, in place: None for a question that was not asked about."""
    for row in rows:
        row["judged"] = None if verdicts is None else verdicts.get(row["query_id"])
