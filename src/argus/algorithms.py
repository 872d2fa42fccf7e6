"""Ranks, Student's t, average linkage, components of a graph.

What the light install needs of SciPy, which takes 145 MB. Tests compare each with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

PRECISION = 1e-15
MOST_STEPS = 100_000  # of the continued fraction; it takes about the root of `df`


def average_ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the rank of each value among those of its row, from 1. Equal ones share the mean.

    values: (..., n), without NaN.
    """
    given = np.asarray(values)
    places, order = np.arange(given.shape[-1]), given.argsort(axis=-1)
    ordered = np.take_along_axis(given, order, -1)
    is_first = np.ones(given.shape, bool)
    is_first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    is_last = np.roll(is_first, -1, axis=-1)
    first = np.maximum.accumulate(np.where(is_first, places, 0), axis=-1)
    backwards = np.where(is_last, places, len(places))[..., ::-1]
    last = np.minimum.accumulate(backwards, axis=-1)[..., ::-1]
    ranks = np.empty(given.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, -1)
    return ranks


def student_tail(t: float, df: int) -> float:
    """Return the probability that |T| exceeds |t|, for Student's T of `df` degrees of freedom.

    It is the incomplete beta function I_x(df / 2, 1 / 2) at x = df / (df + t²), here by its
    continued fraction (DLMF 8.17.22, https://dlmf.nist.gov/8.17).
    """
    if not t * t or math.isinf(t * t):
        return float(not t * t)
    a, b, x, rest = df / 2, 0.5, df / (df + t * t), t * t / (df + t * t)
    weight = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    weight = math.exp(weight + a * math.log(x) + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return weight / a * _beta_fraction(a, b, x)
    return 1 - weight / b * _beta_fraction(b, a, rest)


@cache
def student_quantile(tail: float, df: int) -> float:
    """Return the t that |T| exceeds with probability `tail`: `student_tail` backwards."""
    if not 0 < tail < 1:
        return math.inf if tail <= 0 else 0.0
    low, high = 0.0, 1.0
    while student_tail(high, df) > tail:
        low, high = high, 2 * high
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, df) > tail else (low, middle)
    return high


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal value exceeds z."""
    return math.erfc(z / math.sqrt(2)) / 2


def average_linkage(distances: npt.NDArray[np.float64], most: float) -> list[list[int]]:
    """Join n items while two groups are at most `most` apart in the mean. Return all groups.

    By chains of nearest neighbours (Murtagh, 1983), which join what the nearest pair of all would.
    distances: (n, n), symmetric. It is overwritten.
    """
    n = len(distances)
    np.fill_diagonal(distances, np.inf)
    groups, chain = {i: [i] for i in range(n)}, list[int]()
    done = []
    while groups:
        chain = chain or [next(iter(groups))]
        last = chain[-1]
        near = int(distances[last].argmin())
        if len(chain) > 1 and distances[last, chain[-2]] <= distances[last, near]:
            near = chain[-2]
        if distances[last, near] > most:  # of a chain of one: further on they are nearer
            done.append(sorted(groups.pop(last)))
            distances[last] = distances[:, last] = np.inf
            chain.pop()
        elif len(chain) > 1 and near == chain[-2]:
            one, other = len(groups[near]), len(groups[last])
            mean = (one * distances[near] + other * distances[last]) / (one + other)
            distances[near] = distances[:, near] = mean
            distances[last] = distances[:, last] = distances[near, near] = np.inf
            groups[near] += groups.pop(last)
            del chain[-2:]
        else:
            chain.append(near)
    return sorted(done)


def components(targets: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield strongly connected components (Tarjan, 1972) of what cycles lead to, if any do.

    targets: those of each node.
    """
    n = len(targets)
    # n once the component of a node is yielded
    low = [-1 if left else n for left in _led_to(targets)]
    seen_at = [-1] * n
    waiting: list[int] = []
    for root in range(n):
        ahead = root if low[root] < 0 else None
        path: list[tuple[int, Iterator[int]]] = []
        while path or ahead is not None:
            if ahead is not None:
                seen_at[ahead] = low[ahead] = len(waiting)
                waiting.append(ahead)
                path.append((ahead, iter(targets[ahead])))
            (node, rest), ahead = path[-1], None
            for target in rest:
                if low[target] < 0:
                    ahead = target
                    break
                if low[target] < low[node]:
                    low[node] = low[target]
            else:
                path.pop()
                if low[node] == seen_at[node]:
                    component = waiting[seen_at[node] :]
                    del waiting[seen_at[node] :]
                    for member in component:
                        low[member] = n
                    yield component
                elif low[node] < low[path[-1][0]]:
                    low[path[-1][0]] = low[node]


def _led_to(targets: Sequence[Sequence[int]]) -> list[int]:
    """Return for each node how many lead to it that a cycle leads to, or that are in one."""
    sources = [0] * len(targets)
    for several in targets:
        for target in several:
            sources[target] += 1
    free = [node for node, left in enumerate(sources) if not left]
    for node in free:
        for target in targets[node]:
            sources[target] -= 1
            if not sources[target]:
                free.append(target)
    return sources


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of I_x(a, b), for x < (a + 1) / (a + b + 2), by Lentz."""
    above, below = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = below
    for m in range(1, MOST_STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            above, below = 1 + term / above, 1 / (1 + term * below)
            value *= above * below
        if abs(above * below - 1) < PRECISION:
            break
    return value
