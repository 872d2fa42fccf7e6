"""Diagnose questions: modes of failure with evidence, and how often they hold in a system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from argus.generative.failures.case import words
from argus.generative.failures.columns import Row, number
from argus.generative.failures.judging import FAILED as NO_VERDICT
from argus.generative.failures.judging import NO, PARTIAL, YES
from argus.generative.failures.measures import UNANNOTATED, to_table
from argus.generative.failures.tables import figures
from argus.generative.failures.tables.rows import Value
from argus.generative.failures.taxonomy import FailureMode
from argus.measures.intervals import newcombe
from argus.measures.significance import paired_difference

FAILED, LATE, FOUND, UNKNOWN = "failed", "late", "found at 1", "not judged"
_VERDICTS = {YES: 1.0, PARTIAL: 0.75, None: 0.5, NO_VERDICT: 0.5, NO: 0.0}
_SWITCHED_OFF = {"titles": "titles", "queries": "pseudo-queries", "unigrams": "single tokens"}
_IN_WORDS = {
    YES: "judged: one of them answers the question",
    PARTIAL: "judged: the answer follows from one of them",
    NO: "judged: none answers the question",
    NO_VERDICT: "no verdict could be had",
    None: "not judged",
}


@dataclass(frozen=True)
class Finding:
    """A mode that holds for a question. severity: from 0 at the threshold to 1 at its worst."""

    mode: FailureMode
    severity: float
    evidence: str


@dataclass(frozen=True)
class Spread:
    """Frequency of a mode among the questions with its indicator.

    measured: questions, judged or not. measured_failed, measured_found: those without, with a
    correct passage in the first k. failed, found: shares among these. None if there are none,
    and found also for a mode that only a failed question can have. difference: failed - found,
    with its 95% interval (Newcombe).
    """

    measured: int
    measured_failed: int
    measured_found: int
    failed: float | None
    found: float | None
    difference: float | None
    low: float | None
    high: float | None

    @property
    def misleading(self) -> bool:
        """Whether it holds more often where the passage is found."""
        return self.difference is not None and self.difference < 0


def outcome(row: Row) -> str:
    """Return how a question went: failed means no correct passage among the first k."""
    if row["hit_k"] is None:
        return UNKNOWN
    return FOUND if row["hit_1"] else LATE if row["hit_k"] else FAILED


def derived(row: Row, k: int) -> dict[str, Any]:
    """Return a row with the indicators that are made of several columns. None as for columns.

    annotation_gap: 1 to 0 by verdict, 0.5 without one, 0 where no unannotated passage holds an
    answer. metadata_share: of titles and pseudo-queries together. title_share: title_repetition
    over k, or over the passages of a shorter list. apart: 1 where terms are in a positive, never
    side by side. For a replay, see `_replay_indicators`.
    """
    answer, adjacent = row.get("answer_outcome"), row.get("gold_adjacent")
    titles, repetition = row.get("title_score_share"), row.get("title_repetition")
    queries = row.get("query_score_share") or 0.0
    gap = _VERDICTS[row.get("judged")] if answer == UNANNOTATED else 0.0
    looked_up = "cut_answer" in row and row.get("answer_hit_1") is not None
    listed = min(k, row.get("passages") or k)
    return {
        **row,
        "annotation_gap": None if answer is None else gap,
        "answer_is_cut": int(row["cut_answer"] is not None) if looked_up else None,
        "metadata_share": None if titles is None else titles + queries,
        "title_share": None if repetition is None else repetition / listed,
        "apart": None if adjacent is None else int(not adjacent),
        **_replay_indicators(row, k),
    }


def _replay_indicators(row: Row, k: int) -> dict[str, Any]:
    """Return the figures of a replay. All are None without one.

    pruning_gain: 1 where pruned n-grams would bring a positive into the first k, 0.5 where it
    would rank better, else 0. outvoted: 1 where one comes among the first k without some kind of
    key. unknown_to_model: 1 where the question failed and neither brings one among them.
    """
    if row.get("pruned") is None:
        return {"pruning_gain": None, "outvoted": None, "unknown_to_model": None}
    now, then = row["rank_now"], row["rank_unpruned"]
    better = then is not None and (now is None or then < now)
    brought = _within(then, k) and not _within(now, k)
    outvoted = not _within(now, k) and _outvoting(row, k) is not None
    return {
        "pruning_gain": 1.0 if brought else 0.5 if better and row["pruned"] else 0.0,
        "outvoted": int(outvoted),
        "unknown_to_model": int(not row["hit_k"] and not brought and not outvoted),
    }


def diagnose(
    row: dict[str, Any], modes: Sequence[FailureMode], spreads: Mapping[str, Spread], k: int
) -> list[Finding]:
    """Return the modes that hold for a question: those that show the failure itself come first.

    Traits that go with failing follow by severity. Those that hold more often for found passages
    in this run come last. row: as `derived` returns it.
    """
    findings = []
    for place, mode in enumerate(modes):
        value = _value(mode, row)
        if value is None or not mode.applies(value):
            continue
        severity, direct = mode.severity(value), mode.is_direct(value)
        misleading = not direct and mode.id in spreads and spreads[mode.id].misleading
        finding = Finding(mode, severity, _in_words(mode, row, k))
        findings.append(((not direct, misleading, -severity, place), finding))
    return [finding for _, finding in sorted(findings, key=lambda pair: pair[0])]


def spreads(rows: Iterable[dict[str, Any]], modes: Sequence[FailureMode]) -> dict[str, Spread]:
    """Return by mode how often it holds among failed and found questions. Rows as `derived`."""
    rows = list(rows)
    return {mode.id: _spread(mode, rows) for mode in modes if mode.column}


def _spread(mode: FailureMode, rows: Sequence[dict[str, Any]]) -> Spread:
    values = [(value, row["hit_k"]) for row in rows if (value := _value(mode, row)) is not None]
    failed, hits = (
        [mode.applies(value) for value, hit in values if hit == side] for side in (0, 1)
    )
    counts = len(values), len(failed), len(hits)
    shares = [sum(holds) / len(holds) if holds else None for holds in (failed, hits)]
    if mode.failed_only:
        return Spread(*counts, shares[0], None, None, None, None)
    if shares[0] is None or shares[1] is None:
        return Spread(*counts, shares[0], shares[1], None, None, None)
    low, high = newcombe(shares[0], len(failed), shares[1], len(hits))
    return Spread(*counts, shares[0], shares[1], shares[0] - shares[1], low, high)


def _value(mode: FailureMode, row: dict[str, Any]) -> float | None:
    return number(row, mode.column) if mode.column else None


def _within(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def _outvoting(row: Row, k: int) -> str | None:
    """Return the kind of keys without which a positive ranks best, if that is among the first k."""
    within = {what: rank for what, rank in _ranks_without(row).items() if _within(rank, k)}
    return min(within, key=lambda what: within[what] or 0) if within else None


def _ranks_without(row: Row) -> dict[str, int | None]:
    """Return the best positive's rank by the kind of keys that is left out."""
    return {
        "titles": row.get("rank_without_titles"),
        "queries": row.get("rank_without_queries"),
        "unigrams": row.get("rank_without_unigrams"),
    }


