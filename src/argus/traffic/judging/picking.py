"""Which questions are judged: strata of predicted risk, and more where judgements may differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash

MOST_STRATA = 5
PER_STRATUM = 12
"""Judgements for which there is one stratum more."""
FLOOR = 4
"""Judgements of each stratum at least, where it has so many."""
NEYMAN = 0.5
"""Share of the budget that follows the predicted risk; the rest follows the strata's sizes."""
HEAVY = 1.0
"""A question asked so many times the log's share of one judgement is judged in any case."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stratum:
    """Questions of like risk. order: all of them, as they are drawn; judged: how many to judge.

    risk: of the least and the greatest; None of questions without a prediction. certain: asked so
    often that all of them are judged.
    """

    order: tuple[str, ...]
    judged: int
    risk: tuple[float, float] | None
    certain: bool = False

    @property
    def drawn(self) -> tuple[str, ...]:
        """The questions to judge."""
        return self.order[: self.judged]


def pick_to_judge(
    risk: Mapping[str, float | None],
    budget: int,
    *,
    times: Mapping[str, int] | None = None,
    seed: int = 0,
) -> tuple[Stratum, ...]:
    """Return strata of questions by predicted risk, with those of each that are to be judged.

    Neyman (1934) draws n_h in proportion to N_h·σ_h, here σ_h = sqrt(p_h(1 - p_h)) of the mean
    predicted risk p_h. Since predictions may be worth nothing, half of the budget goes by N_h
    alone, and every stratum has at least four judgements. Each is drawn by the question's id, so a
    larger budget over the same strata holds a smaller one. times: how often each was asked; what
    makes up more of the log than one judgement's share is judged in any case, of at most half the
    budget. A budget above the number of questions judges all.
    """
    if budget < 1:
        raise ValueError(f"budget={budget}: at least one question must be judged.")
    ids = sorted(risk)
    counts = {id_: (times or {}).get(id_, 1) for id_ in ids}
    heavy = _heavy(ids, counts, budget)
    rest = [id_ for id_ in ids if id_ not in heavy]
    blocks = [*_blocks(rest, risk, budget - len(heavy)), tuple(sorted(heavy))]
    strata = tuple(
        Stratum(_order(block, seed), 0, _range([risk[id_] for id_ in block]), block is blocks[-1])
        for block in blocks
        if block
    )
    return extended(strata, risk, budget, times=times)


def extended(
    strata: Sequence[Stratum],
    risk: Mapping[str, float | None],
    budget: int,
    *,
    times: Mapping[str, int] | None = None,
) -> tuple[Stratum, ...]:
    """Return the same strata with as many to judge as the budget allows; no fewer than before."""
    left = budget - sum(len(s.order) for s in strata if s.certain)
    drawn = [s for s in strata if not s.certain]
    counts = [sum((times or {}).get(id_, 1) for id_ in s.order) for s in drawn]
    spread = [_spread([risk.get(id_) for id_ in s.order]) for s in drawn]
    sizes = np.array([len(s.order) for s in drawn], np.int64)
    before = np.array([s.judged for s in drawn], np.int64)
    numbers = iter(allocate(np.array(counts, float), np.array(spread), sizes, left, before))
    return tuple(
        replace(s, judged=len(s.order) if s.certain else int(next(numbers))) for s in strata
    )


def is_drawn_with(strata: Sequence[Stratum], seed: int) -> bool:
    """Return whether questions stand in the order in which this seed draws them."""
    return all(stratum.order == _order(stratum.order, seed) for stratum in strata)


def allocate(weights: Floats, spread: Floats, sizes: Ints, budget: int, before: Ints) -> Ints:
    """Return how many to draw of each stratum, no fewer than `before`.

    Whole numbers that sum to the budget, to all, or to what was drawn before if that is more.
    weights: what the items of each stratum count together; spread: of one of its values.
    """
    budget = min(budget, int(sizes.sum()))
    if budget <= before.sum():
        return before
    shares = (1 - NEYMAN) * weights / weights.sum()
    both = weights * spread
    shares = shares + NEYMAN * (both / both.sum() if both.sum() > 0 else weights / weights.sum())
    floor = min(FLOOR, budget // len(sizes))
    drawn: Ints = np.maximum(np.minimum(sizes, floor), before)
    while drawn.sum() < budget:
        lack = np.where(drawn < sizes, budget * shares - drawn, -np.inf)
        drawn[int(lack.argmax())] += 1
    return drawn


def _heavy(ids: Sequence[str], counts: Mapping[str, int], budget: int) -> frozenset[str]:
    total = sum(counts.values())
    if total == len(ids):
        return frozenset()
    bar = HEAVY * total / budget
    often = sorted((id_ for id_ in ids if counts[id_] >= bar), key=lambda id_: -counts[id_])
    return frozenset(often[: budget // 2])


def _blocks(
    ids: Sequence[str], risk: Mapping[str, float | None], budget: int
) -> list[tuple[str, ...]]:
    """Cut questions into blocks of like size by risk; equal risks stay together."""
    known = sorted((id_ for id_ in ids if risk[id_] is not None), key=lambda id_: (risk[id_], id_))
    unknown = tuple(id_ for id_ in ids if risk[id_] is None)
    number = min(MOST_STRATA, max(budget // PER_STRATUM, 1))
    blocks: list[tuple[str, ...]] = []
    start = 0
    for i in range(1, number + 1):
        end = max(len(known) * i // number, start)
        while 0 < end < len(known) and risk[known[end]] == risk[known[end - 1]]:
            end += 1
        if end > start:
            blocks.append(tuple(known[start:end]))
        start = end
    return [*blocks, unknown] if unknown else blocks


def _order(ids: Sequence[str], seed: int) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda id_: content_hash(str(seed), "judge", id_, size=8)))


def _spread(risks: Sequence[float | None]) -> float:
    known = [r for r in risks if r is not None]
    mean = sum(known) / len(known) if known else 0.5
    return math.sqrt(max(mean * (1 - mean), 0.01))


def _range(risks: Sequence[float | None]) -> tuple[float, float] | None:
    known = [r for r in risks if r is not None]
    return (min(known), max(known)) if known else None
