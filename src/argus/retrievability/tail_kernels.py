"""Compiled loops of the hypergeometric tail. See `argus.retrievability.hypergeometric`."""

from __future__ import annotations

import math

import numba


@numba.njit(nogil=True, cache=True)
def _log_pmf(h, pool, above, draws, log_factorial):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Log Pr[H = h] = log C(above, h) + log C(pool-above, draws-h) - log C(pool, draws)."""
    below = pool - above
    return (
        log_factorial[above] - log_factorial[h] - log_factorial[above - h]
        + log_factorial[below] - log_factorial[draws - h] - log_factorial[below - draws + h]
        - log_factorial[pool] + log_factorial[draws] + log_factorial[pool - draws]
    )  # fmt: skip


@numba.njit(nogil=True, cache=True)
def tail(above, pool, k, draws, log_factorial, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Sum the probability mass from the largest admitted h downwards until it no longer counts."""
    for i in range(len(above)):
        a, m = above[i], pool[i]
        lowest, highest = max(0, draws - (m - a)), min(a, draws)
        if k - 1 >= highest:
            out[i] = 1.0
            continue
        if k - 1 < lowest:
            out[i] = 0.0
            continue
        mode = (draws + 1) * (a + 1) // (m + 2)
        start = min(max(mode, lowest), k - 1)  # the largest term of the sum
        largest = math.exp(_log_pmf(start, m, a, draws, log_factorial))
        total = term = largest
        for h in range(start, lowest, -1):
            term *= h * (m - a - draws + h) / ((a - h + 1.0) * (draws - h + 1.0))
            total += term
            if term < 1e-18 * total:
                break
        term = largest
        for h in range(start, k - 1):
            term *= (a - h) * (draws - h * 1.0) / ((h + 1.0) * (m - a - draws + h + 1.0))
            total += term
        out[i] = min(total, 1.0)


@numba.njit(nogil=True, cache=True)
def tails(above, pool, k_max, draws, log_factorial, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Fill out[i, k-1] with Pr[H <= k-1] for every k up to k_max."""
    for i in range(len(above)):
        a, m = above[i], pool[i]
        lowest, highest = max(0, draws - (m - a)), min(a, draws)
        total = 0.0
        for h in range(k_max):
            if h >= highest:
                total = 1.0
            elif h >= lowest:
                total += math.exp(_log_pmf(h, m, a, draws, log_factorial))
            out[i, h] = min(total, 1.0)
