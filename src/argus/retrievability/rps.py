"""Retrieval Probability Score: from pair ranks to one score, interval and band per entity.

ARGUS §3.2: `RPS_k(x) = E_{t ~ Uniform(T_x)}[Hit_k(x, t)]`, the hit being x in the top k (inclusive)
among x and N-1 neutrals of t. Here the hit is replaced by its exact probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.measures.intervals import wilson
from argus.retrievability.audit.config import DEFAULT_K, DEFAULT_POOL
from argus.retrievability.hypergeometric import hit_probability, hit_probability_by_k
from argus.retrievability.limits import PAIRS_AT_ONCE
from argus.retrievability.pairs import PairRanks

LOW, HIGH = 0.33, 0.66
"""Bands of ARGUS §4.2: low [0, 0.33), mid [0.33, 0.66), high [0.66, 1]."""

_PAIRS_PER_PASS = 1 << 18  # bounds the memory of a sweep over k


class BandCounts(TypedDict):
    """Entities per band.

    low: entities in the low band.
    mid: entities in the middle band.
    high: entities in the high band.
    """

    low: int
    mid: int
    high: int


@dataclass(frozen=True)
class Scores:
    """RPS of n entities at one (k, N). Entities with `related == 0` have no score: NaN."""

    k: int
    pool: int
    rps: npt.NDArray[np.float64]
    """Shape (n,)."""
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    """95% Wilson interval over the related entities, shape (n,)."""
    related: npt.NDArray[np.int64]
    """Related entities that were measured, |T_x|, shape (n,)."""
    pairs_without_pool: int
    """Pairs left out because fewer than N-1 neutrals are eligible for t."""

    @property
    def measured(self) -> npt.NDArray[np.bool_]:
        """Which entities have a score, shape (n,)."""
        return self.related > 0


def score(ranks: PairRanks, n: int, *, k: int = DEFAULT_K, pool: int = DEFAULT_POOL) -> Scores:
    """Return RPS_{k,N} of n entities, N = `pool` counting x itself as the paper does.

    Pairs whose t has fewer than N-1 eligible neutrals are not applicable and left out. Raises
    ValueError for k > N.
    """
    if not 1 <= k <= pool:
        raise ValueError(
            f"k={k}, pool={pool}: needs 1 <= k <= pool, as x ranks among `pool` candidates."
        )
    related, total = np.zeros(n, np.int64), np.zeros(n)
    for part in _passes(len(ranks)):
        eligible = ranks.pool[part] >= pool - 1
        x, above = ranks.entity[part][eligible], ranks.above[part][eligible]
        hits = hit_probability(above, ranks.pool[part][eligible], k=k, draws=pool - 1)
        related += np.bincount(x, minlength=n)
        total += np.bincount(x, weights=hits, minlength=n)
    some = related > 0
    rps = np.full(n, np.nan)
    rps[some] = np.clip(total[some] / related[some], 0, 1)
    low, high = np.full(n, np.nan), np.full(n, np.nan)
    low[some], high[some] = wilson(rps[some], related[some])
    return Scores(k, pool, rps, low, high, related, len(ranks) - int(related.sum()))


def _passes(n_pairs: int) -> Iterator[slice]:
    return (slice(i, i + PAIRS_AT_ONCE) for i in range(0, n_pairs, PAIRS_AT_ONCE))


def band(rps: npt.NDArray[np.float64]) -> npt.NDArray[np.str_]:
    """Return "low", "mid" or "high" per score. "" where there is none."""
    names = np.where(rps < LOW, "low", np.where(rps < HIGH, "mid", "high"))
    return np.where(np.isnan(rps), "", names)


def tercile(rps: npt.NDArray[np.float64]) -> npt.NDArray[np.str_]:
    """Return "low", "mid" or "high" per score: the third of all scores that it lies in. "" without.

    Equal scores are never parted: they lie in the third that holds the middle of their ranks, so
    thirds may be uneven where many scores are equal.
    """
    from scipy.stats import rankdata

    names = np.full(len(rps), "", "<U4")
    some = ~np.isnan(rps)
    place = (rankdata(rps[some]) - 0.5) / max(int(some.sum()), 1)
    names[some] = np.where(place < 1 / 3, "low", np.where(place < 2 / 3, "mid", "high"))
    return names


class GroupFigures(TypedDict):
    """Entities per group, and where the groups end."""

    counts: BandCounts
    low_up_to: float | None
    """Largest RPS in the low group. None where it is empty."""
    high_from: float | None
    """Smallest RPS in the high group. None where it is empty."""


def describe_groups(rps: npt.NDArray[np.float64], groups: npt.NDArray[np.str_]) -> GroupFigures:
    """Return how many entities each group holds, and where it ends."""
    low, high = rps[groups == "low"], rps[groups == "high"]
    return {
        "counts": count_bands(groups),
        "low_up_to": round(float(low.max()), 6) if len(low) else None,
        "high_from": round(float(high.min()), 6) if len(high) else None,
    }


def count_bands(bands: npt.NDArray[np.str_]) -> BandCounts:
    """Return how many entities are in each band. bands: as `band` names them."""
    low, mid, high = (int((bands == name).sum()) for name in ("low", "mid", "high"))
    return {"low": low, "mid": mid, "high": high}


class Curve(TypedDict):
    """How RPS changes along one setting (ARGUS Figures 3 and 5).

    values: values of the setting.
    mean: mean RPS at each.
    share_above_half: share of entities with an RPS above 0.5, at each.
    """

    values: list[int]
    mean: list[float]
    share_above_half: list[float]
    entities: list[int]
    """Entities measured at each value."""


def curve_over_pool(ranks: PairRanks, n: int, *, k: int, pools: list[int]) -> Curve:
    """Share of entities with RPS_k > 0.5 for each N in `pools` (Figure 3)."""
    scores = [score(ranks, n, k=k, pool=pool) for pool in pools]
    scores = [s for s in scores if s.measured.any()]
    return {
        "values": [s.pool for s in scores],
        "mean": [float(s.rps[s.measured].mean()) for s in scores],
        "share_above_half": [float((s.rps[s.measured] > 0.5).mean()) for s in scores],
        "entities": [int(s.measured.sum()) for s in scores],
    }


def curve_over_k(ranks: PairRanks, n: int, *, k_max: int, pool: int) -> Curve:
    """Share of entities with RPS_k > 0.5 for k = 1..k_max at fixed N (Figure 5)."""
    eligible = np.flatnonzero(ranks.pool >= pool - 1)
    if not len(eligible):
        return {"values": [], "mean": [], "share_above_half": [], "entities": []}
    order = eligible[np.argsort(ranks.entity[eligible], kind="stable")]
    x = ranks.entity[order]
    starts = np.flatnonzero(np.diff(x, prepend=-1))  # where an entity's pairs begin
    mean, above_half = np.zeros(k_max), np.zeros(k_max)
    for first, last in _whole_entities(starts, len(x)):
        part = order[starts[first] : starts[last] if last < len(starts) else len(x)]
        hits = hit_probability_by_k(
            ranks.above[part], ranks.pool[part], k_max=k_max, draws=pool - 1
        )  # fmt: skip
        own = starts[first:last] - starts[first]
        rps = np.add.reduceat(hits, own, axis=0) / np.diff(own, append=len(part))[:, None]
        mean += rps.sum(axis=0)
        above_half += (rps > 0.5).sum(axis=0)
    n_scored = len(starts)
    return {
        "values": list(range(1, k_max + 1)),
        "mean": (mean / n_scored).tolist(),
        "share_above_half": (above_half / n_scored).tolist(),
        "entities": [n_scored] * k_max,
    }


def _whole_entities(starts: npt.NDArray[np.int64], n_pairs: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) of runs of entities with about _PAIRS_PER_PASS pairs each."""
    ends = np.searchsorted(starts, np.arange(_PAIRS_PER_PASS, n_pairs, _PAIRS_PER_PASS))
    cuts = np.unique([0, *ends, len(starts)]).tolist()
    yield from pairwise(cuts)


