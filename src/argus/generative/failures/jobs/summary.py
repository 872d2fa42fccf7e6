"""Summarise the rows of one or two systems: the job's part of summary.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from argus.data.reading import record_of
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
from argus.generative.failures.measures.columns import Row, number
from argus.generative.failures.summary import (
    Comparison,
    DiagnosisRow,
    ModeSummary,
    SystemFigures,
    TaxonomyMode,
)
from argus.generative.failures.tables import figures
from argus.generative.failures.tables.records import Value
from argus.generative.failures.taxonomy import FailureMode
from argus.generative.failures.words import words
from argus.measures.significance import paired_difference

COMPARED = (
    "hit_1", "hit_k", "r_precision", "answer_hit_1", "answer_hit_k", "unigram_share", "overlap",
    "dominance", "diversity", "frequency_top", "title_score_share", "query_score_share",
)  # fmt: skip
"""Figures of which two systems' differences are shown, over the questions that both have."""
DIAGNOSIS_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("system", "query_id", "question", "pair", "outcome")),
        ("first_correct", pa.int64()),
        ("modes", pa.list_(pa.string())),
        ("evidence", pa.list_(pa.string())),
    ]
)
_UNMEASURED = Spread(0, 0, 0, None, None, None, None, None)
_NO_QUERIES = "the system wrote no pseudo-query for any question"


@dataclass(frozen=True)
class System:
    """One system's rows, and the modes of failure that hold for each of them.

    name: name of the system.
    rows: its rows.
    findings: modes of failure that hold for each row.
    spreads: mode to how often it holds.
    modes: modes that are looked for.
    """

    name: str
    rows: Sequence[Row]
    findings: list[list[Finding]]
    spreads: dict[str, Spread]
    modes: list[FailureMode]


def diagnosed(name: str, rows: Sequence[Row], modes: Sequence[FailureMode], k: int) -> System:
    """Return a system with a diagnosis for every question.

    Pseudo-queries are not missed where the system writes none at all.
    """
    writes_queries = any(row["query_ngrams_all"] for row in rows)
    known = [m for m in modes if writes_queries or m.column != "query_ngrams_first"]
    whole = [derived(row, k) for row in rows]
    spread = spreads(whole, known)
    return System(name, rows, [diagnose(row, known, spread, k) for row in whole], spread, known)


def system_summary(
    system: System, modes: Sequence[FailureMode], k: int, seed: int, *, strict: bool = False
) -> SystemFigures:
    """Return the figures of one system. strict: as the thesis makes its deciles."""
    outcomes = Counter(outcome(row) for row in system.rows)
    return {
        "questions": {
            "total": len(system.rows),
            "judged": outcomes[FAILED] + outcomes[LATE] + outcomes[FOUND],
            "failed": outcomes[FAILED],
            "late": outcomes[LATE],
            "found": outcomes[FOUND],
        },
        "figures": figures(to_table(system.rows), k=k, seed=seed, strict=strict),
        "modes": sorted((_mode(m, system) for m in modes if m.column), key=_telling),
    }


def diagnosis_table(systems: Sequence[System], paired: Sequence[Sequence[str]]) -> pa.Table:
    """Return one row per system and question. paired: of `pairs`."""
    rows: list[DiagnosisRow] = [
        {
            "system": system.name,
            "query_id": row["query_id"],
            "question": row["question"],
            "pair": pair,
            "outcome": outcome(row),
            "first_correct": row["first_correct"],
            "modes": [finding.mode.name for finding in findings],
            "evidence": [finding.evidence for finding in findings],
        }
        for system, names in zip(systems, paired, strict=True)
        for row, findings, pair in zip(system.rows, system.findings, names, strict=True)
    ]
    return pa.Table.from_pylist(rows, DIAGNOSIS_SCHEMA)


