"""One segment of an n-gram index: passages and their suffix array, as plain arrays in a folder.

Everything is memory-mapped, and processes share the pages. Opening checks the facts that loops rely
on (see `argus.generative.index.opening`). Layout, for N tokens (borders in front counted, the
closing one not), D passages, V token ids:

* `text` (N + 1,) uint16 or uint32. `suffixes` (N,) int32. `first` (V + 1,) int64.
* `list_pointers` (V + 1,), `list_tokens`, `list_begins`: continuations of tokens with at least
  `LISTED` rows, so that the widest ranges need no search.
* `starts` (D + 1,) int64. `splits` (D, 2) int32. `hashes` (D, 3) and `order` (D,) uint64:
  `id_pointers` (D + 1,) and `id_bytes`: ids in UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.types import IntArray
from argus.data.writing import writable
from argus.generative.index.kernels import Lists, continuation_lists
from argus.generative.index.suffixes import suffix_array
from argus.generative.passages import Passages

LISTED = 2048
Array = npt.NDArray[Any]


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

    @property
    def n_tokens(self) -> int:
        """Tokens of all passages, the borders in front counted."""
        return len(self.suffixes)

    @property
    def n_documents(self) -> int:
        """Passages in it."""
        return len(self.order)

    @property
    def identity(self) -> str:
        """Hash of the counts of all tokens: segments of other corpora differ."""
        return content_hash(self.first.tobytes()).hex()

    @property
    def lists(self) -> Lists:
        """Continuation lists, as kernels take them."""
        return self.list_pointers, self.list_tokens, self.list_begins

    def id_of(self, passage: int) -> str:
        """Return the id of a passage of this segment."""
        begin, end = self.id_pointers[passage], self.id_pointers[passage + 1]
        return self.id_bytes[begin:end].tobytes().decode("utf-8", "surrogatepass")

    @property
    def bytes(self) -> dict[str, int]:
        """Size of every array, in bytes."""
        return {f.name: int(getattr(self, f.name).nbytes) for f in fields(self)}


def make_segment(passages: list[Passages], border: int, size: int) -> Segment:
    """Build a segment in memory. Passages must hold at least one token.

    Memory: the tokens (4 bytes each), their copy in the index's type, and about 16 bytes per token.
    """
    lengths = [len(p.tokens) for p in passages]
    text = np.empty(sum(lengths) + 1, text_type(size))
    at = 0
    for p in passages:
        text[at : at + len(p.tokens)] = p.tokens
        at += len(p.tokens)
    text[at] = border
    suffixes = suffix_array(text, size)
    suffixes = suffixes[suffixes != at]  # the closing border begins no passage
    first = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(text[:at], minlength=size), out=first[1:])
    lists = continuation_lists(text, suffixes, first, border, LISTED)
    ids = [id_.encode("utf-8", "surrogatepass") for p in passages for id_ in p.ids]
    return Segment(
        text=text,
        suffixes=suffixes,
        first=first,
        list_pointers=lists[0],
        list_tokens=lists[1].astype(text.dtype),
        list_begins=lists[2].astype(np.int32),
        starts=np.concatenate(
            [[0], *(p.starts[1:] + o for p, o in zip(passages, _offsets(lengths), strict=True))]
        ).astype(np.int64),
        splits=np.concatenate([p.splits for p in passages]),
        hashes=np.concatenate([p.hashes for p in passages]),
        order=np.array([_order(id_) for id_ in ids], np.uint64),
        id_pointers=np.cumsum([0, *map(len, ids)], dtype=np.int64),
        id_bytes=np.frombuffer(b"".join(ids), np.uint8),
    )


def write_segment(segment: Segment, folder: Path) -> None:
    """Write the arrays of a segment into a new folder. Raises NotWritten where the disk is full."""
    with writable(folder):
        folder.mkdir(parents=True)
        for f in fields(segment):
            np.save(folder / f"{f.name}.npy", getattr(segment, f.name), allow_pickle=False)


def text_type(size: int) -> type[np.uint16 | np.uint32]:
    """Return the type of the tokens of a vocabulary of so many."""
    return np.uint16 if size <= 2**16 else np.uint32


def _offsets(lengths: list[int]) -> list[int]:
    return list(accumulate(lengths[:-1], initial=0))


def _order(id_: bytes) -> int:
    return int.from_bytes(content_hash(id_, size=8), "little")
