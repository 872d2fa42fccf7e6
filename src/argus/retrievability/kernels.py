"""Compile the inner loops of the entity audit with numba: dot products, counts, probability tails.

`count_block` counts, for a pair of related entities x and t, the entities not related to t that are
closer to t than x is, for `argus.retrievability.ranks`. `tail`
and `tails` sum hypergeometric probabilities, for `argus.retrievability.rps`. Sums run in one fixed
order, so results do not depend on threads or blocks.
"""

from __future__ import annotations

import math

import numba
import numpy as np

DIRECT_RELATED = 96  # related entities of one t that are compared one by one; more are bisected


@numba.njit(nogil=True, cache=True)
def _dot(a, b):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Dot product in float64, always summed in the same order (four running sums)."""
    s0 = s1 = s2 = s3 = 0.0
    whole = len(a) - len(a) % 4
    for i in range(0, whole, 4):
        s0 += np.float64(a[i]) * np.float64(b[i])
        s1 += np.float64(a[i + 1]) * np.float64(b[i + 1])
        s2 += np.float64(a[i + 2]) * np.float64(b[i + 2])
        s3 += np.float64(a[i + 3]) * np.float64(b[i + 3])
    for i in range(whole, len(a)):
        s0 += np.float64(a[i]) * np.float64(b[i])
    return (s0 + s1) + (s2 + s3)


@numba.njit(nogil=True, cache=True)
def dots(vectors, left, right, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Fill `out` with the dot products of rows left[i] and right[i]. All of shape (n,)."""
    for i in range(len(left)):
        out[i] = _dot(vectors[left[i]], vectors[right[i]])


@numba.njit(nogil=True, cache=True)
def _column(candidates, x, n):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return where x stands among the sorted candidates, of n entities. -1 where it does not."""
    if len(candidates) == n:
        return np.int64(x)
    low, high = 0, len(candidates)
    while low < high:
        middle = (low + high) // 2
        if candidates[middle] < x:
            low = middle + 1
        else:
            high = middle
    return np.int64(low) if low < len(candidates) and candidates[low] == x else np.int64(-1)


@numba.njit(nogil=True, cache=True)
def count_block(  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    similarity, vectors, candidates, offsets, related, exact, order, first, bound, out_above,
    out_pool,
):  # fmt: skip
    """Fill above and pool for the rows of one block. Overwrites `similarity`.

    order: places of the pairs, by `exact` in a row of more than DIRECT_RELATED.
    """
    n = len(vectors)
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        if begin == end:
            continue
        t = first + row
        scores = similarity[row]
        pool = len(candidates)
        column = _column(candidates, t, n)
        if column >= 0:
            scores[column] = -np.inf
            pool -= 1
        for i in range(begin, end):
            column = _column(candidates, related[i], n)
            if column >= 0:
                scores[column] = -np.inf
                pool -= 1
        for i in range(begin, end):
            out_pool[i] = pool
        if end - begin <= DIRECT_RELATED:
            for i in range(begin, end):
                out_above[i] = _count_one(
                    scores, vectors, candidates, t, related[i], exact[i], bound
                )
        else:
            by_exact = order[begin:end]
            _count_many(scores, vectors, candidates, t, related, exact, by_exact, bound, out_above)


@numba.njit(nogil=True, cache=True)
def _count_one(scores, vectors, candidates, t, x, exact, bound):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Count the candidates above one x: two comparisons each, which compile to vector code."""
    high, low = np.float32(exact + bound), np.float32(exact - bound)
    above = np.int64(0)
    for start in range(0, len(scores), 512):
        chunk = scores[start : start + 512]
        surely = possibly = np.int32(0)
        for j in range(len(chunk)):
            surely += np.int32(chunk[j] > high)
            possibly += np.int32(chunk[j] >= low)
        above += np.int64(surely)
        if possibly != surely:  # someone is within rounding of x: decide exactly
            for j in range(len(chunk)):
                if low <= chunk[j] <= high:
                    z = candidates[start + j]
                    exact_z = _dot(vectors[t], vectors[z])
                    above += exact_z > exact or (exact_z == exact and z < x)
    return above


@numba.njit(nogil=True, cache=True)
def _count_many(scores, vectors, candidates, t, related, exact, order, bound, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Count the candidates above each of many x: one bisection per candidate."""
    n_related = len(order)
    sorted_exact = np.empty(n_related)
    for i in range(n_related):
        sorted_exact[i] = exact[order[i]]
    surely_above = np.zeros(n_related + 1, np.int64)  # [p]: candidates surely above just p of them
    tied_above = np.zeros(n_related, np.int64)
    for column in range(len(scores)):
        score = scores[column]
        if score < sorted_exact[0] - bound:
            continue
        first_tied = np.searchsorted(sorted_exact, score - bound)
        surely_above[first_tied] += 1
        if first_tied < n_related and sorted_exact[first_tied] <= score + bound:
            z = candidates[column]
            exact_z = _dot(vectors[t], vectors[z])
            i = first_tied
            while i < n_related and sorted_exact[i] <= score + bound:
                x = related[order[i]]
                tied_above[i] += exact_z > sorted_exact[i] or (exact_z == sorted_exact[i] and z < x)
                i += 1
    above = np.int64(0)
    for i in range(n_related - 1, -1, -1):
        above += surely_above[i + 1]
        out[order[i]] = above + tied_above[i]


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
    """Sum the probability mass from the largest term outwards until it no longer counts."""
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