def pairs(systems: Sequence[System]) -> list[list[str]]:
    """Return for every row of each system the key that pairs it with one of the other.

    Two systems' questions belong together where id and words agree. Files without ids number
    them, so where that pairs fewer than the words alone, the words decide. A key twice in a
    file is not paired.
    """
    by_id = [[f"{row['query_id']} {_words(row)}" for row in s.rows] for s in systems]
    by_words = [[_words(row) for row in s.rows] for s in systems]
    alone = len(systems) == 1 or len(_shared(by_id)) >= len(_shared(by_words))
    return by_id if alone else by_words


def comparison(
    systems: Sequence[System], paired: Sequence[Sequence[str]], seed: int
) -> Comparison | None:
    """Return differences of two systems, question by question. None for one, or without shared.

    paired: of `pairs`.
    """
    if len(systems) != 2:
        return None
    shared = sorted(_shared(paired))
    if not shared:
        return None
    sides = [
        dict(zip(names, s.rows, strict=True)) for names, s in zip(paired, systems, strict=True)
    ]
    columns = ["figure", "questions", "first", "second", "difference", "low", "high", "p"]
    return {
        "questions": len(shared),
        "only_first": len(systems[0].rows) - len(shared),
        "only_second": len(systems[1].rows) - len(shared),
        "columns": columns,
        "rows": [row for name in COMPARED for row in _compared(name, sides, shared, seed)],
    }


def _compared(
    name: str, sides: Sequence[Mapping[str, Row]], shared: Sequence[str], seed: int
) -> Iterator[list[Value]]:
    """Yield the row of a figure, none where no question has it on both sides."""
    values = [{q: number(side[q], name) for q in shared} for side in sides]
    before, after = ({q: v for q, v in of_side.items() if v is not None} for of_side in values)
    ids = [q for q in shared if q in before and q in after]
    if not ids:
        return
    change = paired_difference({q: before[q] for q in ids}, {q: after[q] for q in ids}, seed=seed)
    means = (change.mean_before, change.mean_after, change.mean_difference)
    yield [name, len(ids), *map(_round, (*means, change.low, change.high, change.p_value))]


def _words(row: Row) -> str:
    return " ".join(words(row["question"]))


def _shared(named: Sequence[Sequence[str]]) -> set[str]:
    """Return the names that each of two lists has once."""
    once = [{name for name, n in Counter(names).items() if n == 1} for names in named]
    return set.intersection(*once)


def described_modes(modes: Sequence[FailureMode]) -> list[TaxonomyMode]:
    """Return the taxonomy as it is shown."""
    return [record_of(TaxonomyMode, mode) for mode in modes]


def _mode(mode: FailureMode, system: System) -> ModeSummary:
    spread = system.spreads.get(mode.id, _UNMEASURED)
    failing = [
        findings
        for row, findings in zip(system.rows, system.findings, strict=True)
        if outcome(row) == FAILED
    ]
    why = None
    if mode.id not in system.spreads:
        why = _NO_QUERIES
    elif not spread.measured:
        why = f"needs {mode.needs}"
    return {
        "id": mode.id,
        "name": mode.name,
        "category": mode.category,
        "direct": mode.direct,
        "threshold_text": mode.threshold_text,
        "measured": spread.measured,
        "measured_failed": spread.measured_failed,
        "measured_found": spread.measured_found,
        "among_failed": _round(spread.failed),
        "among_found": _round(spread.found),
        "difference": _round(spread.difference),
        "low": _round(spread.low),
        "high": _round(spread.high),
        "leading": sum(bool(f) and f[0].mode.id == mode.id for f in failing),
        "not_applicable": why,
    }


def _telling(mode: ModeSummary) -> tuple[bool, int, float, float]:
    """Return the place of a mode: those that explain most come first.

    First come modes that show the failure itself and lead a diagnosis, by number of questions.
    Then come traits, by how much more often they hold for failed questions (the lower end of the
    interval, since few questions prove little). Modes that hold for no failed question come last.
    """
    failed = mode["among_failed"] or 0.0
    least = -1.0 if mode["low"] is None else mode["low"]
    leading = mode["leading"] if mode["direct"] else 0
    return (not failed, -leading, -least, -failed)


def _round(value: float | None) -> float | None:
    return None if value is None else round(float(value), 5)
