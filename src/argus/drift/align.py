"""Align chunks with the sources that they were cut from, by their words alone.

`align`: texts of sources and of chunks -> for each chunk its source, the share of it that stands
there word for word, and the words that were changed since. For each source, how much of it is in
some chunk. Case, white space, line breaks and punctuation do not count. A text is the sequence of
its shingles (Broder, 1997): hashes of every WIDTH words in a row. A chunk is as its source is where
all its shingles are the source's, in whatever order. Words before or behind that are a header, a
title or half a word where they look like one, and else a change.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray

WIDTH = 5
# Share of a chunk's shingles from which it is of that source, and from which it is all of it.
LIKE, WHOLE = 0.25, 0.9
# Below CLEAR a chunk that names no source is of none where others have more than COPIED of that.
CLEAR, COPIED = 0.5, 0.8
# Share of a source in chunks, none of them whole, below which they are of one that is like it.
SPARSE = 0.15
# Sources that a shingle votes for at most: more share a licence, or a header.
VOTES = 32
# Chunks whose shingles are looked up at once.
TOGETHER = 10_000
# Share of chunks that begin (or end) with words of no source, from which that is how they are made.
USUAL = 0.3
# Words from the edge of a source within which a chunk of two sources goes over to the next.
EDGE = 12
# Words in no chunk that one that is in some outweighs, in the end of a source that none is of.
COVERED = 3
# Chunks of a source that begin alike, from which those words are a header, and its most words.
SHARED, MOST_SHARED = 3, 24
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PLAIN = re.compile(r"[a-z0-9]+")
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
Hashes = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case and punctuation. Of Chinese, each character."""
    if text.isascii():
        return _PLAIN.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


