"""Where an n-gram leaves the beam, and how many beams would have kept it.

At each step the 2 x beams best candidates of a question are written, and the `beams` best of them
that do not end go on. So an n-gram is written when each of its proper prefixes went on and it is
itself among the 2 x beams best; it leaves at the first step where that fails. A prefix may leave
although it was written: it was not among those that went on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from argus.generative.decode.beam import Pool, Search, beam_search
from argus.generative.decode.model import Seq2Seq, Sources
from argus.generative.index import NgramIndex


@dataclass(frozen=True, slots=True)
class Left:
    """Where a prefix left the beam.

    at: its length in tokens, from 1; the search's prefix (a title's border) is not counted. rank:
    its place, from 1, among all candidates of that step: the continuations that the index has of
    all live hypotheses, by summed log-probability over the whole vocabulary.
    """

    at: int
    rank: int


class Path:
    """Follows one n-gram through a beam search for one question: an observer of `beam_search`.

    ngram: without the search's prefix. left: None as long as it has not left. written: whether
    the search has written all of it.
    """

    def __init__(self, ngram: tuple[int, ...], search: Search) -> None:
        self.ngram, self.search = ngram, search
        self.left: Left | None = None
        self.written = False

    def __call__(self, pool: Pool) -> bool:
        """Take note of a step; return whether the n-gram goes on."""
        n = pool.written.shape[1]
        (row,) = np.flatnonzero((pool.written == np.array(self.ngram[:n], np.int64)).all(axis=1))
        rank, open_rank = _ranks(pool, int(row), self.ngram[n], self.search.last)
        whole = n + 1 == len(self.ngram)
        kept = rank <= 2 * self.search.beams and (whole or open_rank <= self.search.beams)
        if not kept:
            self.left = Left(n + 1, rank)
        self.written = kept and whole
        return kept and not whole


def follow(
    model: Seq2Seq, source: Sources, index: NgramIndex, search: Search, ngram: tuple[int, ...]
) -> Path:
    """Run a search for one question until it has written or lost an n-gram."""
    path = Path(ngram, search)
    beam_search(model, source, index, replace(search, longest=len(ngram)), observer=path)
    return path


def kept_by(
    model: Seq2Seq,
    source: Sources,
    index: NgramIndex,
    search: Search,
    ngram: tuple[int, ...],
    most: int,
) -> int | None:
    """Return the first beam size that writes an n-gram: 2, 4, ... times the search's, up to `most`.

    None where none does. One that is larger still may lose it again: more hypotheses that go on
    are more competitors at the next step.
    """
    beams = 2 * search.beams
    while beams <= most:
        if follow(model, source, index, replace(search, beams=beams), ngram).written:
            return beams
        beams *= 2
    return None


def _ranks(pool: Pool, row: int, token: int, last: int | None) -> tuple[int, int]:
    """Return the rank of a candidate among all, and among those that do not end; from 1.

    pool: of one question. Equal sums go by row, then by token, as in `best_continuations`.
    """
    rows = np.repeat(np.arange(len(pool.sums)), np.diff(pool.pointers))
    base = pool.sums - pool.normalizers
    scores = base[rows] + pool.logits[rows, pool.tokens]
    mine = base[row] + pool.logits[row, token]
    earlier = (rows < row) | ((rows == row) & (pool.tokens < token))
    better = ((scores > mine) | ((scores == mine) & earlier)) & ~pool.barred[pool.tokens]
    ends = pool.tokens == last if last is not None else np.zeros(len(rows), np.bool_)
    return int(better.sum()) + 1, int((better & ~ends).sum()) + 1
