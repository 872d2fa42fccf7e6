"""Open a segment and check its arrays, since compiled code follows them unchecked.

Headers, sizes and all small arrays are compared with each other and with `ngram.json`. Of the two
large ones, `text` and `suffixes`, the least and greatest number are found, block by block: about
0.4 ms per million tokens where the file is in memory. That they belong to each other is looked at
in `SAMPLE` rows, and the order of suffixes in `NEIGHBOURS` pairs, which takes less than 1 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.reading import UNREADABLE, damage
from argus.data.types import IntArray
from argus.errors import InputError
from argus.generative.index.segment import Segment, text_type

BLOCK = 1 << 18
"""Numbers that are looked at at once: they stay in the processor's cache."""
SAMPLE = 4096
NEIGHBOURS, COMPARED = 1000, 16
"""Suffixes that are compared with the next one, and how many tokens of them."""
Array = npt.NDArray[Any]
Fault = tuple[str, str]
"""The name of an array, and its fault."""


def open_segment(folder: Path, border: int, size: int) -> Segment:
    """Map the arrays of a segment of `size` token ids.

    Raises InputError if one is missing, cut, or does not fit the others.
    """
    segment = Segment(*[_array(folder / f"{f.name}.npy") for f in fields(Segment)])
    if (fault := _first_fault(segment, border, size)) is not None:
        name, what = fault
        raise _damaged(folder / f"{name}.npy", what)
    return segment


def _array(path: Path) -> Array:
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except UNREADABLE as error:
        raise _damaged(path, f"cannot be read ({damage(error)})") from error


def _damaged(path: Path, what: str) -> InputError:
    return InputError(
        what,
        expected="the array as `argus research generative build` wrote it",
        fix="Build the index again with --fresh.",
        where=path,
    )


def _first_fault(segment: Segment, border: int, size: int) -> Fault | None:
    """Return the first fault of a segment of so many token ids. None if it is sound.

    Later checks rely on earlier ones.
    """
    for faults in (_headers, _pointers, _lists, _large):
        for fault in faults(segment, border, size):
            return fault
    return None


def _headers(s: Segment, border: int, size: int) -> Iterator[Fault]:
    """Yield arrays of another type or shape than the others and `ngram.json` ask for."""
    del border
    n, d = s.suffixes.size, s.order.size
    tokens, listed, id_bytes = text_type(size), s.list_tokens.size, s.id_bytes.size
    expected: dict[str, tuple[type[Any], tuple[int, ...]]] = {
        "suffixes": (np.int32, (n,)), "order": (np.uint64, (d,)),
        "text": (tokens, (n + 1,)), "first": (np.int64, (size + 1,)),
        "list_pointers": (np.int64, (size + 1,)), "list_tokens": (tokens, (listed,)),
        "list_begins": (np.int32, (listed,)), "starts": (np.int64, (d + 1,)),
        "splits": (np.int32, (d, 2)), "hashes": (np.uint64, (d, 3)),
        "id_pointers": (np.int64, (d + 1,)), "id_bytes": (np.uint8, (id_bytes,)),
    }  # fmt: skip
    for name, (dtype, shape) in expected.items():
        array: Array = getattr(s, name)
        if array.dtype != dtype or array.shape != shape:
            yield (
                name,
                f"{array.dtype} of shape {array.shape}, and {np.dtype(dtype)} of shape {shape} "
                "fits the other arrays",
            )


def _pointers(s: Segment, border: int, size: int) -> Iterator[Fault]:
    """Yield pointers that fall, or do not lead from the beginning of an array to its end."""
    del size
    for name, end, least in (
        ("first", s.n_tokens, 0), ("list_pointers", len(s.list_tokens), 0),
        ("starts", s.n_tokens, 1), ("id_pointers", len(s.id_bytes), 0),
    ):  # fmt: skip
        pointers: IntArray = getattr(s, name)
        if pointers[0] != 0 or pointers[-1] != end or (np.diff(pointers) < least).any():
            yield name, f"pointers that do not rise from 0 to {end:,}"
    lengths = np.diff(s.starts)
    text_at, queries_at = s.splits[:, 0], s.splits[:, 1]
    if ((text_at < 0) | (queries_at < text_at) | (lengths < queries_at)).any():
        yield "splits", "places that lie outside of their passages"
    if s.first[border + 1] - s.first[border] < s.n_documents:
        yield "first", f"fewer borders (token {border}) than the {s.n_documents:,} passages"


def _lists(s: Segment, border: int, size: int) -> Iterator[Fault]:
    """Yield continuation lists whose tokens or rows are not those of the token before."""
    del border
    if not len(s.list_tokens):
        return
    owners = np.flatnonzero(np.diff(s.list_pointers))
    begins, ends = s.list_pointers[owners], s.list_pointers[owners + 1]
    if s.list_tokens.max() >= size:
        yield "list_tokens", f"token ids from {size:,} on"
    if (
        (np.diff(s.list_begins) < 1).any()
        or (s.list_begins[begins] != s.first[owners]).any()
        or (s.list_begins[ends - 1] >= s.first[owners + 1]).any()
    ):
        yield "list_begins", "rows that are not those of the tokens in first.npy"


def _large(s: Segment, border: int, size: int) -> Iterator[Fault]:
    """Yield faults of the two large arrays: numbers out of range, and arrays that do not match."""
    if _range(s.text)[1] >= size:
        yield "text", f"token ids from {size:,} on"
    if s.text[-1] != border or s.text[0] != border:
        yield "text", f"does not begin and end in the border (token {border})"
    low, high = _range(s.suffixes)
    if low < 0 or high >= s.n_tokens:
        yield "suffixes", f"places of {low:,} to {high:,} in a text of {s.n_tokens:,} tokens"
    rows = np.unique(np.linspace(0, s.n_tokens - 1, SAMPLE).astype(np.int64))
    tokens = s.text[s.suffixes[rows]].astype(np.int64)
    if ((rows < s.first[tokens]) | (rows >= s.first[tokens + 1])).any():
        yield "suffixes", "rows that text.npy and first.npy do not have"
    rows = rows[:: -(-len(rows) // NEIGHBOURS)][:-1]
    left, right = (s.suffixes[at].astype(np.int64) for at in (rows, rows + 1))
    if not _rise(s.text, left, right):
        yield "suffixes", "suffixes of text.npy that are not in their order"


def _rise(text: Array, left: IntArray, right: IntArray) -> bool:
    """Return whether each suffix sorts before its neighbour, as far as they are compared."""
    for _ in range(COMPARED):
        ends = np.maximum(left, right) >= len(text)  # a suffix that ends sorts before longer ones
        if (left == right).any() or (right[ends] >= len(text)).any():
            return False
        left, right = left[~ends], right[~ends]
        one, other = text[left], text[right]
        if (one > other).any():
            return False
        left, right = left[one == other] + 1, right[one == other] + 1
    return True


def _range(array: Array) -> tuple[int, int]:
    """Return the least and the greatest number, (0, -1) of none."""
    blocks = [array[at : at + BLOCK] for at in range(0, len(array), BLOCK)]
    if not blocks:
        return 0, -1
    return min(int(b.min()) for b in blocks), max(int(b.max()) for b in blocks)