class _Numbers(dict[str, int]):
    """A number for every word, in the order in which they come."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


@dataclass(frozen=True)
class Texts:
    """Texts as numbers of words. words: of all, (n_words,). starts: (n_texts + 1,)."""

    words: npt.NDArray[np.int32]
    starts: IntArray

    @classmethod
    def of(cls, texts: Sequence[str], numbers: _Numbers) -> Texts:
        """Read texts."""
        read = [np.fromiter(map(numbers.__getitem__, words_of(text)), np.int32) for text in texts]
        starts = np.cumsum([0, *map(len, read)], dtype=np.int64)
        return cls(np.concatenate([np.zeros(0, np.int32), *read]), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> npt.NDArray[np.int32]:
        return self.words[self.starts[row] : self.starts[row + 1]]

    def shingles(self, first: int, last: int) -> tuple[Hashes, IntArray]:
        """Return the shingles of texts from `first` to `last`, and which text each is of."""
        start, end = self.starts[first], self.starts[last]
        if end - start < WIDTH:
            return np.zeros(0, np.uint64), np.zeros(0, np.int64)
        mixed = _mix(self.words[start:end].astype(np.uint64))
        n = len(mixed) - WIDTH + 1
        hashes = np.zeros(n, np.uint64)
        for step in range(WIDTH):
            hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + mixed[step : step + n]
        owner = np.repeat(np.arange(first, last), np.diff(self.starts[first : last + 1]))
        inside = owner[:n] == owner[WIDTH - 1 :]
        return hashes[inside], owner[:n][inside]


def _mix(x: Hashes) -> Hashes:
    """Return hashes of numbers (splitmix64, Steele et al., 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@dataclass(frozen=True)
class Alignment:
    """Chunks in their sources. Arrays of chunks are (n_chunks,), of sources (n_sources,).

    source: row of the source that a chunk is aligned with, -1 for none. best: of the one that most
    of it is in, whatever it is named for. share: of the chunk's shingles, those in `source`.
    best_share: those in `best`. changed: words that are not there any more, or that others stand
    between. begin, end: words of the source that the chunk spans. words: of the chunk. keys: equal
    where all words are. covered: words of a source that stand in a chunk. tail: words at its end
    that do not. size: all. elsewhere: share of the shingles of a source without a chunk that are in
    others. is_inside: all words of the chunk stand in a row in its source, however few.
    """

    source: IntArray
    best: IntArray
    share: npt.NDArray[np.float64]
    best_share: npt.NDArray[np.float64]
    changed: IntArray
    begin: IntArray
    end: IntArray
    words: IntArray
    keys: list[bytes]
    covered: IntArray
    tail: IntArray
    size: IntArray
    elsewhere: npt.NDArray[np.float64]
    is_inside: Flags


class _Edge(NamedTuple):
    """Words of a chunk before (side 0), or behind (1), all that stands in its source.

    is_gap: the words beside that place in the source stand in no chunk.
    """

    chunk: int
    side: int
    words: int
    is_gap: bool


def align(
    sources: Sequence[str], chunks: Sequence[str], *, titles: Sequence[str] | None = None,
    named: IntArray | None = None,
) -> Alignment:  # fmt: skip
    """Align chunks with sources. named: row of the source that a chunk names, (n_chunks,), or -1.

    Below -1 it names one that is not there. titles: of chunks; they may stand before the text.
    """
    numbers, n = _Numbers(), len(chunks)
    texts, pieces = Texts.of(sources, numbers), Texts.of(chunks, numbers)
    heads = Texts.of(titles or [""] * n, numbers)
    named = np.full(n, -1) if named is None else named
    best, second, best_share, named_share = _vote(texts, pieces, named)
    is_named = (named >= 0) & ((named_share >= LIKE) | (best_share < WHOLE))
    least = np.where(named < -1, WHOLE, LIKE)
    source = np.where(is_named, named, np.where(best_share >= least, best, -1))
    most = np.zeros(len(texts) + 1)  # the last is of chunks of none
    np.maximum.at(most, source, np.where(is_named, 1.0, best_share))
    placing = _Placing(texts, pieces, heads, list(numbers))
    of_source: dict[int, list[int]] = defaultdict(list)
    for chunk in range(n):
        for row in {int(source[chunk]), int(second[chunk])} - {-1}:
            of_source[row].append(chunk)
    for row in sorted(of_source):
        placing.place(row, of_source[row], source, named)
    changed = placing.changed + placing.changed_edges()
    for chunk in np.flatnonzero((changed > 0) & (second >= 0) & (source >= 0)).tolist():
        one, other = int(source[chunk]), int(second[chunk])
        if one != other and placing.goes_over(chunk, one, other):
            changed[chunk] = 0
    copied = np.array(placing.copied, np.int64)
    source[copied[changed[copied] > 0]] = -1
    is_like = (most[:-1] < WHOLE) & (placing.covered < SPARSE * np.diff(texts.starts))
    source[~is_named & np.append(is_like, False)[source]] = -1
    keys = [pieces[row].tobytes() for row in range(n)]
    return Alignment(
        source, best, np.where(is_named, named_share, best_share), best_share, changed,
        placing.begin, placing.end, np.diff(pieces.starts), keys, placing.covered,
        placing.tail, np.diff(texts.starts), _elsewhere(texts, pieces, {*source.tolist()}),
        _inside(texts, pieces, np.where(named >= 0, named, source)),
    )  # fmt: skip


def _vote(
    texts: Texts, pieces: Texts, named: IntArray
) -> tuple[IntArray, IntArray, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the source with most of a chunk's shingles, the next, and the shares in it and named.

    The next is -1 where it has fewer than WIDTH of them.
    """
    n, m = len(pieces), max(1, len(texts))
    hashes, owner = texts.shingles(0, len(texts))
    order = np.lexsort((owner, hashes))
    hashes, owner = hashes[order], owner[order].astype(np.int32)
    del order
    fresh = np.ones(len(hashes), np.bool_)
    fresh[1:] = (hashes[1:] != hashes[:-1]) | (owner[1:] != owner[:-1])
    hashes, owner = hashes[fresh], owner[fresh]
    best, second = np.full(n, -1), np.full(n, -1)
    share, of_named = np.zeros(n), np.zeros(n)
    for start in range(0, n, TOGETHER):
        asked, chunk = pieces.shingles(start, min(n, start + TOGETHER))
        total = np.bincount(chunk - start, minlength=TOGETHER)
        order = np.argsort(asked)
        asked, chunk = asked[order], chunk[order]
        low = np.searchsorted(hashes, asked, "left")
        many = np.minimum(np.searchsorted(hashes, asked, "right") - low, VOTES)
        ends = np.cumsum(many)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(low - ends + many, many)
        pairs, votes = np.unique(np.repeat(chunk, many) * m + owner[places], return_counts=True)
        of, voted = pairs // m, pairs % m
        ranked = np.lexsort((voted, -votes, of))
        of, voted, votes = of[ranked], voted[ranked], votes[ranked]
        first = np.ones(len(of), np.bool_)
        first[1:] = of[1:] != of[:-1]
        next_ = np.zeros(len(of), np.bool_)
        next_[1:] = first[:-1] & ~first[1:] & (votes[1:] >= WIDTH)
        best[of[first]], second[of[next_]] = voted[first], voted[next_]
        share[of[first]] = votes[first] / total[of[first] - start]
        is_own = named[of] == voted
        of_named[of[is_own]] = votes[is_own] / total[of[is_own] - start]
        second[of[next_ & is_own]] = best[of[next_ & is_own]]
    return best, second, share, of_named


def _elsewhere(texts: Texts, pieces: Texts, used: set[int]) -> npt.NDArray[np.float64]:
    """Return the share of each source that is in no use, by shingles, that is in any chunk."""
    unused = [row for row in range(len(texts)) if row not in used]
    own = [texts.shingles(row, row + 1)[0] for row in unused]
    wanted = np.unique(np.concatenate([np.zeros(0, np.uint64), *own]))
    is_met = np.zeros(len(wanted) + 1, np.bool_)
    for start in range(0, len(pieces) if len(wanted) else 0, TOGETHER):
        asked, _ = pieces.shingles(start, min(len(pieces), start + TOGETHER))
        is_met[:-1] |= np.isin(wanted, asked)
    share = np.zeros(len(texts))
    for row, hashes in zip(unused, own, strict=True):
        if len(hashes):
            share[row] = is_met[np.searchsorted(wanted, hashes)].mean()
    return share


def _inside(texts: Texts, pieces: Texts, of: IntArray) -> Flags:
    """Return of chunks that are shorter than shingles whether their words are in the source."""
    inside = np.ones(len(pieces), np.bool_)
    for row in np.flatnonzero(np.diff(pieces.starts) < 2 * WIDTH).tolist():
        piece, text = pieces[row], texts[int(of[row])] if of[row] >= 0 else pieces[row][:0]
        starts = range(len(text) - len(piece) + 1) if len(piece) else ()
        inside[row] = any(np.array_equal(piece, text[i : i + len(piece)]) for i in starts)
    return inside


def _run(is_met: Flags) -> int:
    """Return how many words the first shingles in a row that are met have, less half a word."""
    starts = np.flatnonzero(is_met[:2])
    if not len(starts):
        return 0
    rest = np.flatnonzero(~is_met[starts[0] :])
    return (int(rest[0]) if len(rest) else len(is_met) - int(starts[0])) + WIDTH - 1


class _Placing:
    """Places chunks in their sources, source by source."""

    def __init__(self, texts: Texts, pieces: Texts, titles: Texts, words: list[str]) -> None:
        self.texts, self.pieces, self.titles, self.words = texts, pieces, titles, words
        n, m = len(pieces), len(texts)
        self.changed, self.begin, self.end = (np.zeros(n, np.int64) for _ in range(3))
        self.covered, self.tail = np.zeros(m, np.int64), np.diff(texts.starts)
        self.edges: list[_Edge] = []
        self.copied: list[int] = []  # of which the little that a source has is in others of it

    def place(self, row: int, chunks: list[int], source: IntArray, named: IntArray) -> None:
        """Find the chunks of one source in it. Count what it covers, and what was changed.

        A chunk that has a few words of it, which its own chunks have, too, is of another.
        """
        own, _ = self.texts.shingles(row, row + 1)
        order = np.argsort(own, kind="stable")
        ordered, met, whole = own[order], [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        found: list[tuple[int, int, Hashes, IntArray, IntArray]] = []
        for chunk, head in zip(chunks, self._heads(chunks), strict=True):
            asked = self.pieces.shingles(chunk, chunk + 1)[0][head:]
            low = np.searchsorted(ordered, asked)
            is_met = ordered[np.minimum(low, len(own) - 1)] == asked if len(own) else asked < 0
            if len(hits := np.flatnonzero(is_met)):
                met.append(asked[hits])
                if len(hits) == len(asked):
                    whole.append(asked)
                found.append((chunk, head, asked, hits, order[low[hits]]))
            elif source[chunk] == row:
                self.changed[chunk] = len(self.pieces[chunk])
        covered = np.zeros(len(self.texts[row]), np.bool_)
        places = np.flatnonzero(np.isin(own, np.concatenate(met)))
        for step in range(WIDTH):
            covered[places + step] = True
        self.covered[row] = covered.sum()
        worth = np.cumsum(np.where(covered, -COVERED, 1)[::-1])  # a licence may end the source
        self.tail[row] = worth.argmax() + 1 if len(worth) and worth.max() > 0 else 0
        told = np.concatenate(whole)
        for chunk, head, asked, hits, at in found:
            is_little = source[chunk] == row != named[chunk] and len(hits) < CLEAR * len(asked)
            if is_little and np.isin(asked[hits], told).mean() > COPIED:
                self.copied.append(chunk)
            a, b, shift = int(hits[0]), int(hits[-1]), np.median(at - hits)
            begin, end = (
                int(min(np.flatnonzero(own == asked[i]), key=lambda place: abs(place - shift - i)))
                for i in (a, b)
            )
            end += WIDTH
            if source[chunk] != row:
                continue
            self.begin[chunk], self.end[chunk] = begin, end
            self.changed[chunk] = b - a + 1 - len(hits)
            piece = self.pieces[chunk][head:]
            for side, outer, place in ((0, piece[:a], begin), (1, piece[b + WIDTH :], end)):
                if len(outer):
                    self._note_edge(chunk, row, side, outer, place, covered)

    def _heads(self, chunks: list[int]) -> list[int]:
        """Return how many words of each chunk are its title, or what three of them begin with."""
        pieces = [self.pieces[chunk] for chunk in chunks]
        texts = {piece.tobytes(): piece.tolist()[:MOST_SHARED] for piece in pieces}
        begin = Counter(tuple(t[:n]) for t in texts.values() for n in range(1, len(t) + 1))
        heads = []
        for chunk, piece in zip(chunks, pieces, strict=True):
            title = self.titles[chunk]
            own = len(title) if np.array_equal(piece[: len(title)], title) else 0
            first = piece.tolist()[:MOST_SHARED]
            many = (n for n in range(len(first), own, -1) if begin[tuple(first[:n])] >= SHARED)
            heads.append(max(0, min(next(many, own), len(piece) - WIDTH)))
        return heads

    def _note_edge(
        self, chunk: int, row: int, side: int, outer: npt.NDArray[np.int32], at: int, covered: Flags
    ) -> None:
        """Note words outside of what stands at a place of the source, but for half a word."""
        text, beside = self.texts[row], at - 1 + side
        is_inside = 0 <= beside < len(text)
        if not is_inside and not side and len(outer) < WIDTH:  # a short header
            return
        if len(outer) == 1 and is_inside:  # half a word, cut by a splitter
            said, there = self.words[outer[0]], self.words[text[beside]]
            if there.startswith(said) if side else there.endswith(said):
                return
        self.edges.append(_Edge(chunk, side, len(outer), is_inside and not covered[beside]))

    def goes_over(self, chunk: int, one: int, other: int) -> bool:
        """Return whether a chunk is the end of one of two sources, and then the other's start."""
        asked, size = self.pieces.shingles(chunk, chunk + 1)[0], len(self.pieces[chunk])
        own = {row: self.texts.shingles(row, row + 1)[0] for row in (one, other)}
        for first, then in ((one, other), (other, one)):
            reach = _run(np.isin(asked, own[first])) + _run(np.isin(asked, own[then])[::-1])
            ends = own[first][-EDGE:], own[then][:EDGE]
            if reach >= size - EDGE and all(np.isin(end, asked).any() for end in ends):
                return True
        return False

    def changed_edges(self) -> IntArray:
        """Return how many words at both ends of each chunk were changed, headers left out."""
        changed = np.zeros(len(self.pieces), np.int64)
        loose = Counter(edge.side for edge in self.edges if not edge.is_gap)
        usual = USUAL * (self.end > 0).sum()
        for edge in self.edges:
            if edge.is_gap or loose[edge.side] < usual:
                changed[edge.chunk] += edge.words
        return changed