def reservoir_error(ranks: PairRanks, n: int, *, k: int, pool: int) -> float:
    """Return the mean standard error of RPS that comes from ranking among a reservoir.

    A pair's share above, p = above/pool, has standard error √(p(1-p)/pool). To first order the hit
    probability moves by its slope times that. Pairs of one entity share reservoirs, so their errors
    are taken as fully correlated: the figure is an upper bound.
    """
    related, total = np.zeros(n, np.int64), np.zeros(n)
    for part in _passes(len(ranks)):
        eligible = ranks.pool[part] >= pool - 1
        x, size = ranks.entity[part][eligible], ranks.pool[part][eligible]
        above = ranks.above[part][eligible].astype(np.int64)
        share = (above + 0.5) / (size + 1)
        spread = np.maximum(1, np.sqrt(share * (1 - share) * size)).astype(np.int64)
        up, down = np.minimum(above + spread, size), np.maximum(above - spread, 0)
        hits = [hit_probability(a, size, k=k, draws=pool - 1) for a in (down, up)]
        related += np.bincount(x, minlength=n)
        total += np.bincount(x, weights=np.abs(hits[0] - hits[1]) / 2, minlength=n)
    per_entity = total[related > 0] / related[related > 0]
    return round(float(per_entity.mean()), 6) if len(per_entity) else 0.0


def pool_grid(largest: int, *, headline: int) -> list[int]:
    """Return N = 100, 200, 400, ... up to `largest`. `headline` and `largest` are among them."""
    grid = {headline, largest}
    size = 100
    while size < largest:
        grid.add(size)
        size *= 2
    return sorted(size for size in grid if size <= max(largest, headline))
