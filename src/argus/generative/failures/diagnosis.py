"""Assign modes of failure to questions, with evidence, and summarise how often each holds.

`diagnosed`: rows of figures (`measures`) -> a `System` with `Finding`s by the thresholds of
taxonomy.toml (thesis, §4). `system_summary`: one system -> its figures. `comparison`: two ->
differences question by question. `analyse` calls them.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import pyarrow as pa

from argus.generative.failures.judging import FAILED as NO_VERDICT
from argus.generative.failures.judging import NO, PARTIAL, YES
from argus.generative.failures.measures import SWITCHED_OFF, UNANNOTATED, Row, number, to_table
from argus.generative.failures.reading import words
from argus.generative.failures.tables import Value, figures
from argus.measures.intervals import newcombe
from argus.measures.significance import paired_difference


@dataclass(frozen=True, kw_only=True)
class FailureMode:
    """A way in which generative retrieval fails (thesis, §4). Fields as in taxonomy.toml.

    column: None for a mode that outputs, index and model do not show. threshold: of the column. The
    threshold itself counts. stage: of its category in the published taxonomy.
    """

    id: str
    category: str
    stage: str
    name: str
    definition: str
    indicator: str
    needs: str
    reference: str
    column: str | None = None
    holds: Literal["above", "below"] = "above"
    threshold: float = 0.0
    worst: float = 0.0
    scale: Literal["linear", "log"] = "linear"
    threshold_text: str = ""
    evidence: str = ""
    direct: bool = False
    direct_from: float = -math.inf
    failed_only: bool = False

    def applies(self, value: float) -> bool:
        """Return whether the mode holds at a value of its column."""
        return value >= self.threshold if self.holds == "above" else value <= self.threshold

    def severity(self, value: float) -> float:
        """Return how far past the threshold a value is: 0 there, 1 at `worst` and beyond."""
        if self.worst == self.threshold:
            return 1.0
        at, begin, end = (
            math.log(max(v, 1.0)) if self.scale == "log" else v
            for v in (value, self.threshold, self.worst)
        )
        return min(1.0, max(0.0, (at - begin) / (end - begin)))


@cache
def taxonomy() -> list[FailureMode]:
    """Return all modes, in the order of taxonomy.toml."""
    text = files("argus.generative.failures").joinpath("taxonomy.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    return [FailureMode(stage=content["stages"][e["category"]], **e) for e in content["mode"]]


FAILED, LATE, FOUND, UNKNOWN = "failed", "late", "found at 1", "not judged"
# By the best verdict: how far the annotation is to blame, and the verdict in words.
_VERDICTS = {
    YES: (1.0, "judged: one of them answers the question"),
    PARTIAL: (0.75, "judged: the answer follows from one of them"),
    None: (0.5, "not judged"),
    NO_VERDICT: (0.5, "no verdict could be had"),
    NO: (0.0, "judged: none answers the question"),
}
_KINDS = {"titles": "titles", "queries": "pseudo-queries", "unigrams": "single tokens", None: ""}


@dataclass(frozen=True)
class Finding:
    """A mode that holds for a question. severity: from 0 at the threshold to 1 at its worst."""

    mode: FailureMode
    severity: float
    evidence: str


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
    side by side.

    Without a replay, these are None. pruning_gain: 1 where pruned n-grams would bring a positive
    into the first k, 0.5 where it would rank better, else 0. outvoted: 1 where one comes among the
    first k without some kind of key. unknown_to_model: 1 where the question failed and neither
    brings one among them.
    """
    answer, adjacent = row.get("answer_outcome"), row.get("gold_adjacent")
    titles, repetition = row.get("title_score_share"), row.get("title_repetition")
    looked_up = "cut_answer" in row and row.get("answer_hit_1") is not None
    gap = _VERDICTS[row.get("judged")][0] if answer == UNANNOTATED else 0.0
    listed = min(k, row.get("passages") or k)
    whole = {
        **row,
        "annotation_gap": None if answer is None else gap,
        "answer_is_cut": int(row["cut_answer"] is not None) if looked_up else None,
        "metadata_share": None if titles is None else titles + (row.get("query_score_share") or 0),
        "title_share": None if repetition is None else repetition / listed,
        "apart": None if adjacent is None else int(not adjacent),
        **dict.fromkeys(("pruning_gain", "outvoted", "unknown_to_model")),
    }
    if row.get("pruned") is not None:
        now, then = row["rank_now"] or math.inf, row["rank_unpruned"] or math.inf
        better, brought = then < now, then <= k < now
        outvoted = k < now and _outvoting(row, k) is not None
        whole["pruning_gain"] = 1.0 if brought else 0.5 if better and row["pruned"] else 0.0
        whole["outvoted"] = int(outvoted)
        whole["unknown_to_model"] = int(not row["hit_k"] and not brought and not outvoted)
    return whole


