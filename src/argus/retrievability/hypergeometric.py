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
