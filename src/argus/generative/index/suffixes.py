"""Suffix array construction by induced sorting: SA-IS (Nong, Zhang and Chan, 2009), linear time.

Suffixes that are smaller than their left neighbour (LMS) are sorted by recursion on a text of at
most half the length. Two passes over the buckets then order all others. The end of the text sorts
before every token.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray

Suffixes = npt.NDArray[np.int32]


def suffix_array(text: npt.NDArray[Any], size: int) -> Suffixes:
    """Return the start of every suffix of `text`, in their order. Shape (len(text),).

    text: whole numbers from 0 to size - 1, of any integer type. Memory: about 12 bytes per token
    beside the text. Raises ValueError for a text of 2**31 tokens or more.
    """
    n = len(text)
    if n >= 2**31:
        raise ValueError(f"{n:,} tokens: a suffix array of 32 bits holds fewer than 2**31")
    if n < 2:
        return np.arange(n, dtype=np.int32)
    smaller, lms = _classify(text)
    heads = _bucket_heads(text, smaller, size)
    suffixes = np.empty(n, np.int32)
    _induce(text, smaller, heads, lms, suffixes)
    if len(lms) > 1:
        names, n_names = _name(text, smaller, lms, suffixes)
        inner = suffix_array(names, n_names) if n_names < len(lms) else _inverse(names)
        del names
        _induce(text, smaller, heads, lms[inner], suffixes)
    return suffixes


@numba.njit(nogil=True, cache=True)
def _classify(text: npt.NDArray[Any]) -> tuple[npt.NDArray[np.bool_], Suffixes]:
    """Return which suffixes are smaller than the next one, and the LMS positions, ascending."""
    n = len(text)
    smaller = np.zeros(n, np.bool_)
    count = 0
    for i in range(n - 2, -1, -1):
        same = text[i] == text[i + 1]
        smaller[i] = smaller[i + 1] if same else text[i] < text[i + 1]
        count += smaller[i + 1] and not smaller[i]
    lms = np.empty(count, np.int32)
    at = 0
    for i in range(1, n):
        if smaller[i] and not smaller[i - 1]:
            lms[at] = i
            at += 1
    return smaller, lms


@numba.njit(nogil=True, cache=True)
def _bucket_heads(
    text: npt.NDArray[Any], smaller: npt.NDArray[np.bool_], size: int
) -> tuple[IntArray, IntArray]:
    """Return where each token's larger (L) suffixes begin, (size + 1,), and its smaller (S) ones.

    Within a bucket, L suffixes come before S suffixes.
    """
    larger_heads, smaller_heads = np.zeros(size + 1, np.int64), np.zeros(size, np.int64)
    for i in range(len(text)):
        if smaller[i]:
            larger_heads[text[i] + 1] += 1
        else:
            smaller_heads[text[i]] += 1
    for token in range(size):
        smaller_heads[token] += larger_heads[token]
        larger_heads[token + 1] += smaller_heads[token]
    return larger_heads, smaller_heads


@numba.njit(nogil=True, cache=True)
def _induce(
    text: npt.NDArray[Any],
    smaller: npt.NDArray[np.bool_],
    heads: tuple[IntArray, IntArray],
    lms: Suffixes,
    suffixes: Suffixes,
) -> None:
    """Order all suffixes by the given order of the LMS ones. Writes `suffixes`."""
    n = len(text)
    suffixes[:] = -1
    free = heads[1].copy()
    for start in lms:
        suffixes[free[text[start]]] = start
        free[text[start]] += 1
    free = heads[0].copy()
    suffixes[free[text[n - 1]]] = n - 1
    free[text[n - 1]] += 1
    for row in range(n):
        left = suffixes[row] - 1
        if left >= 0 and not smaller[left]:
            suffixes[free[text[left]]] = left
            free[text[left]] += 1
    free = heads[0].copy()
    for row in range(n - 1, -1, -1):
        left = suffixes[row] - 1
        if left >= 0 and smaller[left]:
            end = text[left] + 1  # the next bucket's head is this one's end
            free[end] -= 1
            suffixes[free[end]] = left


@numba.njit(nogil=True, cache=True)
def _name(
    text: npt.NDArray[Any], smaller: npt.NDArray[np.bool_], lms: Suffixes, suffixes: Suffixes
) -> tuple[Suffixes, int]:
    """Return the ranks of the LMS substrings in text order, equal ones alike, and their number."""
    n = len(text)
    place = np.full(n, -1, np.int32)
    for i in range(len(lms)):
        place[lms[i]] = i
    names = np.empty(len(lms), np.int32)
    name, before = -1, -1
    for row in range(n):
        here = suffixes[row]
        at = place[here]
        if at < 0:
            continue
        if before < 0 or not _same_piece(text, lms, place[before], at):
            name += 1
        names[at] = name
        before = here
    return names, name + 1


@numba.njit(nogil=True, cache=True)
def _same_piece(text: npt.NDArray[Any], lms: Suffixes, a: int, b: int) -> bool:
    """Return whether two LMS substrings, both ends included, are equal. The last one is unique."""
    last = len(lms) - 1
    if a == last or b == last or lms[a + 1] - lms[a] != lms[b + 1] - lms[b]:
        return False
    for i in range(lms[a + 1] - lms[a] + 1):  # noqa: SIM110 (compiled: a loop is the fast form)
        if text[lms[a] + i] != text[lms[b] + i]:
            return False
    return True


@numba.njit(nogil=True, cache=True)
def _inverse(names: Suffixes) -> Suffixes:
    inverse = np.empty_like(names)
    for i in range(len(names)):
        inverse[names[i]] = i
    return inverse