def _in_words(mode: FailureMode, row: dict[str, Any], k: int) -> str:
    named = dict(row)
    named["k"] = k
    named["verdict"] = _IN_WORDS.get(row.get("judged"), "")
    beams = row.get("pruned_kept_by")
    named["kept_by"] = f"{beams} beams keep it" if beams else "no beam size tried keeps it"
    ngrams = row.get("pruned") or 0
    named["dropped"] = f"{ngrams:,} n-gram{'' if ngrams == 1 else 's'}"
    now, then = row.get("rank_now"), row.get("rank_unpruned")
    named["now"] = now if now is not None else "nowhere"
    named["unpruned"] = then if then is not None else "nowhere"
    named["ranks"] = f"{then} instead of {named['now']}"
    outvoting = _outvoting(row, k)
    named["outvoting"] = _SWITCHED_OFF.get(outvoting or "", "")
    named["outvoting_rank"] = _ranks_without(row).get(outvoting or "")
    return mode.evidence.format(**named)


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
) -> dict[str, Any]:
    """Return the figures of one system. strict: as the thesis makes its deciles.

    questions: total, judged, failed (no correct passage in the first k), late (one, not the first)
    and found.
    figures: its tables (see `argus.generative.failures.tables`).
    modes: modes of failure, those that explain most first: the fields of the mode and of its
    `Spread`, with among_failed and among_found as shares, leading (failed questions whose diagnosis
    begins with it), and not_applicable (why it is not measured, else None).
    """
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
    rows: list[dict[str, Any]] = [
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
) -> dict[str, Any] | None:
    """Return differences of two systems, question by question. None for one, or without shared.

    paired: of `pairs`. Keys of the result:

    questions: questions that both systems have.
    only_first, only_second: questions that one system alone has.
    columns: names of the columns of `rows`.
    rows: per figure, its means, second minus first, the interval and the p-value.
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


def described_modes(modes: Sequence[FailureMode]) -> list[dict[str, Any]]:
    """Return the taxonomy as it is shown."""
    keys = (
        "id", "category", "name", "definition", "indicator", "needs", "threshold_text", "reference",
        "direct",
    )  # fmt: skip
    return [{key: getattr(mode, key) for key in keys} for mode in modes]


def _mode(mode: FailureMode, system: System) -> dict[str, Any]:
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


def _telling(mode: dict[str, Any]) -> tuple[bool, int, float, float]:
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
