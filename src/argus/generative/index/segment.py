"""Build one segment of an n-gram index: passages and their suffix array, as arrays in a folder.

`make_segment`: passages -> `Segment`, by induced sorting. Processes share the mapped pages. Layout,
for N tokens (borders in front counted, the closing one not), D passages, V token ids:

* `text` (N + 1,) uint16 or uint32. `suffixes` (N,) int32. `first` (V + 1,) int64.
* `list_pointers` (V + 1,), `list_tokens`, `list_begins`: continuations of tokens with at least
  `LISTED` rows, so that the widest ranges need no search.
* `starts` (D + 1,) int64. `splits` (D, 2) int32. `hashes` (D, 3) and `order` (D,) uint64:
  `id_pointers` (D + 1,) and `id_bytes`: ids in UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.types import IntArray
from argus.data.writing import writable
from argus.generative.index.kernels import Array, Lists, continuation_lists
from argus.generative.passages import Passages

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
    smaller, lms, heads = _classify(text, size)
    suffixes = np.empty(n, np.int32)
    _induce(text, smaller, heads, lms, suffixes)
    if len(lms) > 1:
        names, n_names = _name(text, lms, suffixes)
        inner = np.empty_like(names)
        if n_names < len(lms):
            inner = suffix_array(names, n_names)
        else:
            inner[names] = np.arange(len(names))
        del names
        _induce(text, smaller, heads, lms[inner], suffixes)
    return suffixes


@numba.njit(nogil=True, cache=True)
def _classify(
    text: npt.NDArray[Any], size: int
) -> tuple[npt.NDArray[np.bool_], Suffixes, tuple[IntArray, IntArray]]:
    """Return which suffixes are smaller (S) than the next one, and the LMS positions, ascending.

    And where each token's larger (L) suffixes begin, (size + 1,), and its S ones: within a bucket,
    L suffixes come first.
    """
    n = len(text)
    smaller = np.zeros(n, np.bool_)
    larger_heads, smaller_heads = np.zeros(size + 1, np.int64), np.zeros(size, np.int64)
    smaller_heads[text[n - 1]] += 1
    count = 0
    for i in range(n - 2, -1, -1):
        same = text[i] == text[i + 1]
        smaller[i] = smaller[i + 1] if same else text[i] < text[i + 1]
        count += smaller[i + 1] and not smaller[i]
        if smaller[i]:
            larger_heads[text[i] + 1] += 1
        else:
            smaller_heads[text[i]] += 1
    lms = np.empty(count, np.int32)
    at = 0
    for i in range(1, n):
        if smaller[i] and not smaller[i - 1]:
            lms[at] = i
            at += 1
    for token in range(size):
        smaller_heads[token] += larger_heads[token]
        larger_heads[token + 1] += smaller_heads[token]
    return smaller, lms, (larger_heads, smaller_heads)


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
def _name(text: npt.NDArray[Any], lms: Suffixes, suffixes: Suffixes) -> tuple[Suffixes, int]:
    """Return the ranks of the LMS substrings in text order, equal ones alike, and their number.

    A substring ends where the next one begins, both ends included. The last one is unique.
    """
    last = len(lms) - 1
    place = np.full(len(text), -1, np.int32)
    for i in range(len(lms)):
        place[lms[i]] = i
    names = np.empty(len(lms), np.int32)
    name, before = -1, -1
    for row in range(len(text)):
        at = place[suffixes[row]]
        if at < 0:
            continue
        same = before >= 0 and before != last and at != last
        if same:
            length = lms[at + 1] - lms[at]
            same = lms[before + 1] - lms[before] == length
            for i in range(length + 1 if same else 0):
                if text[lms[before] + i] != text[lms[at] + i]:
                    same = False
                    break
        name += not same
        names[at] = name
        before = at
    return names, name + 1


LISTED = 2048


@dataclass(frozen=True)
class Segment:
    """The arrays of a segment. See the module's text for their shapes."""

    text: Array
    suffixes: npt.NDArray[np.int32]
    first: IntArray
    list_pointers: IntArray
    list_tokens: Array
    list_begins: Array
    starts: IntArray
    splits: npt.NDArray[np.int32]
    hashes: npt.NDArray[np.uint64]
    order: npt.NDArray[np.uint64]
    id_pointers: IntArray
    id_bytes: npt.NDArray[np.uint8]

    def __post_init__(self) -> None:
        for each in fields(self):  # as mapped ones are: kernels are compiled once for both
            getattr(self, each.name).flags.writeable = False

    @property
    def n_tokens(self) -> int:
        """Tokens of all passages, the borders in front counted."""
        return len(self.suffixes)

    @property
    def n_documents(self) -> int:
        """Passages in it."""
        return len(self.order)

    @property
    def lists(self) -> Lists:
        """Continuation lists, as kernels take them."""
        return self.list_pointers, self.list_tokens, self.list_begins

    def id_of(self, passage: int) -> str:
        """Return the id of a passage of this segment."""
        begin, end = self.id_pointers[passage], self.id_pointers[passage + 1]
        return self.id_bytes[begin:end].tobytes().decode("utf-8", "surrogatepass")


def make_segment(passages: list[Passages], border: int, size: int) -> Segment:
    """Build a segment in memory. Passages must hold at least one token.

    Memory: the tokens (4 bytes each), their copy in the index's type, and about 16 bytes per token.
    """
    lengths = [len(p.tokens) for p in passages]
    text = np.empty(sum(lengths) + 1, np.uint16 if size <= 2**16 else np.uint32)
    at, starts = 0, []
    for p in passages:
        starts.append(p.starts[:-1] + at)
        text[at : at + len(p.tokens)] = p.tokens
        at += len(p.tokens)
    text[at] = border
    suffixes = suffix_array(text, size)
    suffixes = suffixes[suffixes != at]  # the closing border begins no passage
    first = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(text[:at], minlength=size), out=first[1:])
    lists = continuation_lists(text, suffixes, first, border, LISTED)
    ids = [id_.encode("utf-8", "surrogatepass") for p in passages for id_ in p.ids]
    hashes = [content_hash(id_, size=8) for id_ in ids]
    return Segment(
        text=text,
        suffixes=suffixes,
        first=first,
        list_pointers=lists[0],
        list_tokens=lists[1].astype(text.dtype),
        list_begins=lists[2].astype(np.int32),
        starts=np.concatenate([*starts, [at]]).astype(np.int64),
        splits=np.concatenate([p.splits for p in passages]),
        hashes=np.concatenate([p.hashes for p in passages]),
        order=np.array([int.from_bytes(h, "little") for h in hashes], np.uint64),
        id_pointers=np.cumsum([0, *map(len, ids)], dtype=np.int64),
        id_bytes=np.frombuffer(b"".join(ids), np.uint8),
    )


def write_segment(segment: Segment, folder: Path) -> None:
    """Write the arrays of a segment into a new folder. Raises NotWritten where the disk is full."""
    with writable(folder):
        folder.mkdir(parents=True)
        for f in fields(segment):
            np.save(folder / f"{f.name}.npy", getattr(segment, f.name), allow_pickle=False)
