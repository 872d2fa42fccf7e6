"""Which modes of failure hold for a question, ranked, and the evidence in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from argus.generative.failures.judge import FAILED as NO_VERDICT
from argus.generative.failures.judge import NO, PARTIAL, YES
from argus.generative.failures.measures.annotation import UNANNOTATED
from argus.generative.failures.taxonomy import FailureMode
from argus.measures.intervals import newcombe

Row = Mapping[str, Any]
FAILED, LATE, FOUND, UNKNOWN = "failed", "late", "found at 1", "not judged"
_VERDICTS = {YES: 1.0, PARTIAL: 0.75, None: 0.5, NO_VERDICT: 0.5, NO: 0.0}
_SWITCHED_OFF = {"titles": "titles", "queries": "pseudo-queries", "unigrams": "single tokens"}
_SAID = {
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
    """How often a mode holds, among the questions for which its indicator is measured.

    measured: questions, judged or not; measured_failed, measured_found: those without, with a
    correct passage in the first k. failed, found: shares among these; None where there are none,
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
    """Return a row with the indicators that are made of several columns; None as for columns.

    annotation_gap: 1 to 0 by verdict, 0.5 without one, 0 where no unannotated passage holds an
    answer. metadata_share: of titles and pseudo-queries together. title_share: title_repetition
    over k, or over the passages of a shorter list. apart: 1 where terms are in a positive, never
    side by side. Of a replay: see `_replayed`.
    """
    known: dict[str, Any] = {
        "annotation_gap": None,
        "answer_is_cut": None,
        "metadata_share": None,
        "title_share": None,
        "apart": None,
        **_replayed(row, k),
    }
    get = row.get
    if get("answer_outcome") is not None:
        gap = _VERDICTS[get("judged")] if get("answer_outcome") == UNANNOTATED else 0.0
        known["annotation_gap"] = gap
    if "cut_answer" in row and get("answer_hit_1") is not None:
        known["answer_is_cut"] = int(get("cut_answer") is not None)
    if get("title_score_share") is not None:
        known["metadata_share"] = row["title_score_share"] + (get("query_score_share") or 0.0)
    if get("title_repetition") is not None:
        known["title_share"] = row["title_repetition"] / min(k, get("passages") or k)
    if get("gold_adjacent") is not None:
        known["apart"] = int(not row["gold_adjacent"])
    return {**row, **known}


def _replayed(row: Row, k: int) -> dict[str, Any]:
    """Return what a replay comes to; None for all without one.

    pruning_gain: 1 where what was pruned would bring a positive into the first k, 0.5 where it
    would rank better, else 0. outvoted: 1 where one comes among the first k without some kind of
    key. unknown_to_model: 1 where the question failed and neither brings one among them.
    """
    if row.get("pruned") is None:
        return dict.fromkeys(("pruning_gain", "outvoted", "unknown_to_model"))
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
    row: Row, modes: Sequence[FailureMode], spreads: Mapping[str, Spread], k: int
) -> list[Finding]:
    """Return the modes that hold for a question: what shows the failure itself comes first.

    Behind it come traits that go with failing, by severity; last those that in this run hold more
    often where the passage is found. row: as `derived` returns it.
    """
    found = []
    for place, mode in enumerate(modes):
        value = _value(mode, row)
        if value is None or not mode.applies(value):
            continue
        severity, direct = mode.severity(value), mode.is_direct(value)
        misleading = not direct and mode.id in spreads and spreads[mode.id].misleading
        finding = Finding(mode, severity, _in_words(mode, row, k))
        found.append(((not direct, misleading, -severity, place), finding))
    return [finding for _, finding in sorted(found, key=lambda pair: pair[0])]


def spreads(rows: Iterable[Row], modes: Sequence[FailureMode]) -> dict[str, Spread]:
    """Return by mode how often it holds among failed and found questions; rows as `derived`."""
    rows = list(rows)
    return {mode.id: _spread(mode, rows) for mode in modes if mode.column}


def _spread(mode: FailureMode, rows: Sequence[Row]) -> Spread:
    values = [(value, row["hit_k"]) for row in rows if (value := _value(mode, row)) is not None]
    failed, found = (
        [mode.applies(value) for value, hit in values if hit == wanted] for wanted in (0, 1)
    )
    counts = len(values), len(failed), len(found)
    shares = [sum(held) / len(held) if held else None for held in (failed, found)]
    if mode.failed_only:
        return Spread(*counts, shares[0], None, None, None, None)
    if shares[0] is None or shares[1] is None:
        return Spread(*counts, shares[0], shares[1], None, None, None)
    low, high = newcombe(shares[0], len(failed), shares[1], len(found))
    return Spread(*counts, shares[0], shares[1], shares[0] - shares[1], low, high)


def _value(mode: FailureMode, row: Row) -> float | None:
    value = row.get(mode.column) if mode.column else None
    return None if value is None else float(value)


def _within(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def _outvoting(row: Row, k: int) -> str | None:
    """Return the kind of keys without which a positive ranks best, if that is among the first k."""
    ranks = {what: row.get(f"rank_without_{what}") for what in _SWITCHED_OFF}
    within = {what: rank for what, rank in ranks.items() if _within(rank, k)}
    return min(within, key=lambda what: within[what] or 0) if within else None


def _in_words(mode: FailureMode, row: Row, k: int) -> str:
    named = dict(row)
    named["k"] = k
    named["verdict"] = _SAID.get(row.get("judged"), "")
    kept = row.get("pruned_kept_by")
    named["kept_by"] = f"{kept} beams keep it" if kept else "no beam size tried keeps it"
    ngrams = row.get("pruned") or 0
    named["dropped"] = f"{ngrams:,} n-gram{'' if ngrams == 1 else 's'}"
    now, then = row.get("rank_now"), row.get("rank_unpruned")
    named["now"] = now if now is not None else "nowhere"
    named["unpruned"] = then if then is not None else "nowhere"
    named["ranks"] = f"{then} instead of {named['now']}"
    outvoting = _outvoting(row, k)
    named["outvoting"] = _SWITCHED_OFF.get(outvoting or "", "")
    named["outvoting_rank"] = row.get(f"rank_without_{outvoting}")
    return mode.evidence.format(**named)
