"""Beam search for n-grams that exist, keeping every partial hypothesis (thesis, §2.3).

At each step the 2 x beams best continuations of a question's hypotheses are all kept as n-grams;
the `beams` best that do not end go on. Only continuations that the index has are candidates, and
all of them are but the barred ones: the border, with which a key is the same as without it, and the
unknown token, which says nothing. Scores are sums of log-probabilities over the whole vocabulary.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.generative.decode.candidates import FloatSums, best_continuations
from argus.generative.decode.model import Decoder, Seq2Seq, Sources
from argus.generative.index import NgramIndex


@dataclass(frozen=True)
class Search:
    """What is searched for.

    prefix: what every n-gram follows without being searched (a title follows the border). opening:
    what the model takes as written before it (a pseudo-query follows ` ||`); it is not scored.
    last: the token that ends an n-gram; None where it may end anywhere. longest: tokens, `last`
    counted, `prefix` not. barred: tokens that are never written.
    """

    longest: int
    beams: int
    prefix: tuple[int, ...] = ()
    opening: tuple[int, ...] = ()
    last: int | None = None
    barred: frozenset[int] = frozenset()


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
    """What a step chooses from: the live hypotheses of all questions, and what may follow each.

    written: (rows, tokens so far), prefixes left out. first_rows: (questions + 1,). logits: (rows,
    V). normalizers, sums: (rows,). pointers, tokens: what the index has after each row. barred:
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


Observer = Callable[[Pool], bool]
"""Is shown what each step chooses from, before it does; returns whether to go on."""


def beam_search(
    model: Seq2Seq,
    sources: Sources,
    index: NgramIndex,
    search: Search,
    timings: Timings | None = None,
    observer: Observer | None = None,
) -> tuple[list[Hypotheses], FloatArray]:
    """Return the n-grams of each source, and the log-probabilities of its first token.

    (n, V), for the tokens of the index; a model may have more, of which none exists. observer:
    changes nothing but when to stop; what was found until then is returned.
    """
    import torch

    with torch.inference_mode():
        begun = time.perf_counter()
        beams = _Beams(model.begin(sources), index, search, timings or Timings())
        for _ in range(search.longest):
            pool = beams.pool()
            if observer is not None and not observer(pool):
                break
            if not beams.step(pool):
                break
        if timings is not None:
            timings.total += time.perf_counter() - begun
        return beams.hypotheses, beams.first


class _Beams:
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
        self.logits = decoder.first()
        first = self.logits - self.logits.logsumexp(1, keepdim=True)
        self.first = first[:, : index.vocabulary_size].cpu().numpy()
        for token in search.opening:
            self.logits = decoder.advance(np.arange(n), np.full(n, token))

    def pool(self) -> Pool:
        """Return what the next step chooses from."""
        normalizers = self.logits.logsumexp(1).double().cpu().numpy()
        logits = self.logits.cpu().numpy()
        begun = time.perf_counter()
        pointers, allowed, _ = self.index.next_tokens(self.rows)
        self.timings.constraint += time.perf_counter() - begun
        return Pool(
            self.written, self.first_rows, logits, normalizers, self.sums,
            pointers, allowed, self.barred,
        )  # fmt: skip

    def step(self, pool: Pool) -> bool:
        """Extend every hypothesis by a token; return whether any can go on."""
        begun = time.perf_counter()
        pointers, parents, tokens, sums = best_continuations(
            pool.logits, pool.normalizers, pool.sums, pool.pointers, pool.tokens,
            pool.first_rows, 2 * self.search.beams, pool.barred,
        )  # fmt: skip
        self.timings.constraint += time.perf_counter() - begun
        ended = tokens == self.search.last if self.search.last is not None else tokens < 0
        written = np.concatenate([self.written[parents], tokens[:, None]], axis=1)
        lives: list[npt.NDArray[np.int64]] = []
        for question, hypotheses in enumerate(self.hypotheses):
            mine = slice(pointers[question], pointers[question + 1])
            hypotheses.ngrams.extend(map(tuple, written[mine].tolist()))
            hypotheses.log_probabilities.extend(sums[mine].tolist())
            hypotheses.ended.extend(ended[mine].tolist())
            lives.append(pointers[question] + np.flatnonzero(~ended[mine])[: self.search.beams])
        self.first_rows = np.cumsum([0, *map(len, lives)])
        live = np.concatenate(lives)
        if not len(live) or written.shape[1] == self.search.longest:
            return False
        self.sums, self.written = sums[live], written[live]
        begun = time.perf_counter()
        self.rows = self.index.step(self.rows.take(parents[live]), tokens[live])
        self.timings.constraint += time.perf_counter() - begun
        self.logits = self.decoder.advance(parents[live], tokens[live])
        return True
