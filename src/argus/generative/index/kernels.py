"""Search a suffix array in compiled code: which of its rows begin with an n-gram.

`segment` and `ngram_index` call these functions on one segment.

Arguments, alike in all: `text`, (N + 1,): the tokens, one closing border at the end. `suffixes`,
(N,): starts of the suffixes in their order, the closing border's left out. `first`, (V + 1,): where
each token's rows begin. `lists`: for tokens with many rows, their continuations, as (`pointers`, (V
+ 1,), `tokens`, `begins`: the first row of each continuation). A range of rows is half open. An
empty one is (0, 0).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray

Array = npt.NDArray[Any]
Lists = tuple[IntArray, Array, Array]
"""Pointers, tokens, first rows."""


@numba.njit(nogil=True, cache=True)
def lower_bound(text: Array, suffixes: Array, low: int, high: int, depth: int, token: int) -> int:
    """Return the first row in [low, high) whose token at `depth` is not below `token`."""
    while low < high:
        middle = (low + high) >> 1
        if text[suffixes[middle] + depth] < token:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(nogil=True, cache=True)
def run_end(text: Array, suffixes: Array, low: int, high: int, depth: int) -> int:
    """Return the end of the run of rows from `low` with its token at `depth`, by galloping."""
    token = text[suffixes[low] + depth]
    step = 1
    while low + step < high and text[suffixes[low + step] + depth] == token:
        low += step
        step *= 2
    return lower_bound(text, suffixes, low + 1, min(low + step, high), depth, token + 1)


@numba.njit(nogil=True, cache=True)
def narrow(
    text: Array, suffixes: Array, low: int, high: int, depth: int, token: int
) -> tuple[int, int]:
    """Return the rows of [low, high) whose token at `depth` is `token`."""
    begin = lower_bound(text, suffixes, low, high, depth, token)
    if begin == high or text[suffixes[begin] + depth] != token:
        return 0, 0
    return begin, run_end(text, suffixes, begin, high, depth)


@numba.njit(nogil=True, cache=True)
def second(first: IntArray, lists: Lists, before: int, token: int) -> tuple[int, int]:
    """Return the rows of `before token`, for a token `before` that has a list."""
    pointers, tokens, begins = lists
    low, end = pointers[before], pointers[before + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if tokens[middle] < token:
            low = middle + 1
        else:
            high = middle
    if low == end or tokens[low] != token:
        return 0, 0
    return begins[low], (begins[low + 1] if low + 1 < end else first[before + 1])


@numba.njit(nogil=True, cache=True)
def find(
    text: Array, suffixes: Array, first: IntArray, lists: Lists, border: int, ngram: Array
) -> tuple[int, int]:
    """Return the rows of an n-gram of at least one token. A border inside of it matches nothing."""
    size, length = len(first) - 1, len(ngram)
    for i in range(length):
        token = ngram[i]
        if token < 0 or token >= size or (token == border and 0 < i < length - 1):
            return 0, 0
    low, high = first[ngram[0]], first[ngram[0] + 1]
    depth = 1
    listed = lists[0]
    if length > 1 and listed[ngram[0]] < listed[ngram[0] + 1]:
        low, high = second(first, lists, ngram[0], ngram[1])
        depth = 2
    while depth < length and low < high:
        low, high = narrow(text, suffixes, low, high, depth, ngram[depth])
        depth += 1
    return (low, high) if low < high else (0, 0)


@numba.njit(nogil=True, cache=True)
def find_all(
    text: Array, suffixes: Array, first: IntArray, lists: Lists, border: int,
    pointers: IntArray, ngrams: Array, low: IntArray, high: IntArray,
) -> None:  # fmt: skip
    """Write the rows of every n-gram. An empty one has all rows."""
    for i in range(len(pointers) - 1):
        begin, end = pointers[i], pointers[i + 1]
        if begin == end:
            low[i], high[i] = 0, len(suffixes)
        elif begin + 1 == end and 0 <= ngrams[begin] < len(first) - 1:  # several times as fast
            low[i], high[i] = first[ngrams[begin]], first[ngrams[begin] + 1]
            if low[i] == high[i]:
                low[i], high[i] = 0, 0
        else:
            low[i], high[i] = find(text, suffixes, first, lists, border, ngrams[begin:end])


@numba.njit(nogil=True, cache=True)
def step(
    text: Array, suffixes: Array, border: int,
    low: IntArray, high: IntArray, depth: int, tokens: Array,
) -> None:  # fmt: skip
    """Narrow each range, in place, to the rows with the given token at `depth`."""
    for i in range(len(low)):
        if low[i] < high[i]:
            if depth > 1 and text[suffixes[low[i]] + depth - 1] == border:  # its passage has ended
                low[i], high[i] = 0, 0
                continue
            low[i], high[i] = narrow(text, suffixes, low[i], high[i], depth, tokens[i])


@numba.njit(nogil=True, cache=True)
def next_tokens(
    text: Array, suffixes: Array, first: IntArray, lists: Lists,
    low: IntArray, high: IntArray, depth: int,
) -> tuple[IntArray, Array, IntArray]:  # fmt: skip
    """Return which tokens follow each range, at `depth`, and how often: (pointers, tokens, counts).

    Tokens of a range ascend. Time grows with the distinct tokens, not with the rows.
    """
    list_pointers, list_tokens, begins = lists  # a tuple read in a loop costs tens of nanoseconds
    pointers = np.zeros(len(low) + 1, np.int64)
    tokens, counts = np.empty(1 << 12, np.int32), np.empty(1 << 12, np.int64)
    used = 0
    for i in range(len(low)):
        begin, end = low[i], high[i]
        before = text[suffixes[begin]] if depth == 1 and begin < end else 0
        place, last = list_pointers[before], list_pointers[before + 1]
        if depth == 1 and begin < end and place < last:
            tokens, counts = _with_room(tokens, counts, used, last - place)
            for j in range(place, last):
                after = begins[j + 1] if j + 1 < last else end
                tokens[used], counts[used] = list_tokens[j], after - begins[j]
                used += 1
        else:
            row = begin
            while row < end:
                after = run_end(text, suffixes, row, end, depth)
                if used == len(tokens):
                    tokens, counts = _with_room(tokens, counts, used, 1)
                tokens[used], counts[used] = text[suffixes[row] + depth], after - row
                used += 1
                row = after
        pointers[i + 1] = used
    return pointers, tokens[:used], counts[:used]


@numba.njit(nogil=True, cache=True)
def _with_room(tokens: Array, counts: IntArray, used: int, more: int) -> tuple[Array, IntArray]:
    """Return both arrays with room for `more` numbers after the first `used`."""
    if used + more <= len(tokens):
        return tokens, counts
    size = max(used + more, 2 * len(tokens))
    wider, longer = np.empty(size, np.int32), np.empty(size, np.int64)
    for i in range(used):  # a slice would take seconds to compile
        wider[i], longer[i] = tokens[i], counts[i]
    return wider, longer


@numba.njit(nogil=True, cache=True)
def continuation_lists(
    text: Array, suffixes: Array, first: IntArray, border: int, least: int
) -> tuple[IntArray, Array, IntArray]:
    """Return the lists of all tokens but the border with at least `least` rows. See above."""
    size = len(first) - 1
    pointers = np.zeros(size + 1, np.int64)
    tokens, begins = np.empty(1 << 12, np.int32), np.empty(1 << 12, np.int64)
    used = 0
    for token in range(size):
        row, end = first[token], first[token + 1]
        if end - row >= least and token != border:
            while row < end:
                if used == len(tokens):
                    tokens, begins = _with_room(tokens, begins, used, 1)
                tokens[used], begins[used] = text[suffixes[row] + 1], row
                used += 1
                row = run_end(text, suffixes, row, end, 1)
        pointers[token + 1] = used
    return pointers, tokens[:used], begins[:used]


@numba.njit(nogil=True, cache=True)
def merge(
    pointers: IntArray, tokens: Array, counts: IntArray, parts: IntArray
) -> tuple[IntArray, Array, IntArray]:
    """Merge the continuations of several segments into one ascending list per range.

    pointers: (segments, n + 1), into `tokens` and `counts` of all segments one after another.
    parts: (segments,), where each segment's part of them begins.
    """
    segments, n = pointers.shape[0], pointers.shape[1] - 1
    out = np.zeros(n + 1, np.int64)
    merged, sums = np.empty(len(tokens), np.int32), np.empty(len(tokens), np.int64)
    used = 0
    place, end = np.empty(segments, np.int64), np.empty(segments, np.int64)
    for i in range(n):
        for s in range(segments):
            place[s], end[s] = parts[s] + pointers[s, i], parts[s] + pointers[s, i + 1]
        while True:
            smallest = -1
            for s in range(segments):
                if place[s] < end[s] and (smallest < 0 or tokens[place[s]] < smallest):
                    smallest = tokens[place[s]]
            if smallest < 0:
                break
            total = 0
            for s in range(segments):
                if place[s] < end[s] and tokens[place[s]] == smallest:
                    total += counts[place[s]]
                    place[s] += 1
            merged[used], sums[used] = smallest, total
            used += 1
        out[i + 1] = used
    return out, merged[:used], sums[:used]


@numba.njit(nogil=True, cache=True)
def locate(
    suffixes: Array, low: IntArray, high: IntArray, which: npt.NDArray[np.bool_], base: int
) -> tuple[IntArray, IntArray]:
    """Return the positions of some ranges, ascending within each: (pointers, positions)."""
    pointers = np.zeros(len(low) + 1, np.int64)
    for i in range(len(low)):
        pointers[i + 1] = pointers[i] + (high[i] - low[i] if which[i] else 0)
    positions = np.empty(pointers[-1], np.int64)
    for i in range(len(low)):
        if which[i]:
            part = positions[pointers[i] : pointers[i + 1]]
            for j in range(len(part)):
                part[j] = base + suffixes[low[i] + j]
            part.sort()
    return pointers, positions


@numba.njit(nogil=True, cache=True)
def copy_passages(
    text: Array, starts: IntArray, passages: IntArray, pointers: IntArray, out: Array
) -> None:
    """Copy passages' tokens, borders in front, to the places in `pointers`. Skip negative ones."""
    for i in range(len(passages)):
        passage = passages[i]
        if passage >= 0:
            start = starts[passage]
            for j in range(starts[passage + 1] - start):
                out[pointers[i] + j] = text[start + j]
