"""From exact ranks to hit probabilities: the tail of the hypergeometric distribution.

Of `pool` neutrals, `above` rank above x. The paper draws `draws = N-1` of them without replacement.
H, the number drawn that rank above x, is Hypergeometric(pool, above, draws), and x ranks in the
top k, inclusive, exactly when H <= k-1. So `P(hit) = Pr[H <= k-1]`, with no sampling noise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Probabilities = npt.NDArray[np.float64]


def hit_probability(above: np.ndarray, pool: np.ndarray, *, k: int, draws: int) -> Probabilities:
    """Return `Pr[H <= k-1]` per pair, shape (n_pairs,). Needs pool >= draws everywhere.

    above, pool: (n_pairs,) integers with 0 <= above <= pool. k: 1 <= k. Accurate to about 1e-9
    relative (tested against scipy.stats.hypergeom).
    """
    from argus.retrievability.tail_kernels import tail

    above, pool = _checked(above, pool, k, draws)
    out = np.empty(len(above))
    tail(above, pool, k, draws, _log_factorials(pool), out)
    return out


def hit_probability_by_k(
    above: np.ndarray, pool: np.ndarray, *, k_max: int, draws: int
) -> Probabilities:
    """Return `Pr[H <= k-1]` for k = 1..k_max, shape (n_pairs, k_max)."""
    from argus.retrievability.tail_kernels import tails

    above, pool = _checked(above, pool, k_max, draws)
    out = np.empty((len(above), k_max))
    tails(above, pool, k_max, draws, _log_factorials(pool), out)
    return out


def _checked(
    above: np.ndarray, pool: np.ndarray, k: int, draws: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    above, pool = np.asarray(above, np.int64), np.asarray(pool, np.int64)
    if k < 1 or draws < 0:
        raise ValueError(f"k={k}, draws={draws}: needs k >= 1 and draws >= 0.")
    if len(pool) and pool.min() < draws:
        raise ValueError(f"{draws} draws from a pool of {pool.min()}; the pool must be as large.")
    if len(pool) and ((above < 0) | (above > pool)).any():
        raise ValueError("above must lie between 0 and pool.")
    return above, pool


def _log_factorials(pool: npt.NDArray[np.int64]) -> Probabilities:
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(int(pool.max(initial=0)) + 1) + 1.0))
