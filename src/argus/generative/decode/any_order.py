"""Set decoding: the words of an n-gram are written in any order (thesis, §3, "set-based").

The words of a hypothesis stand in one span of at most `longest` tokens of some passage, each at a
place of its own, in whatever order they were written; other words may stand between them. After a
whole word, any word may follow that the span of some place has room for. Two hypotheses of the same
words are one: the more probable is kept. What is written as an n-gram is the shortest span that
holds the words: it exists, and it is scored, weighed and shown as every other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.generative.decode.beams import Beams, Pool, Search, Step, Timings
from argus.generative.decode.candidates import best_continuations
from argus.generative.decode.model import Decoder
from argus.generative.decode.settings import LONGEST_SPAN
from argus.generative.index import NgramIndex

Ngram = tuple[int, ...]
MOST_PLACES = 4_096
"""A hypothesis that stands at more places goes on with the next token only, as a plain one does."""
SPANS = 2
"""Of equally short spans of a hypothesis, so many are kept."""
_SHORTEST = 16  # places whose spans are read: many hold the same tokens
_MIDDLE = LONGEST_SPAN - 1


@dataclass(frozen=True)
class Placed:
    """A hypothesis, and where its words stand.

    places: (m, 3): where its first token stands; which tokens around it are written, as bits of
    which the middle one is that token's; how far from it the last one is. None: at too many places.
    """

    ngram: Ngram
    places: IntArray | None


@dataclass(frozen=True)
class Moves:
    """What may follow a hypothesis at its places; (n,) each, by token. places: their numbers."""

    tokens: IntArray
    places: IntArray
    offsets: IntArray


class AnyOrderBeams(Beams):
    """The live hypotheses of all questions, each a set of words."""

    def __init__(
        self, decoder: Decoder, index: NgramIndex, search: Search, timings: Timings
    ) -> None:
        super().__init__(decoder, index, search, timings)
        self.opens = index.vocabulary.word_starts()
        self.placed = [Placed((), None) for _ in self.hypotheses]
        self._moves: list[Moves | None] = []
        self._next: list[Placed] = []
        self._known: list[set[Ngram]] = [set() for _ in self.hypotheses]

    @cached_property
    def text(self) -> npt.NDArray[np.generic]:
        """The tokens of all passages."""
        texts = [segment.text[: segment.n_tokens] for segment in self.index.segments]
        return texts[0] if len(texts) == 1 else np.concatenate(texts)

    def continuations(self) -> tuple[IntArray, npt.NDArray[np.int32]]:
        """Return what may follow each hypothesis: its next token, or a word of its span."""
        self._moves, parts = [], []
        for one in self.placed:
            if one.places is None:
                self._moves.append(None)
                parts.append(self.index.continuations(one.ngram)[0])
                continue
            moves = Moves(
                *moves_of(self.text, self.opens, self.index.border, one.places, self.search.longest)
            )
            self._moves.append(moves)
            parts.append(np.unique(moves.tokens).astype(np.int32))
        return np.cumsum([0, *map(len, parts)]), np.concatenate(parts)

    def selection(self, pool: Pool) -> Step:
        """Return the 2 x beams best different sets of words of each question."""
        beams = self.search.beams
        pointers, parents, tokens, sums = best_continuations(
            pool.logits, pool.normalizers, pool.sums, pool.pointers, pool.tokens,
            pool.first_rows, 4 * beams, pool.barred,
        )  # fmt: skip
        places: list[int] = []
        self._next, counts = [], [0]
        goes_on = np.zeros(len(parents), np.bool_)
        for begin, end in zip(pointers[:-1].tolist(), pointers[1:].tolist(), strict=True):
            sets: dict[tuple[Ngram, ...], int] = {}
            for i in range(begin, end):
                ngram = (*self.placed[parents[i]].ngram, int(tokens[i]))
                sets.setdefault(self._words(ngram), i)
            mine = list(sets.values())[: 2 * beams]
            goes_on[mine[:beams]] = True
            places += mine
            counts.append(len(places))
        self._next = [self._moved(int(parents[i]), int(tokens[i])) for i in places]
        at = np.array(places, np.int64)
        return Step(np.array(counts), parents[at], tokens[at], sums[at], goes_on[at])

    def record(self, step: Step, written: IntArray) -> None:
        """Keep the shortest spans of what is written, each once."""
        live = []
        for question, hypotheses in enumerate(self.hypotheses):
            known = self._known[question]
            for at in range(step.pointers[question], step.pointers[question + 1]):
                placed = self._next[at]
                if step.goes_on[at]:
                    live.append(placed)
                for span in self._spans(placed):
                    if span in known:
                        continue
                    known.add(span)
                    hypotheses.ngrams.append(span)
                    hypotheses.log_probabilities.append(float(step.sums[at]))
                    hypotheses.ended.append(False)
        self.placed = live

    def extend(self, parents: IntArray, tokens: IntArray) -> None:
        """Nothing: where hypotheses stand is known since they were written."""

    def _words(self, ngram: Ngram) -> tuple[Ngram, ...]:
        """Return the words of a hypothesis, sorted: what is the same in whatever order."""
        starts = [at for at, token in enumerate(ngram) if at == 0 or self.opens[token]]
        ends = [*starts[1:], len(ngram)]
        return tuple(sorted(ngram[a:b] for a, b in zip(starts, ends, strict=True)))

    def _moved(self, row: int, token: int) -> Placed:
        """Return a hypothesis with one more token."""
        before, moves = self.placed[row], self._moves[row]
        ngram = (*before.ngram, token)
        if moves is None or before.places is None:
            return Placed(ngram, self._located(ngram))
        low, high = np.searchsorted(moves.tokens, [token, token + 1])
        offsets = moves.offsets[low:high]
        places = before.places[moves.places[low:high]].copy()
        places[:, 1] |= np.int64(1) << (offsets + _MIDDLE)
        places[:, 2] = offsets
        return Placed(ngram, places)

    def _located(self, ngram: Ngram) -> IntArray | None:
        """Return where an n-gram stands, as places; None where that is too often."""
        if self.index.count(ngram) > MOST_PLACES:
            return None
        _, positions = self.index.occurrences([ngram], MOST_PLACES)
        places = np.empty((len(positions), 3), np.int64)
        places[:, 0] = positions
        places[:, 1] = ((1 << len(ngram)) - 1) << _MIDDLE
        places[:, 2] = len(ngram) - 1
        return places

    def _spans(self, placed: Placed) -> list[Ngram]:
        """Return the shortest spans that hold the words, at most `SPANS`."""
        if placed.places is None:
            return [placed.ngram]
        low, high = spans_of(placed.places)
        lengths = high - low
        shortest = np.flatnonzero(lengths == lengths.min())[:_SHORTEST]
        spans = (tuple(self.text[low[i] : high[i]].tolist()) for i in shortest)
        return list(dict.fromkeys(spans))[:SPANS]


@numba.njit(nogil=True, cache=True)
def spans_of(places: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the span of each place begins and ends; (m,) each."""
    low, high = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
    for i in range(len(places)):
        first, last = _ends(places[i, 1])
        low[i], high[i] = places[i, 0] + first, places[i, 0] + last + 1
    return low, high


