"""Which texts hold which sentences: `sentence in text` for all of them, in one pass over the texts.

A sentence of n characters begins and ends with windows of 2**p characters, p the largest that fits;
both windows and n name it. Windows of every place are hashed by doubling. What a hash suggests is
looked up, so that the answer is exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
FEW = 16
"""Texts that are searched one by one: faster there than hashes."""
BLOCK = 1 << 22
"""Characters of texts that are hashed at a time, or as many as the sentences have."""
_SCALE, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def holders(sentences: Sequence[str], texts: Sequence[str]) -> list[list[int]]:
    """Return the positions of the texts that hold each sentence, ascending. None is empty.

    Equal sentences share a list.
    """
    if len(texts) <= FEW:
        return [[i for i, text in enumerate(texts) if one in text] for one in sentences]
    held: dict[str, list[int]] = {one: [] for one in sentences}
    distinct = list(held)
    for block in _blocks(texts, max(BLOCK, sum(map(len, distinct)))):
        for sentence, text in sorted(set(_candidates(distinct, texts[block]))):
            if distinct[sentence] in texts[block.start + text]:
                held[distinct[sentence]].append(block.start + text)
    return [held[one] for one in sentences]


def _blocks(texts: Sequence[str], size: int) -> Iterator[slice]:
    """Yield consecutive texts of about `size` characters together."""
    start = total = 0
    for i, text in enumerate(texts, 1):
        total += len(text)
        if total >= size or i == len(texts):
            yield slice(start, i)
            start, total = i, 0


def _candidates(sentences: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield sentences and texts that may hold them: every pair that is one, hardly another."""
    whole = "".join([*texts, *sentences]).encode("utf-32-le", "surrogatepass")
    ends = np.array(list(accumulate(map(len, [*texts, *sentences]))), np.int64)
    of_texts = ends[: len(texts)]
    lengths = np.array([len(one) for one in sentences], np.int64)
    starts = ends[len(texts) :] - lengths
    hashes = _mixed(np.frombuffer(whole, np.uint32).astype(np.uint64) + np.uint64(1))
    width = 1
    while True:
        these = np.flatnonzero((lengths >= width) & (lengths < 2 * width))
        places = _places(hashes[: of_texts[-1]], hashes[starts[these]])
        for length in np.unique(lengths[these]).tolist():
            own = these[lengths[these] == length]
            at = places[places + length <= of_texts[-1]]
            yield from _matches(hashes, at, starts[own], length - width, own, of_texts)
        if 2 * width > lengths.max(initial=0):
            return
        hashes = _mixed(hashes[:-width] * _SCALE + hashes[width:])
        width *= 2


def _matches(
    hashes: Hashes,
    places: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    shift: int,
    sentences: npt.NDArray[np.int64],
    of_texts: npt.NDArray[np.int64],
) -> Iterator[tuple[int, int]]:
    """Yield sentences of one length and the texts at whose places both of their windows stand.

    shift: from the first window to the last. of_texts: where each text ends.
    """
    keys = _both(hashes, starts, shift)
    by_key: defaultdict[int, list[int]] = defaultdict(list)
    for key, sentence in zip(keys.tolist(), sentences.tolist(), strict=True):
        by_key[key].append(sentence)
    at = _both(hashes, places, shift)
    match = np.isin(at, keys)
    texts = np.searchsorted(of_texts, places[match], side="right")
    for key, text in zip(at[match].tolist(), texts.tolist(), strict=True):
        for sentence in by_key[key]:
            yield sentence, text


def _places(hashes: Hashes, sought: Hashes) -> npt.NDArray[np.int64]:
    """Return where one of some hashes stands."""
    if not len(sought):
        return np.zeros(0, np.int64)
    known = np.unique(sought)
    nearest = known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)]
    return np.flatnonzero(nearest == hashes)


def _both(hashes: Hashes, places: npt.NDArray[np.int64], shift: int) -> Hashes:
    return _mixed(hashes[places] * _SCALE + hashes[places + shift])


def _mixed(hashes: Hashes) -> Hashes:
    """Return hashes whose every bit depends on all bits."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * _MIX
    mixed: Hashes = hashes ^ (hashes >> np.uint64(27))
    return mixed
