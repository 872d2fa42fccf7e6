"""Score a system's outcomes on a benchmark: per question, per hop type and overall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired

import pyarrow as pa
from typing_extensions import TypedDict

from argus.authority.benchmarks.collection import Benchmark, Question, stale_gold
from argus.authority.benchmarks.judging import (
    BY_ANSWERS,
    BY_CONDITIONS,
    CeilingFigures,
    FactorFigures,
    Figures,
    Judge,
    Outcome,
    ShareFigures,
    Stages,
    ceilings,
    factors,
    has_anchor,
    share,
)
from argus.authority.opening import UnruledType, unruled_types
from argus.data.types import State

# The names of `Shares`.
ShareName = Literal[
    "tca", "answer_correct", "no_ignored_superseder", "controlling_hit",
    "controlling_hit_equivalent", "provenance_recall", "recall", "anchor_recall",
]  # fmt: skip


class BenchmarkCounts(TypedDict):
    """A benchmark and its sizes.

    name: name of the benchmark.
    records: documents of the benchmark.
    questions: questions of the benchmark.
    edges: supersessions that the benchmark gives.
    rules: rules that make supersessions of the records.
    gold_superseded: questions with gold that the edges supersede: it controls nothing.
    answers_without_scope: questions with an answer that is not derived for want of a scope: judged
    by Theorem 4.
    unruled_types: types of records that no rule names, of records that no edge names.
    """

    name: str
    records: int
    questions: int
    edges: int
    rules: int
    gold_superseded: int
    answers_without_scope: int
    unruled_types: list[UnruledType]


class Shares(TypedDict):
    """Means over questions, all at k. None where it applies to none.

    tca: served as Def. 7 wants it: a correct answer without an ignored superseder, or Theorem 4.
    answer_correct: the derived answer is the gold answer.
    no_ignored_superseder: every superseded document comes with a superseder.
    controlling_hit: a gold document is in the list.
    controlling_hit_equivalent: the same, or a document that says the same to the letter.
    provenance_recall: share of the gold chain in the list.
    recall: share of the gold documents in the list.
    anchor_recall: the list has a gold anchor.
    """

    tca: ShareFigures | None
    answer_correct: ShareFigures | None
    no_ignored_superseder: ShareFigures | None
    controlling_hit: ShareFigures | None
    controlling_hit_equivalent: ShareFigures | None
    provenance_recall: ShareFigures | None
    recall: ShareFigures | None
    anchor_recall: ShareFigures | None


class QuestionCounts(TypedDict):
    """Questions by state, and why some failed.

    total: questions of the benchmark.
    measured: questions that were answered.
    failed: questions that a system could not answer.
    reasons: why questions failed, to how many.
    longer: answered with more than k documents, of which the first k count.
    """

    total: int
    measured: int
    failed: int
    reasons: dict[str, int]
    longer: NotRequired[int]


class SystemShares(TypedDict):
    """Scores of one system.

    overall: shares over all questions.
    hops: shares by hop type, where questions have one.
    anchor_recall_at: share whose first stage has a gold anchor, by depth. Empty without stages.
    factors: factors of Proposition 1. None without stages.
    """

    questions: QuestionCounts
    overall: Shares
    hops: dict[str, Shares]
    anchor_recall_at: dict[str, ShareFigures | None]
    factors: FactorFigures | None


class SystemFigures(SystemShares):
    """One system, scored.

    name: name of the system.
    about: what the system does, in words.
    decidable: shares over the decidable questions alone (`CeilingFigures`).
    """

    name: str
    about: str
    decidable: Shares


class ScoringSummary(TypedDict):
    """The figures of a scoring.

    tca_by: questions by how TCA is judged: by answers, or by Theorem 4.
    encoder: fingerprint of the encoder, or its substitute.
    """

    benchmark: BenchmarkCounts
    k: int
    tca_by: dict[str, int]
    ceilings: CeilingFigures
    encoder: str
    systems: list[SystemFigures]


# Where anchor recall of the first stage is looked at besides k (stage-1 ablation).
ANCHOR_DEPTHS = (1, 5, 10, 20)

Closure = Callable[[Sequence[str]], Collection[str]]  # Ids that a pipeline reaches from its anchors


@dataclass(frozen=True, slots=True)
class Scored:
    """One question of one system.

    figures: none where the system failed.
    stages: none where it failed, or has no stages.
    has_anchor: whether a gold anchor is among the first k of the first stage. Without stages, among
    the retrieved documents. None where it failed.
    """

    question: Question
    outcome: Outcome
    figures: Figures | None
    stages: Stages | None
    has_anchor: bool | None

    @property
    def state(self) -> State:
        """Measured, or failed."""
        return State.FAILED if self.figures is None else State.MEASURED


def score(
    benchmark: Benchmark,
    outcomes: Mapping[str, Outcome],
    judge: Judge,
    *,
    k: int,
    closure: Closure | None = None,
) -> list[Scored]:
    """Score a system's outcomes, one per question id, in the order of the questions.

    closure: the system's own, for the factors of Proposition 1. A question without outcome failed.
    """
    nothing = Outcome(failure="no outcome")
    scored = []
    for question in benchmark.questions:
        outcome = outcomes.get(question.id, nothing)
        if outcome.failure:
            scored.append(Scored(question, outcome, None, None, None))
            continue
        served, anchors, stages = outcome.documents[:k], outcome.anchors, None
        figures = judge.figures(question, served)
        if anchors is not None and closure is not None:
            reached = _reached(question, anchors, closure)
            stages = judge.stages(question, anchors, reached, tca=figures.tca)
        found = has_anchor(question, served if anchors is None else anchors[:k])
        scored.append(Scored(question, outcome, figures, stages, found))
    return scored


def _reached(question: Question, anchors: Sequence[str], closure: Closure) -> Collection[str]:
    """Return a part of the anchors' closure that holds the gold documents, if all of it does.

    From the gold anchors alone, where that is enough: a closure of one is a part of that of all.
    """
    gold = set(question.anchor or question.gold)
    right = [anchor for anchor in anchors if anchor in gold]
    reached = closure(right) if right else ()
    complete = all(id_ in reached for id_ in question.gold)
    return closure(anchors) if right and not complete else reached


def summarise(scored: Sequence[Scored]) -> SystemShares:
    """Return the figures of one system: overall, and per hop type where questions have one.

    Every share is {value, low, high, n}, or None where it applies to no question.
    """
    states = Counter(s.state for s in scored)
    reasons = Counter(s.outcome.failure for s in scored if s.outcome.failure)
    counts: QuestionCounts = {
        "total": len(scored),
        "measured": states[State.MEASURED],
        "failed": states[State.FAILED],
        "reasons": dict(reasons.most_common()),
    }
    if longer := sum(s.outcome.longer for s in scored):
        counts["longer"] = longer
    hops = sorted({s.question.hop for s in scored if s.question.hop})
    staged = [(s.question, s.outcome.anchors) for s in scored if s.outcome.anchors is not None]
    pairs = [(s.stages, s.figures.tca) for s in scored if s.stages is not None and s.figures]
    return {
        "questions": counts,
        "overall": shares(scored),
        "hops": {hop: shares([s for s in scored if s.question.hop == hop]) for hop in hops},
        "anchor_recall_at": {
            str(depth): share(has_anchor(q, anchors[:depth]) for q, anchors in staged)
            for depth in (ANCHOR_DEPTHS if staged else ())
        },
        "factors": factors([s for s, _ in pairs], [tca for _, tca in pairs]) if pairs else None,
    }


def shares(scored: Sequence[Scored]) -> Shares:
    """Return every share over some questions, failed ones left out."""
    measured = [s.figures for s in scored if s.figures is not None]

    def mean(value: Callable[[Figures], float | None]) -> ShareFigures | None:
        return share(map(value, measured))

    return {
        "tca": mean(lambda figures: figures.tca),
        "answer_correct": mean(lambda figures: figures.answer_correct),
        "no_ignored_superseder": mean(lambda figures: figures.no_ignored_superseder),
        "controlling_hit": mean(lambda figures: figures.controlling_hit),
        "controlling_hit_equivalent": mean(lambda figures: figures.controlling_hit_equivalent),
        "provenance_recall": mean(lambda figures: figures.provenance_recall),
        "recall": mean(lambda figures: figures.recall),
        "anchor_recall": share(s.has_anchor for s in scored),
    }


@dataclass(frozen=True)
class ScoredSystem:
    """One system, scored."""

    name: str
    about: str
    scored: list[Scored]


def summarise_results(
    benchmark: Benchmark, results: Sequence[ScoredSystem], *, k: int, encoder: str
) -> ScoringSummary:
    """Return the section of summary.json: the benchmark, and the figures of every system."""
    answered = sum(question.has_derivable_answer for question in benchmark.questions)
    scopeless = sum(bool(q.answer) and not q.scope for q in benchmark.questions)
    limits, decidable = ceilings(benchmark, k)
    by = {BY_ANSWERS: answered, BY_CONDITIONS: len(benchmark.questions) - answered}
    return {
        "benchmark": {
            "name": benchmark.name,
            "records": len(benchmark.records),
            "questions": len(benchmark.questions),
            "edges": len(benchmark.edges),
            "rules": len(benchmark.rules),
            "gold_superseded": len(stale_gold(benchmark)),
            "answers_without_scope": scopeless,
            "unruled_types": unruled_types(benchmark.records, benchmark.rules, benchmark.edges),
        },
        "k": k,
        "tca_by": {name: n for name, n in by.items() if n},
        "ceilings": limits,
        "encoder": encoder,
        "systems": [
            {
                "name": r.name,
                "about": r.about,
                **summarise(r.scored),
                "decidable": shares([s for s in r.scored if s.question.id in decidable]),
            }
            for r in results
        ],
    }


Value = str | float | bool | None
Read = Callable[[Scored], Value]


def _figure(value: Callable[[Figures], Value]) -> Read:
    """Read a figure. None where the question failed."""
    return lambda scored: None if scored.figures is None else value(scored.figures)


def _event(value: Callable[[Stages], Value]) -> Read:
    """Read an event of Proposition 1. None where there are no stages."""
    return lambda scored: None if scored.stages is None else value(scored.stages)


_COLUMNS: dict[str, tuple[pa.DataType, Read]] = {
    "question_id": (pa.string(), lambda s: s.question.id),
    "question": (pa.string(), lambda s: s.question.text),
    "hop": (pa.string(), lambda s: s.question.hop or None),
    "state": (pa.string(), lambda s: str(s.state)),
    "reason": (pa.string(), lambda s: s.outcome.failure),
    "tca": (pa.bool_(), _figure(lambda f: f.tca)),
    "tca_by": (pa.string(), _figure(lambda f: f.tca_by)),
    "answer_correct": (pa.bool_(), _figure(lambda f: f.answer_correct)),
    "no_ignored_superseder": (pa.bool_(), _figure(lambda f: f.no_ignored_superseder)),
    "controlling_hit": (pa.bool_(), _figure(lambda f: f.controlling_hit)),
    "controlling_hit_equivalent": (pa.bool_(), _figure(lambda f: f.controlling_hit_equivalent)),
    "provenance_recall": (pa.float64(), _figure(lambda f: f.provenance_recall)),
    "recall": (pa.float64(), _figure(lambda f: f.recall)),
    "anchor_found": (pa.bool_(), lambda s: s.has_anchor),
    "event_anchor": (pa.bool_(), _event(lambda e: e.anchor)),
    "event_chain": (pa.bool_(), _event(lambda e: e.chain)),
    "event_frontier": (pa.bool_(), _event(lambda e: e.frontier)),
    "answer": (pa.string(), _figure(lambda f: f.answer)),
    "gold_answer": (pa.string(), lambda s: s.question.answer),
    "served": (pa.string(), lambda s: "; ".join(s.outcome.documents)),
    "gold": (pa.string(), lambda s: "; ".join(s.question.gold)),
    "anchor": (pa.string(), lambda s: "; ".join(s.question.anchor)),
}
"""One row per system and question. Null where a question failed or it does not apply.

hop: type of hop, where questions have one.
tca: whether controlling documents answer it (TCA).
tca_by: how that is judged: answers, or theorem 4.
answer_correct: whether the derived answer is the gold one.
no_ignored_superseder: whether every superseded document comes with a superseder.
controlling_hit: whether a gold document is in the list.
controlling_hit_equivalent: the same, or one that says the same to the letter.
provenance_recall: share of the gold chain in the list.
recall: share of the gold documents in the list.
anchor_found: whether the list has a gold anchor.
event_anchor: E1: the first stage has a gold anchor.
event_chain: E2: and its closure has the gold documents.
event_frontier: E3: and TCA is 1.
answer: answer that is derived from the list.
gold_answer: answer of the benchmark.
served: ids of the list, parted by "; ".
gold: ids of the gold documents, likewise.
anchor: ids of the gold anchors, likewise.
"""


def question_table(results: Sequence[ScoredSystem]) -> pa.Table:
    """Return one row per system and question."""
    rows = [(result.name, scored) for result in results for scored in result.scored]
    columns = {"system": pa.array([name for name, _ in rows], pa.string())}
    for column, (type_, value) in _COLUMNS.items():
        columns[column] = pa.array([value(scored) for _, scored in rows], type_)
    return pa.table(columns)