def _outvoting(row: Row, k: int) -> str | None:
    """Return the kind of keys without which a positive ranks best, if that is among the first k."""
    ranks = {what: row.get(f"rank_without_{what}") for what in SWITCHED_OFF}
    within = {what: rank for what, rank in ranks.items() if rank is not None and rank <= k}
    return min(within, key=within.__getitem__, default=None)


def diagnose(
    row: Row,
    modes: Sequence[FailureMode],
    spreads: Mapping[str, Mapping[str, Any]],
    k: int,
) -> list[Finding]:
    """Return the modes that hold for a question: those that show the failure itself come first.

    Traits that go with failing follow by severity. Those that hold more often for found passages
    in this run come last. row: as `derived` returns it. spreads: see there.
    """
    findings = []
    outvoting, now, then = _outvoting(row, k), row.get("rank_now"), row.get("rank_unpruned")
    ngrams = row.get("pruned") or 0
    words_of = {
        "k": k,
        "verdict": _VERDICTS[row.get("judged")][1],
        "dropped": f"{ngrams:,} n-gram{'' if ngrams == 1 else 's'}",
        "now": now or "nowhere",
        "unpruned": then or "nowhere",
        "ranks": f"{then} instead of {now or 'nowhere'}",
        "outvoting": _KINDS[outvoting],
        "outvoting_rank": row.get(f"rank_without_{outvoting}"),
    }
    for place, mode in enumerate(modes):
        value = number(row, mode.column) if mode.column else None
        if value is None or not mode.applies(value):
            continue
        severity, direct = mode.severity(value), mode.direct and value >= mode.direct_from
        difference = spreads.get(mode.id, {}).get("difference")
        misleading = not direct and difference is not None and difference < 0
        finding = Finding(mode, severity, mode.evidence.format(**row | words_of))
        findings.append(((not direct, misleading, -severity, place), finding))
    return [finding for _, finding in sorted(findings, key=lambda pair: pair[0])]


def spreads(
    rows: Sequence[dict[str, Any]], modes: Sequence[FailureMode]
) -> dict[str, dict[str, Any]]:
    """Return by mode how often it holds among the questions with its indicator. Rows as `derived`.

    measured: questions, judged or not.
    measured_failed, measured_found: those without, with a correct passage in the first k.
    among_failed, among_found: shares among these. None if there are none, and among_found also for
    a mode that only a failed question can have.
    difference, low, high: among_failed - among_found, with its 95% interval (Newcombe).
    """
    by_mode: dict[str, dict[str, Any]] = {}
    for mode in modes:
        if not mode.column:
            continue
        values = [(number(row, mode.column), row["hit_k"]) for row in rows]
        known = [(mode.applies(value), hit) for value, hit in values if value is not None]
        failed, found = ([holds for holds, hit in known if hit == side] for side in (0, 1))
        shares = [sum(holds) / len(holds) if holds else None for holds in (failed, found)]
        difference = low = high = None
        if mode.failed_only:
            shares[1] = None
        if shares[0] is not None and shares[1] is not None:
            difference = shares[0] - shares[1]
            low, high = newcombe(shares[0], len(failed), shares[1], len(found))
        by_mode[mode.id] = {
            "measured": len(known),
            "measured_failed": len(failed),
            "measured_found": len(found),
            "among_failed": shares[0],
            "among_found": shares[1],
            "difference": difference,
            "low": low,
            "high": high,
        }
    return by_mode


# Figures of which two systems' differences are shown, over the questions that both have.
COMPARED = (
    "hit_1", "hit_k", "r_precision", "answer_hit_1", "answer_hit_k", "unigram_share", "overlap",
    "dominance", "diversity", "frequency_top", "title_score_share", "query_score_share",
)  # fmt: skip
DIAGNOSIS_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("system", "query_id", "question", "pair", "outcome")),
        ("first_correct", pa.int64()),
        ("modes", pa.list_(pa.string())),
        ("evidence", pa.list_(pa.string())),
    ]
)


@dataclass(frozen=True)
class System:
    """One system's rows, and the modes of failure that hold for each of them.

    spreads: see there.
    """

    name: str
    rows: Sequence[Row]
    findings: list[list[Finding]]
    spreads: dict[str, dict[str, Any]]


def diagnosed(name: str, rows: Sequence[Row], modes: Sequence[FailureMode], k: int) -> System:
    """Return a system with a diagnosis for every question.

    Pseudo-queries are not missed where the system writes none at all.
    """
    whole = [derived(row, k) for row in rows]
    if not any(row["query_ngrams_all"] for row in rows):
        whole = [row | {"query_ngrams_first": None} for row in whole]
    spread = spreads(whole, modes)
    return System(name, rows, [diagnose(row, modes, spread, k) for row in whole], spread)


