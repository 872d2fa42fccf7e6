"""The beams of a search: its target, the candidates of a step, and the choice among them.

At each step the 2 x beams best continuations of a question's hypotheses are all kept as n-grams.
The `beams` best that do not end go on. Only continuations that the index has are candidates, and
all of them are but the barred ones: the border, with which a key is the same as without it, and the
unknown token, which says nothing. Scores are sums of log-probabilities over the whole vocabulary.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.generative.decode.candidates import FloatSums, best_continuations
from argus.generative.decode.model import Decoder
from argus.generative.index import NgramIndex


@dataclass(frozen=True)
class Search:
    """The target of a search.

    prefix: tokens before every n-gram, unsearched (a title follows the border). opening:
    tokens the model takes as written before it (a pseudo-query follows ` ||`). It is not scored.
    last: the token that ends an n-gram. None if it may end anywhere. longest: tokens, `last`
    counted, `prefix` not. barred: tokens that are never written. rounds: of backtracking.
    """

    longest: int
    beams: int
    prefix: tuple[int, ...] = ()
    opening: tuple[int, ...] = ()
    last: int | None = None
    barred: frozenset[int] = frozenset()
    rounds: int = 0

    @property
    def plain(self) -> Search:
        """The same search by plain beams."""
        return replace(self, rounds=0)


@dataclass
class Timings:
    """Seconds spent on the index's constraint, and on decoding in all, the constraint included."""

    constraint: float = 0.0
    total: float = 0.0


@dataclass(frozen=True)
class Hypotheses:
    """The n-grams of one question, in the order in which they were found, prefixes left out.

    log_probabilities: one sum per n-gram. ended: whether it ends in the search's `last` token.
    """

    ngrams: list[tuple[int, ...]] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)


@dataclass(frozen=True)
class Pool:
    """Candidates of a step: the live hypotheses of all questions, with their continuations.

    written: (rows, tokens so far), prefixes left out. first_rows: (questions + 1,). logits: (rows,
    V). normalizers, sums: (rows,). pointers, tokens: continuations of each row. barred:
    (V,), tokens that are no candidates. As `best_continuations` takes them.
    """

    written: npt.NDArray[np.int64]
    first_rows: npt.NDArray[np.int64]
    logits: FloatArray
    normalizers: FloatSums
    sums: FloatSums
    pointers: npt.NDArray[np.int64]
    tokens: npt.NDArray[np.int32]
    barred: npt.NDArray[np.bool_]


class Step(NamedTuple):
    """Hypotheses written by a step: per question (pointers), best first.

    parents: the rows that are extended. goes_on: whether a hypothesis is extended at the next step.
    """

    pointers: npt.NDArray[np.int64]
    parents: npt.NDArray[np.int64]
    tokens: npt.NDArray[np.int64]
    sums: FloatSums
    goes_on: npt.NDArray[np.bool_]


Observer = Callable[[Pool], bool]
"""Observe the candidates of each step before the choice. Return whether to go on."""


class Beams:
    """The live hypotheses of all questions, row by row, a question's rows together."""

    def __init__(
        self, decoder: Decoder, index: NgramIndex, search: Search, timings: Timings
    ) -> None:
        self.decoder, self.index, self.search, self.timings = decoder, index, search, timings
        n = len(decoder.sources.hidden)
        self.hypotheses = [Hypotheses() for _ in range(n)]
        self.barred = np.zeros(index.vocabulary_size, np.bool_)
        self.barred[list(search.barred)] = True
        self.rows = index.rows(search.prefix, n)
        self.first_rows = np.arange(n + 1)  # (questions + 1,)
        self.sums = np.zeros(n)
        self.written = np.zeros((n, 0), np.int64)  # (rows, tokens so far)
        self.counts = np.zeros(0, np.int64)  # occurrences of each continuation in the pool
        self.logits = decoder.first()
        first = self.logits - self.logits.logsumexp(1, keepdim=True)
        self.first = first[:, : index.vocabulary_size].cpu().numpy()
        for token in search.opening:
            self.logits = decoder.advance(np.arange(n), np.full(n, token))

    def pool(self) -> Pool:
        """Return the candidates of the next step."""
        normalizers = self.logits.logsumexp(1).double().cpu().numpy()
        logits = self.logits.cpu().numpy()
        begun = time.perf_counter()
        pointers, allowed = self.continuations()
        self.timings.constraint += time.perf_counter() - begun
        return Pool(
            self.written, self.first_rows, logits, normalizers, self.sums,
            pointers, allowed, self.barred,
        )  # fmt: skip

    def continuations(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return the continuations of each row: (pointers (rows + 1,), tokens)."""
        pointers, tokens, self.counts = self.index.next_tokens(self.rows)
        return pointers, tokens

    def extend(self, parents: npt.NDArray[np.int64], tokens: npt.NDArray[np.int64]) -> None:
        """Go on with rows in the index."""
        self.rows = self.index.step(self.rows.take(parents), tokens)

    def step(self, pool: Pool) -> bool:
        """Extend every hypothesis by a token. Return whether any can go on."""
        begun = time.perf_counter()
        step = self.selection(pool)
        self.timings.constraint += time.perf_counter() - begun
        written = np.concatenate([self.written[step.parents], step.tokens[:, None]], axis=1)
        self.record(step, written)
        live = np.flatnonzero(step.goes_on)
        if not len(live) or written.shape[1] == self.search.longest:
            return False
        questions = np.repeat(np.arange(len(self.hypotheses)), np.diff(step.pointers))
        sizes = np.bincount(questions[live], minlength=len(self.hypotheses))
        self.first_rows = np.cumsum([0, *sizes])
        self.sums, self.written = step.sums[live], written[live]
        begun = time.perf_counter()
        self.extend(step.parents[live], step.tokens[live])
        self.timings.constraint += time.perf_counter() - begun
        self.logits = self.decoder.advance(step.parents[live], step.tokens[live])
        return True

    def selection(self, pool: Pool) -> Step:
        """Return the 2 x beams best candidates. The best that do not end go on."""
        pointers, parents, tokens, sums = best_continuations(
            pool.logits, pool.normalizers, pool.sums, pool.pointers, pool.tokens,
            pool.first_rows, 2 * self.search.beams, pool.barred,
        )  # fmt: skip
        goes_on = np.zeros(len(tokens), np.bool_)
        for begin, end in pairwise(pointers.tolist()):
            still = np.flatnonzero(~self.ended(tokens[begin:end]))
            goes_on[begin + still[: self.search.beams]] = True
        return Step(pointers, parents, tokens, sums, goes_on)

    def ended(self, tokens: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which hypotheses end with their last token."""
        return tokens == self.search.last if self.search.last is not None else tokens < 0

    def record(self, step: Step, written: npt.NDArray[np.int64]) -> None:
        """Keep the written hypotheses as n-grams. written: (candidates, tokens so far)."""
        ended = self.ended(step.tokens)
        for question, hypotheses in enumerate(self.hypotheses):
            mine = slice(step.pointers[question], step.pointers[question + 1])
            hypotheses.ngrams.extend(map(tuple, written[mine].tolist()))
            hypotheses.log_probabilities.extend(step.sums[mine].tolist())
            hypotheses.ended.extend(ended[mine].tolist())
