"""Which n-grams an index holds: how many of each length, how often each, in how many passages.

Rows of a suffix array that begin with one n-gram stand together, so all n-grams of a length are
counted in one pass over the rows, given how many tokens each row shares with the row before it.
Segments have their rows in one order: they are merged n-gram by n-gram, by the tokens themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.errors import InputError
from argus.generative.index.ngram_index import NgramIndex

QUANTILES = (0.5, 0.9, 0.99, 0.999, 1.0)
LENGTHS = tuple(range(1, 11))
LONGEST = 255

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class NgramProfile:
    """The n-grams of one length that lie inside passages and hold no border.

    distinct: different n-grams. occurrences: of all of them. singletons: n-grams that occur once.
    in_one_passage: n-grams of which all occurrences lie in one passage, singletons among them.
    frequency_quantiles, passages_quantiles: over the different n-grams, how often one occurs and
    how many passages hold it: for each q of `QUANTILES`, the least number that a share of at least
    q of them does not exceed; 0 where there is no n-gram.
    """

    length: int
    distinct: int
    occurrences: int
    singletons: int
    in_one_passage: int
    frequency_quantiles: dict[float, int]
    passages_quantiles: dict[float, int]


def profile(index: NgramIndex, lengths: Sequence[int] = LENGTHS) -> list[NgramProfile]:
    """Return the profile of each length, in the order asked for; exact.

    Memory: about 10 bytes per token for one segment, 16 for several, beside the mapped index.
    Raises InputError for a length below 1 or above `LONGEST`.
    """
    if not all(1 <= length <= LONGEST for length in lengths):
        raise InputError(
            f"lengths {', '.join(map(str, lengths))}",
            expected=f"lengths from 1 to {LONGEST}",
            fix="Ask for 1 to 10, as many tokens as an n-gram written by a model has.",
            where="lengths",
        )
    rows = _rows(index, max(lengths, default=1))
    return [_profile(*rows, length, index.n_documents) for length in lengths]


Rows = tuple[Array, Array, IntArray, Bytes, Bytes, npt.NDArray[np.int32]]


def _rows(index: NgramIndex, longest: int) -> Rows:
    """Return what `_groups` reads of every row, the segments one after another."""
    segments = index.segments
    parts = np.cumsum([0, *(s.n_tokens for s in segments)], dtype=np.int64)
    shared, room = np.empty(index.n_tokens, np.uint8), np.empty(index.n_tokens, np.uint8)
    owner = np.empty(index.n_tokens, np.int32)
    documents = 0
    for segment, begin, end in zip(segments, parts[:-1], parts[1:], strict=True):
        lengths = np.diff(segment.starts)
        numbers = np.arange(documents, documents + len(lengths), dtype=np.int32)
        _measure(
            segment.text, segment.suffixes, np.repeat(numbers, lengths), index.border, longest,
            shared[begin:end], room[begin:end], owner[begin:end],
        )  # fmt: skip
        documents += len(lengths)
    if len(segments) == 1:
        return segments[0].text, segments[0].suffixes, parts, shared, room, owner
    text = np.concatenate([s.text for s in segments])
    return text, np.concatenate([s.suffixes for s in segments]), parts, shared, room, owner


def _profile(
    text: Array, suffixes: Array, parts: IntArray, shared: Bytes, room: Bytes,
    owner: npt.NDArray[np.int32], length: int, n_documents: int,
) -> NgramProfile:  # fmt: skip
    distinct, total, alone, sizes, passages = _groups(
        text, suffixes, parts, shared, room, owner, length, n_documents
    )
    sizes.sort()
    passages.sort()
    return NgramProfile(
        length=length,
        distinct=distinct,
        occurrences=total,
        singletons=distinct - len(sizes),
        in_one_passage=alone,
        frequency_quantiles=_quantiles(sizes, distinct),
        passages_quantiles=_quantiles(passages, distinct),
    )


def _quantiles(repeated: IntArray, distinct: int) -> dict[float, int]:
    """Return quantiles over `distinct` numbers: ones, and those of `repeated`, ascending."""
    ones = distinct - len(repeated)
    at = [max(0, math.ceil(q * distinct) - 1) - ones for q in QUANTILES]
    return {
        q: int(distinct > 0) if i < 0 or not len(repeated) else int(repeated[i])
        for q, i in zip(QUANTILES, at, strict=True)
    }


@numba.njit(nogil=True, cache=True)
def _measure(
    text: Array, suffixes: Array, passages: npt.NDArray[np.int32], border: int, longest: int,
    shared: Bytes, room: Bytes, owner: npt.NDArray[np.int32],
) -> None:  # fmt: skip
    """Write, per row, its tokens before the next border, and how many of them begin the row before.

    Both are counted up to `longest`. owner: the row's passage; `passages`: that of each position.
    """
    before = -1
    for row in range(len(suffixes)):
        start = suffixes[row]
        length, same = 0, 0
        while length < longest and text[start + length] != border:
            alike = before >= 0 and same == length and text[before + length] == text[start + length]
            same += alike
            length += 1
        shared[row], room[row], owner[row] = same, length, passages[start]
        before = start


@numba.njit(nogil=True, cache=True)
def _groups(
    text: Array, suffixes: Array, parts: IntArray, shared: Bytes, room: Bytes,
    owner: npt.NDArray[np.int32], length: int, n_documents: int,
) -> tuple[int, int, int, IntArray, IntArray]:  # fmt: skip
    """Count the n-grams of one length: (distinct, occurrences, in one passage, sizes, passages).

    parts: (segments + 1,), where each segment's rows begin; its tokens begin there too, and one
    further for every segment before it. sizes, passages: occurrences and different passages of each
    n-gram that occurs more than once.
    """
    segments = len(parts) - 1
    row = parts[:-1].copy()
    latest = np.full(n_documents, -1, np.int64)
    sizes, passages = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.int64)
    distinct = total = alone = repeated = 0
    for s in range(segments):
        row[s] = _next(room, row[s], parts[s + 1], length)
    while True:
        least = -1
        for s in range(segments):
            if row[s] < parts[s + 1] and (
                least < 0 or _order(text, suffixes, parts, row, s, least, length) < 0
            ):
                least = s
        if least < 0:
            return distinct, total, alone, sizes[:repeated], passages[:repeated]
        size, documents = 0, 0
        for s in range(segments - 1, least - 1, -1):  # `least` last: the others compare with it
            if row[s] == parts[s + 1] or (
                s != least and _order(text, suffixes, parts, row, s, least, length) != 0
            ):
                continue
            at, begin = row[s], row[s]
            while at == begin or (at < parts[s + 1] and shared[at] >= length):
                documents += latest[owner[at]] != distinct
                latest[owner[at]] = distinct
                at += 1
            size += at - begin
            row[s] = _next(room, at, parts[s + 1], length)
        distinct += 1
        total += size
        alone += documents == 1
        if size > 1:
            if repeated == len(sizes):
                sizes = np.concatenate((sizes, np.empty_like(sizes)))
                passages = np.concatenate((passages, np.empty_like(passages)))
            sizes[repeated], passages[repeated] = size, documents
            repeated += 1


@numba.njit(nogil=True, cache=True)
def _next(room: Bytes, row: int, end: int, length: int) -> int:
    """Return the first row from `row` on with `length` tokens before a border."""
    while row < end and room[row] < length:
        row += 1
    return row


@numba.njit(nogil=True, cache=True)
def _order(
    text: Array, suffixes: Array, parts: IntArray, row: IntArray, a: int, b: int, length: int
) -> int:
    """Compare the n-grams at two segments' rows: below, at or above 0."""
    start, other = suffixes[row[a]] + parts[a] + a, suffixes[row[b]] + parts[b] + b
    for i in range(length):
        if text[start + i] != text[other + i]:
            return -1 if text[start + i] < text[other + i] else 1
    return 0
