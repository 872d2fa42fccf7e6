"""Open addressing on int64 keys that are not negative, for compiled loops.

A table is an array of keys, a power of two long, -1 where free, beside an array of values. It is
kept at most half full, so a search ends.
"""

from __future__ import annotations

import numba
import numpy as np

SMALLEST = 1 << 10
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: spreads neighbouring keys


@numba.njit(nogil=True, cache=True, inline="always")
def place(keys, key):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return where a key is, or the free place where it belongs."""
    mask = len(keys) - 1
    at = np.int64((np.uint64(key) * _GOLDEN) >> np.uint64(32)) & mask
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & mask
    return at


@numba.njit(nogil=True, cache=True)
def doubled(keys, values):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return a table of twice the size with the same content."""
    wider = np.full(2 * len(keys), -1, np.int64)
    moved = np.zeros(2 * len(keys), values.dtype)
    for i in range(len(keys)):
        if keys[i] != -1:
            at = place(wider, keys[i])
            wider[at], moved[at] = keys[i], values[i]
    return wider, moved
