"""Score what a system made of a benchmark's questions: per question, per hop type and overall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from argus.authority.benchmarks.metrics import (
    Figures,
    Judge,
    Share,
    Stages,
    anchor_found,
    factors,
    share,
)
from argus.authority.benchmarks.outcomes import Outcome
from argus.authority.benchmarks.types import Benchmark, Question
from argus.data.types import State

ANCHOR_DEPTHS = (1, 5, 10, 20)
"""Where anchor recall of the first stage is looked at besides k (stage-1 ablation)."""
SHARES = (
    "tca",
    "answer_correct",
    "no_ignored_superseder",
    "controlling_hit",
    "controlling_hit_equivalent",
    "provenance_recall",
    "recall",
)
"""Names of the shares, as in `Figures`; all at k."""

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
    anchor_found: bool | None
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
        return Scored(question, outcome, figures, None, anchor_found(question, served))
    anchors, stages = outcome.anchors, None
    if closure is not None:
        reached = _reached(question, anchors, closure)
        stages = judge.stages(question, anchors, reached, tca=figures.tca)
    return Scored(question, outcome, figures, stages, anchor_found(question, anchors[:k]))


def _reached(question: Question, anchors: Sequence[str], closure: Closure) -> Collection[str]:
    """Return a part of the anchors' closure that holds the gold documents, if all of it does.

    From the gold anchors alone, where that is enough: a closure of one is a part of that of all.
    """
    gold = set(question.anchor or question.gold)
    found = [anchor for anchor in anchors if anchor in gold]
    reached = closure(found) if found else ()
    complete = all(id_ in reached for id_ in question.gold)
    return closure(anchors) if found and not complete else reached


def summarise(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return the figures of one system: overall, and per hop type where questions have one.

    Every share is {value, low, high, n}, or None where it applies to no question.
    """
    hops = sorted({s.question.hop for s in scored if s.question.hop})
    return {
        "questions": _counts(scored),
        "overall": _shares(scored),
        "hops": {hop: _shares([s for s in scored if s.question.hop == hop]) for hop in hops},
        "anchor_recall_at": _anchor_depths(scored),
        "factors": _factors(scored),
    }


def _counts(scored: Sequence[Scored]) -> dict[str, Any]:
    states = Counter(s.state for s in scored)
    reasons = Counter(s.outcome.failure for s in scored if s.outcome.failure)
    return {
        "total": len(scored),
        "measured": states[State.MEASURED],
        "failed": states[State.FAILED],
        "reasons": dict(reasons.most_common()),
    }


def _shares(scored: Sequence[Scored]) -> dict[str, Any]:
    measured = [s.figures for s in scored if s.figures is not None]
    found = {name: as_json(share(getattr(f, name) for f in measured)) for name in SHARES}
    found["anchor_recall"] = as_json(share(s.anchor_found for s in scored))
    return found


def _anchor_depths(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return anchor recall of the first stage at several depths; none without stages."""
    staged = [(s.question, s.outcome.anchors) for s in scored if s.outcome.anchors is not None]
    if not staged:
        return {}
    return {
        str(depth): as_json(share(anchor_found(q, anchors[:depth]) for q, anchors in staged))
        for depth in ANCHOR_DEPTHS
    }


def _factors(scored: Iterable[Scored]) -> dict[str, Any] | None:
    pairs = [(s.stages, s.figures.tca) for s in scored if s.stages is not None and s.figures]
    if not pairs:
        return None
    return asdict(factors([stages for stages, _ in pairs], [tca for _, tca in pairs]))


def as_json(found: Share | None) -> dict[str, Any] | None:
    """Return a share as JSON has it."""
    return None if found is None else asdict(found)