@numba.njit(nogil=True, cache=True)
def moves_of(
    text: npt.NDArray[np.generic],
    opens: npt.NDArray[np.bool_],
    border: int,
    places: IntArray,
    longest: int,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return what may follow at places, by token: (tokens, places, offsets).

    A word that has not ended goes on. opens: (V,), which tokens begin a word.
    """
    most = 2 * longest * len(places)
    tokens, owners = np.empty(most, np.int64), np.empty(most, np.int64)
    offsets = np.empty(most, np.int64)
    n = 0
    for i in range(len(places)):
        at, bits, last = places[i, 0], places[i, 1], places[i, 2]
        first, end = _ends(bits)
        low, high = max(end - longest + 1, -at), min(first + longest, len(text) - at)
        if at + last + 1 < len(text):
            after = text[at + last + 1]
            if after != border and not opens[after]:
                low, high = last + 1, min(last + 2, high)
        for way in (1, -1):
            offset = max(low, last + 1) if way == 1 else last - 1
            while low <= offset < high and text[at + offset] != border:
                token = text[at + offset]
                free = not (bits >> (offset + _MIDDLE)) & 1
                if free and (opens[token] or offset == last + 1):
                    tokens[n], owners[n], offsets[n] = token, i, offset
                    n += 1
                offset += way
    order = np.argsort(tokens[:n], kind="mergesort")
    return tokens[:n][order], owners[:n][order], offsets[:n][order]


@numba.njit(nogil=True, cache=True, inline="always")
def _ends(bits: int) -> tuple[int, int]:
    """Return how far the first and the last written token are from the middle."""
    first = 0
    while not (bits >> first) & 1:
        first += 1
    last = first
    while bits >> (last + 1):
        last += 1
    return first - _MIDDLE, last - _MIDDLE
