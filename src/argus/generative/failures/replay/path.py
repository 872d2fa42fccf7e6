"""Find the step at which n-grams leave the beam, and the beam size that keeps them.

At each step the 2 x beams best candidates of a question are written, and the `beams` best of them
that do not end go on. So an n-gram is written when each of its proper prefixes went on and it is
itself among the 2 x beams best. It leaves at the first step where that fails. A prefix may leave
although it was written: it was not among those that went on. N-grams of one view are followed
together: one search shows all of them, and those that begin alike are one candidate.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from argus.generative.decode.beam import beam_search
from argus.generative.decode.beams import Pool, Search
from argus.generative.decode.model import Seq2Seq, Sources
from argus.generative.index import NgramIndex

Ngram = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """Step and place at which a prefix left the beam.

    at: its length in tokens, from 1. The search's prefix (a title's border) is not counted. rank:
    its place, from 1, among all candidates of that step: the continuations that the index has of
    all live hypotheses, by summed log-probability over the whole vocabulary.
    """

    at: int
    rank: int


class Paths:
    """Follows n-grams through a beam search for one question: an observer of `beam_search`.

    ngrams: without the search's prefix. left: those that have left, and where. written: those that
    the search has written whole.
    """

    def __init__(self, ngrams: Collection[Ngram], search: Search) -> None:
        self.search = search
        self.left: dict[Ngram, Left] = {}
        self.written: set[Ngram] = set()
        self._live = sorted(set(ngrams))  # those that begin alike stand together

    def __call__(self, pool: Pool) -> bool:
        """Take note of a step. Return whether any n-gram goes on."""
        n = pool.written.shape[1] + 1
        candidates = _Candidates(pool, self.search.last)
        live: list[Ngram] = []
        for prefix, group in groupby(self._live, key=lambda ngram: ngram[:n]):
            rank, open_rank = candidates.ranks(prefix)
            among = rank <= 2 * self.search.beams
            for ngram in group:
                if not among or (len(ngram) > n and open_rank > self.search.beams):
                    self.left[ngram] = Left(n, rank)
                elif len(ngram) == n:
                    self.written.add(ngram)
                else:
                    live.append(ngram)
        self._live = live
        return bool(live)


def follow(
    model: Seq2Seq,
    source: Sources,
    index: NgramIndex,
    search: Search,
    ngrams: Collection[Ngram],
) -> Paths:
    """Run a search for one question until it has written or lost each of some n-grams."""
    paths = Paths(ngrams, search)
    longest = max(map(len, ngrams))
    beam_search(model, source, index, replace(search, longest=longest), observer=paths)
    return paths


def kept_by(
    model: Seq2Seq,
    source: Sources,
    index: NgramIndex,
    search: Search,
    ngrams: Collection[Ngram],
    most: int,
) -> dict[Ngram, int]:
    """Return the first beam size that writes each n-gram: 2, 4, ... times the search's, to `most`.

    Those that none writes are left out. One that is larger still may lose an n-gram again: more
    hypotheses that go on are more competitors at the next step.
    """
    least: dict[Ngram, int] = {}
    beams, missing = 2 * search.beams, set(ngrams)
    while missing and beams <= most:
        written = follow(model, source, index, replace(search, beams=beams), missing).written
        least |= dict.fromkeys(written, beams)
        missing -= written
        beams *= 2
    return least


class _Candidates:
    """All that may be chosen at a step for one question. last: the token that ends n-grams."""

    def __init__(self, pool: Pool, last: int | None) -> None:
        rows = np.repeat(np.arange(len(pool.sums)), np.diff(pool.pointers))
        allowed = ~pool.barred[pool.tokens]
        self._rows, self._tokens = rows[allowed], pool.tokens[allowed]
        self._base = pool.sums - pool.normalizers
        self._scores = self._base[self._rows] + pool.logits[self._rows, self._tokens]
        self._open = self._tokens != last if last is not None else np.True_
        self._pool = pool

    def ranks(self, prefix: Ngram) -> tuple[int, int]:
        """Return the rank of a candidate among all, and among those that do not end, both from 1.

        Equal sums go by row, then by token, as in `best_continuations`.
        """
        pool, token = self._pool, prefix[-1]
        before = np.array(prefix[:-1], np.int64)
        (row,) = np.flatnonzero((pool.written == before).all(axis=1)).tolist()
        mine = self._base[row] + pool.logits[row, token]
        better = self._scores > mine
        for at in np.flatnonzero(self._scores == mine):
            better[at] = (self._rows[at], self._tokens[at]) < (row, token)
        return int(better.sum()) + 1, int((better & self._open).sum()) + 1
