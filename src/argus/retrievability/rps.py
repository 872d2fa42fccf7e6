"""Compute the Retrieval Probability Score of each entity from pair ranks, with interval and band.

The arithmetic of `argus research audit`, after `argus.retrievability.ranks`. ARGUS §3.2:
`RPS_k(x) = E_{t ~ Uniform(T_x)}[Hit_k(x, t)]`, the mean over the entities t related to x. The hit
is that x stands in the top k (inclusive) among x and N-1 unrelated entities (neutrals) of t. Here
the hit is replaced by its exact probability over all draws of neutrals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.algorithms import average_ranks
from argus.measures.intervals import wilson
from argus.retrievability.config import DEFAULT_K, DEFAULT_POOL
from argus.retrievability.ranks import PairRanks

LOW, HIGH = 0.33, 0.66  # bands of ARGUS §4.2: low [0, 0.33), mid [0.33, 0.66), high [0.66, 1]
HISTOGRAM_EDGES = [round(0.03 * i, 2) for i in range(34)] + [1.0]  # 0.33 and 0.66 are among them
PAIRS_AT_ONCE = 1 << 22  # pairs that are scored in one pass
PAIRS_BY_K = 1 << 18  # the same at every k: bounds the memory

Floats = npt.NDArray[np.float64]
Bands = npt.NDArray[np.str_]


@dataclass(frozen=True)
class Scores:
    """RPS of n entities at one (k, N). Entities with `related == 0` have no score: NaN.

    rps: (n,). low, high: 95% Wilson interval over the related entities, (n,). related: related
    entities that were measured, |T_x|, (n,). pairs_without_pool: pairs left out because fewer than
    N-1 neutrals are eligible for t.
    """

    k: int
    pool: int
    rps: Floats
    low: Floats
    high: Floats
    related: npt.NDArray[np.int64]
    pairs_without_pool: int

    @property
    def measured(self) -> npt.NDArray[np.bool_]:
        """Which entities have a score, shape (n,)."""
        return self.related > 0


def score(ranks: PairRanks, n: int, *, k: int = DEFAULT_K, pool: int = DEFAULT_POOL) -> Scores:
    """Return RPS_{k,N} of n entities, 1 <= k <= N = `pool`, which counts x as the paper does.

    Pairs whose t has fewer than N-1 eligible neutrals are not applicable and left out.
    """
    related, total = np.zeros(n, np.int64), np.zeros(n)
    for x, above, size in _eligible(ranks, pool):
        hits = hit_probability(above, size, k=k, draws=pool - 1)
        related += np.bincount(x, minlength=n)
        total += np.bincount(x, weights=hits, minlength=n)
    some = related > 0
    rps, low, high = np.full((3, n), np.nan)
    rps[some] = np.clip(total[some] / related[some], 0, 1)
    low[some], high[some] = wilson(rps[some], related[some])
    return Scores(k, pool, rps, low, high, related, len(ranks) - int(related.sum()))


def _eligible(ranks: PairRanks, pool: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield target, neutrals above it and all neutrals of the pairs that have N-1, part by part."""
    for start in range(0, len(ranks), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        rows = ranks.pool[part] >= pool - 1
        yield ranks.entity[part][rows], ranks.above[part][rows], ranks.pool[part][rows]


def band(rps: Floats) -> Bands:
    """Return "low", "mid" or "high" per score. "" where there is none."""
    names = np.where(rps < LOW, "low", np.where(rps < HIGH, "mid", "high"))
    return np.where(np.isnan(rps), "", names)


def tercile(rps: Floats) -> Bands:
    """Return "low", "mid" or "high" per score: the third of all scores that it lies in. "" without.

    Equal scores are never parted: they lie in the third that holds the middle of their ranks, so
    thirds may be uneven where many scores are equal.
    """
    names = np.full(len(rps), "", "<U4")
    some = ~np.isnan(rps)
    place = (average_ranks(rps[some]) - 0.5) / max(int(some.sum()), 1)
    names[some] = np.where(place < 1 / 3, "low", np.where(place < 2 / 3, "mid", "high"))
    return names


def count_bands(bands: Bands) -> dict[str, int]:
    """Return how many entities are in each band. bands: as `band` names them."""
    return {name: int((bands == name).sum()) for name in ("low", "mid", "high")}


def curve_over_pool(ranks: PairRanks, n: int, *, k: int, pools: list[int]) -> dict[str, Any]:
    """Return how RPS_k changes with N, for each N in `pools` (ARGUS Figure 3).

    values: values of N.
    mean: mean RPS at each.
    share_above_half: share of entities with an RPS above 0.5, at each.
    entities: entities measured at each.
    """
    scores = [score(ranks, n, k=k, pool=pool) for pool in pools]
    scores = [s for s in scores if s.measured.any()]
    return {
        "values": [s.pool for s in scores],
        "mean": [float(s.rps[s.measured].mean()) for s in scores],
        "share_above_half": [float((s.rps[s.measured] > 0.5).mean()) for s in scores],
        "entities": [int(s.measured.sum()) for s in scores],
    }


def curve_over_k(ranks: PairRanks, *, k_max: int, pool: int) -> dict[str, Any]:
    """Return how RPS changes with k = 1..k_max at fixed N (ARGUS Figure 5), as over N."""
    eligible = np.flatnonzero(ranks.pool >= pool - 1)
    order = eligible[np.argsort(ranks.entity[eligible], kind="stable")]
    x = ranks.entity[order]
    starts = np.flatnonzero(np.diff(x, prepend=-1))  # where an entity's pairs begin
    n_scored, values = len(starts), list(range(1, k_max + 1)) if len(starts) else []
    mean, above_half = np.zeros(len(values)), np.zeros(len(values))
    # Whole entities, with about PAIRS_BY_K pairs at once.
    ends = np.searchsorted(starts, np.arange(PAIRS_BY_K, len(x), PAIRS_BY_K))
    for first, last in pairwise(np.unique([0, *ends, n_scored]).tolist()):
        part = order[starts[first] : starts[last] if last < n_scored else len(x)]
        hits = hit_probability_by_k(
            ranks.above[part], ranks.pool[part], k_max=k_max, draws=pool - 1
        )  # fmt: skip
        own = starts[first:last] - starts[first]
        rps = np.add.reduceat(hits, own, axis=0) / np.diff(own, append=len(part))[:, None]
        mean += rps.sum(axis=0)
        above_half += (rps > 0.5).sum(axis=0)
    return {
        "values": values,
        "mean": (mean / max(n_scored, 1)).tolist(),
        "share_above_half": (above_half / max(n_scored, 1)).tolist(),
        "entities": [n_scored] * len(values),
    }


def reservoir_error(ranks: PairRanks, n: int, *, k: int, pool: int) -> float:
    """Return the mean standard error of RPS that comes from ranking among a reservoir.

    A pair's share above, p = above/pool, has standard error √(p(1-p)/pool). To first order the hit
    probability moves by its slope times that. Pairs of one entity share reservoirs, so their errors
    are taken as fully correlated: the figure is an upper bound.
    """
    related, total = np.zeros(n, np.int64), np.zeros(n)
    for x, least, size in _eligible(ranks, pool):
        above = least.astype(np.int64)
        share = (above + 0.5) / (size + 1)
        spread = np.maximum(1, np.sqrt(share * (1 - share) * size)).astype(np.int64)
        up, down = np.minimum(above + spread, size), np.maximum(above - spread, 0)
        hits = [hit_probability(a, size, k=k, draws=pool - 1) for a in (down, up)]
        related += np.bincount(x, minlength=n)
        total += np.bincount(x, weights=np.abs(hits[0] - hits[1]) / 2, minlength=n)
    per_entity = total[related > 0] / related[related > 0]
    return round(float(per_entity.mean()), 6) if len(per_entity) else 0.0


Probabilities = npt.NDArray[np.float64]


def hit_probability(above: np.ndarray, pool: np.ndarray, *, k: int, draws: int) -> Probabilities:
    """Return `Pr[H <= k-1]` per pair, shape (n_pairs,).

    above, pool: (n_pairs,) integers with 0 <= above <= pool and draws <= pool. k: 1 <= k. Accurate
    to about 1e-9 relative (tested against scipy.stats.hypergeom).
    """
    from argus.retrievability.kernels import tail

    out = np.empty(len(above))
    tail(above.astype(np.int64), pool.astype(np.int64), k, draws, _log_factorials(pool), out)
    return out


def hit_probability_by_k(
    above: np.ndarray, pool: np.ndarray, *, k_max: int, draws: int
) -> Probabilities:
    """Return `Pr[H <= k-1]` for k = 1..k_max, shape (n_pairs, k_max)."""
    from argus.retrievability.kernels import tails

    out = np.empty((len(above), k_max))
    tails(above.astype(np.int64), pool.astype(np.int64), k_max, draws, _log_factorials(pool), out)
    return out


def _log_factorials(pool: np.ndarray) -> Probabilities:
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(int(pool.max(initial=0)) + 1) + 1.0))