def system_summary(
    system: System, modes: Sequence[FailureMode], k: int, seed: int, *, strict: bool = False
) -> dict[str, Any]:
    """Return the figures of one system. strict: as the thesis makes its deciles.

    questions: total, judged, failed (no correct passage in the first k), late (one, not the first)
    and found.
    figures: its tables (see `argus.generative.failures.tables`).
    modes: modes of failure, those that explain most first: the fields of the mode and of its
    spread (see `spreads`), with leading (failed questions whose diagnosis begins with it), and
    not_applicable (why it is not measured, else None).
    """

    def place(mode: dict[str, Any]) -> tuple[bool, int, float, float]:
        """Sort modes that show the failure itself by the diagnoses that they lead, then traits.

        Traits go by how much more often they hold for failed questions (the lower end of the
        interval, since few questions prove little). Modes without a failed question come last.
        """
        failed = mode["among_failed"] or 0.0
        least = -1.0 if mode["low"] is None else mode["low"]
        return (not failed, -mode["leading"] if mode["direct"] else 0, -least, -failed)

    outcomes = Counter(outcome(row) for row in system.rows)
    leading = Counter(
        findings[0].mode.id
        for row, findings in zip(system.rows, system.findings, strict=True)
        if findings and outcome(row) == FAILED
    )
    of_modes = []
    for mode in modes:
        if not mode.column:
            continue
        spread = system.spreads[mode.id]
        of_modes.append(
            {
                "id": mode.id,
                "name": mode.name,
                "category": mode.category,
                "stage": mode.stage,
                "direct": mode.direct,
                "threshold_text": mode.threshold_text,
                **{name: _round(v) for name, v in spread.items()},
                "leading": leading[mode.id],
                "not_applicable": None if spread["measured"] else f"needs {mode.needs}",
            }
        )
    return {
        "questions": {
            "total": len(system.rows),
            "judged": outcomes[FAILED] + outcomes[LATE] + outcomes[FOUND],
            "failed": outcomes[FAILED],
            "late": outcomes[LATE],
            "found": outcomes[FOUND],
        },
        "figures": figures(to_table(system.rows), k=k, seed=seed, strict=strict),
        "modes": sorted(of_modes, key=place),
    }


def diagnosis_table(systems: Sequence[System], paired: Sequence[Sequence[str]]) -> pa.Table:
    """Return one row per system and question. paired: of `pairs`."""
    rows: list[dict[str, Any]] = [
        {
            "system": system.name,
            **{name: row[name] for name in ("query_id", "question", "first_correct")},
            "pair": pair,
            "outcome": outcome(row),
            "modes": [finding.mode.name for finding in findings],
            "evidence": [finding.evidence for finding in findings],
        }
        for system, names in zip(systems, paired, strict=True)
        for row, findings, pair in zip(system.rows, system.findings, names, strict=True)
    ]
    return pa.Table.from_pylist(rows, DIAGNOSIS_SCHEMA)


def pairs(systems: Sequence[System]) -> list[list[str]]:
    """Return the words of every question of each system, by which those of two are paired.

    Words that a file has twice are not paired.
    """
    return [[" ".join(words(row["question"])) for row in system.rows] for system in systems]


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
    once = [{name for name, n in Counter(names).items() if n == 1} for names in paired]
    shared = sorted(set.intersection(*once))
    if len(systems) != 2 or not shared:
        return None
    sides = [
        dict(zip(names, s.rows, strict=True)) for names, s in zip(paired, systems, strict=True)
    ]
    rows: list[list[Value]] = []
    for name in COMPARED:
        values = [{q: number(side[q], name) for q in shared} for side in sides]
        ids = [q for q in shared if values[0][q] is not None and values[1][q] is not None]
        if ids:
            before, after = ({q: of_side[q] or 0.0 for q in ids} for of_side in values)
            change = paired_difference(before, after, seed=seed)
            means = (change.mean_before, change.mean_after, change.mean_difference)
            ends = (change.low, change.high, change.p_value)
            rows.append([name, len(ids), *map(_round, (*means, *ends))])
    return {
        "questions": len(shared),
        "only_first": len(systems[0].rows) - len(shared),
        "only_second": len(systems[1].rows) - len(shared),
        "columns": ["figure", "questions", "first", "second", "difference", "low", "high", "p"],
        "rows": rows,
    }


def _round(value: float | None) -> float | None:
    return None if value is None else value if isinstance(value, int) else round(float(value), 5)
