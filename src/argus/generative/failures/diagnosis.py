"""Diagnose a question: modes of failure, ranked, with evidence in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from argus.generative.failures.judge import FAILED as NO_VERDICT
from argus.generative.failures.judge import NO, PARTIAL, YES
from argus.generative.failures.measures.annotation import UNANNOTATED
from argus.generative.failures.measures.columns import Row, number
from argus.generative.failures.taxonomy import FailureMode
from argus.measures.intervals import newcombe

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


class _OfReplay(TypedDict):
    """The figures of a replay. See `_replay_indicators`."""

    pruning_gain: float | None
    outvoted: int | None
    unknown_to_model: int | None


class _Indicators(_OfReplay):
    """Indicators that are made of several columns. See `derived`."""

    annotation_gap: float | None
    answer_is_cut: int | None
    metadata_share: float | None
    title_share: float | None
    apart: int | None


class WholeRow(Row, _Indicators):
    """A row of failures.parquet with all columns that show modes of failure."""


def outcome(row: Row) -> str:
    """Return how a question went: failed means no correct passage among the first k."""
    if row["hit_k"] is None:
        return UNKNOWN
    return FOUND if row["hit_1"] else LATE if row["hit_k"] else FAILED


def derived(row: Row, k: int) -> WholeRow:
    """Return a row with the indicators that are made of several columns. None as for columns.

    annotation_gap: 1 to 0 by verdict, 0.5 without one, 0 where no unannotated passage holds an
    answer. metadata_share: of titles and pseudo-queries together. title_share: title_repetition
    over k, or over the passages of a shorter list. apart: 1 where terms are in a positive, never
    side by side. For a replay, see `_replay_indicators`.
    """
    return {
        **row,
        "annotation_gap": _annotation_gap(row),
        "answer_is_cut": _answer_is_cut(row),
        "metadata_share": _metadata_share(row),
        "title_share": _title_share(row, k),
        "apart": _apart(row),
        **_replay_indicators(row, k),
    }


def _annotation_gap(row: Row) -> float | None:
    result = row.get("answer_outcome")
    if result is None:
        return None
    return _VERDICTS[row.get("judged")] if result == UNANNOTATED else 0.0


def _answer_is_cut(row: Row) -> int | None:
    if "cut_answer" not in row or row.get("answer_hit_1") is None:
        return None
    return int(row["cut_answer"] is not None)


def _metadata_share(row: Row) -> float | None:
    titles = row.get("title_score_share")
    return None if titles is None else titles + (row.get("query_score_share") or 0.0)


def _title_share(row: Row, k: int) -> float | None:
    repetition = row.get("title_repetition")
    return None if repetition is None else repetition / min(k, row.get("passages") or k)


def _apart(row: Row) -> int | None:
    adjacent = row.get("gold_adjacent")
    return None if adjacent is None else int(not adjacent)


def _replay_indicators(row: Row, k: int) -> _OfReplay:
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
    row: WholeRow, modes: Sequence[FailureMode], spreads: Mapping[str, Spread], k: int
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


def spreads(rows: Iterable[WholeRow], modes: Sequence[FailureMode]) -> dict[str, Spread]:
    """Return by mode how often it holds among failed and found questions. Rows as `derived`."""
    rows = list(rows)
    return {mode.id: _spread(mode, rows) for mode in modes if mode.column}


def _spread(mode: FailureMode, rows: Sequence[WholeRow]) -> Spread:
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


def _value(mode: FailureMode, row: WholeRow) -> float | None:
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


def _in_words(mode: FailureMode, row: WholeRow, k: int) -> str:
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
