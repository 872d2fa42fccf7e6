"""Score what a system made of a benchmark's questions: per question, per hop type and overall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from argus.authority.benchmarks.metrics import (
    Figures,
    Judge,
    Share,
    Stages,
    factors,
    has_anchor,
    share,
)
from argus.authority.benchmarks.outcomes import Outcome
from argus.authority.benchmarks.summary import (
    FactorFigures,
    QuestionCounts,
    ShareFigures,
    Shares,
    SystemShares,
)
from argus.authority.benchmarks.types import Benchmark, Question
from argus.data.reading import record_of
from argus.data.types import State

ANCHOR_DEPTHS = (1, 5, 10, 20)
"""Where anchor recall of the first stage is looked at besides k (stage-1 ablation)."""

Closure = Callable[[Sequence[str]], Collection[str]]
"""What a pipeline reaches from its anchors."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One question of one system."""

    question: Question
    outcome: Outcome
    figures: Figures | None
    """None where the system failed."""
    stages: Stages | None
    """None where it failed, or has no stages."""
    has_anchor: bool | None
    """Whether a gold anchor is among the first k of the first stage; of a system without stages,
    among what it retrieved. None where it failed."""

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
    return [
        _scored(question, outcomes.get(question.id, nothing), judge, k, closure)
        for question in benchmark.questions
    ]


def _scored(
    question: Question, outcome: Outcome, judge: Judge, k: int, closure: Closure | None
) -> Scored:
    if outcome.failure:
        return Scored(question, outcome, None, None, None)
    served = outcome.documents[:k]
    figures = judge.figures(question, served)
    if outcome.anchors is None:
        return Scored(question, outcome, figures, None, has_anchor(question, served))
    anchors, stages = outcome.anchors, None
    if closure is not None:
        reached = _reached(question, anchors, closure)
        stages = judge.stages(question, anchors, reached, tca=figures.tca)
    return Scored(question, outcome, figures, stages, has_anchor(question, anchors[:k]))


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
    hops = sorted({s.question.hop for s in scored if s.question.hop})
    return {
        "questions": _counts(scored),
        "overall": shares(scored),
        "hops": {hop: shares([s for s in scored if s.question.hop == hop]) for hop in hops},
        "anchor_recall_at": _anchor_depths(scored),
        "factors": _factors(scored),
    }


def _counts(scored: Sequence[Scored]) -> QuestionCounts:
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
    return counts


def shares(scored: Sequence[Scored]) -> Shares:
    """Return every share over some questions, failed ones left out."""
    measured = [s.figures for s in scored if s.figures is not None]

    def mean(value: Callable[[Figures], float | None]) -> ShareFigures | None:
        return as_json(share(map(value, measured)))

    return {
        "tca": mean(lambda figures: figures.tca),
        "answer_correct": mean(lambda figures: figures.answer_correct),
        "no_ignored_superseder": mean(lambda figures: figures.no_ignored_superseder),
        "controlling_hit": mean(lambda figures: figures.controlling_hit),
        "controlling_hit_equivalent": mean(lambda figures: figures.controlling_hit_equivalent),
        "provenance_recall": mean(lambda figures: figures.provenance_recall),
        "recall": mean(lambda figures: figures.recall),
        "anchor_recall": as_json(share(s.has_anchor for s in scored)),
    }


def _anchor_depths(scored: Sequence[Scored]) -> dict[str, ShareFigures | None]:
    """Return anchor recall of the first stage at several depths; none without stages."""
    staged = [(s.question, s.outcome.anchors) for s in scored if s.outcome.anchors is not None]
    if not staged:
        return {}
    return {
        str(depth): as_json(share(has_anchor(q, anchors[:depth]) for q, anchors in staged))
        for depth in ANCHOR_DEPTHS
    }


def _factors(scored: Iterable[Scored]) -> FactorFigures | None:
    pairs = [(s.stages, s.figures.tca) for s in scored if s.stages is not None and s.figures]
    if not pairs:
        return None
    measured = factors([stages for stages, _ in pairs], [tca for _, tca in pairs])
    return {
        "anchor": as_json(measured.anchor),
        "chain": as_json(measured.chain),
        "frontier": as_json(measured.frontier),
        "product": measured.product,
        "tca_without": measured.tca_without,
    }


def as_json(mean: Share | None) -> ShareFigures | None:
    """Return a share as JSON has it."""
    return None if mean is None else record_of(ShareFigures, mean)
