"""Beam search over the n-grams of an index, plain or with backtracking."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.errors import ArgusError
from argus.generative.decode.model import Decoder, Seq2Seq, Sources
from argus.generative.index import NgramIndex
from argus.generative.passage_scores import greatest
from argus.generative.settings import Scoring
from argus.python_file import call_own, load_own

FloatSums = npt.NDArray[np.float64]
Continuations = tuple[IntArray, IntArray, IntArray, FloatSums]
"""Per question (pointers), best first: row of the beam, token, sum of log-probabilities."""


@numba.njit(nogil=True, cache=True)
def best_continuations(
    logits: FloatArray,
    normalizers: FloatSums,
    sums: FloatSums,
    pointers: IntArray,
    tokens: npt.NDArray[np.int32],
    first_rows: IntArray,
    most: int,
    barred: npt.NDArray[np.bool_],
) -> Continuations:
    """Return the `most` best continuations of each question's beams.

    logits: (rows, V). normalizers: (rows,), log Σ exp of each row: probabilities are those of the
    whole vocabulary, not of allowed tokens alone. sums: (rows,), so far. pointers, tokens:
    continuations of each row. first_rows: (questions + 1,). barred: (V,), never chosen. Equal
    sums go by row, then by token.
    """
    questions = len(first_rows) - 1
    out = np.zeros(questions + 1, np.int64)
    rows, best = np.empty(questions * most, np.int64), np.empty(questions * most, np.int64)
    scores = np.empty(questions * most, np.float64)
    heap_score, heap_key = np.empty(most, np.float64), np.empty(most, np.int64)
    size_v = logits.shape[1]
    used = 0
    for question in range(questions):
        size = 0
        for row in range(first_rows[question], first_rows[question + 1]):
            base = sums[row] - normalizers[row]
            for at in range(pointers[row], pointers[row + 1]):
                token = tokens[at]
                score = base + logits[row, token]
                if barred[token] or (size == most and score <= heap_score[0]):
                    continue
                if size < most:
                    size += 1
                    _rise(heap_score, heap_key, size - 1, score, row * size_v + token)
                else:
                    _sink(heap_score, heap_key, size, score, row * size_v + token)
        for end in range(size, 0, -1):  # the worst comes off first
            rows[used + end - 1] = heap_key[0] // size_v
            best[used + end - 1] = heap_key[0] % size_v
            scores[used + end - 1] = heap_score[0]
            _sink(heap_score, heap_key, end - 1, heap_score[end - 1], heap_key[end - 1])
        used += size
        out[question + 1] = used
    return out, rows[:used], best[:used], scores[:used]


@numba.njit(nogil=True, cache=True, inline="always")
def _worse(score_a: float, key_a: int, score_b: float, key_b: int) -> bool:
    return score_a < score_b or (score_a == score_b and key_a > key_b)


@numba.njit(nogil=True, cache=True)
def _rise(scores: FloatSums, keys: IntArray, at: int, score: float, key: int) -> None:
    """Put an entry at the end of the heap and let it rise. The worst entry is the root."""
    while at > 0:
        parent = (at - 1) >> 1
        if not _worse(score, key, scores[parent], keys[parent]):
            break
        scores[at], keys[at] = scores[parent], keys[parent]
        at = parent
    scores[at], keys[at] = score, key


@numba.njit(nogil=True, cache=True)
def _sink(scores: FloatSums, keys: IntArray, size: int, score: float, key: int) -> None:
    """Replace the root of a heap of `size` entries and let the new one sink."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _worse(
            scores[child + 1], keys[child + 1], scores[child], keys[child]
        ):
            child += 1
        if not _worse(scores[child], keys[child], score, key):
            break
        scores[at], keys[at] = scores[child], keys[child]
        at = child
    if size:
        scores[at], keys[at] = score, key


@numba.njit(nogil=True, cache=True)
def mask_rows(scores: npt.NDArray[Any], pointers: IntArray, tokens: npt.NDArray[np.int32]) -> None:
    """Set all scores to -inf, in place, but those of the tokens that may follow each row."""
    allowed = np.empty(scores.shape[1], scores.dtype)
    for row in range(scores.shape[0]):
        begin, end = pointers[row], pointers[row + 1]
        for at in range(begin, end):
            allowed[at - begin] = scores[row, tokens[at]]
        scores[row, :] = -np.inf
        for at in range(begin, end):
            scores[row, tokens[at]] = allowed[at - begin]


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
        pointers, allowed, self.counts = self.index.next_tokens(self.rows)
        self.timings.constraint += time.perf_counter() - begun
        return Pool(
            self.written, self.first_rows, logits, normalizers, self.sums,
            pointers, allowed, self.barred,
        )  # fmt: skip

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


SMOOTHING = Scoring.smoothing


class BacktrackingBeams(Beams):
    """Plain beams, and rounds that go back to the beginnings that were dropped.

    Round 0 is the plain search. Each further round has its own beams. At every step it chooses
    from the continuations of its own hypotheses and of those of earlier rounds, except those that
    went on there. So beginnings that were dropped come in again. It ranks them by the weight of
    eq. 2, log P(n|q) - log P(n), not by P(n|q), which dropped them. A round needs only the steps
    of earlier rounds up to the same one. So all are decoded side by side, as layers of
    hypotheses. layers: (rows,). An n-gram that several rounds write is kept once.
    """

    def __init__(
        self, decoder: Decoder, index: NgramIndex, search: Search, timings: Timings
    ) -> None:
        super().__init__(decoder, index, search, timings)
        self.layers = np.zeros(len(self.hypotheses), np.int64)
        self._after = self.layers
        self._known: list[set[tuple[int, ...]]] = [set() for _ in self.hypotheses]

    def selection(self, pool: Pool) -> Step:
        """Return the n-grams of all rounds. One hypothesis may go on in several.

        A round writes the 2 x beams best, the first of equal ones before others.
        """
        parts: list[tuple[IntArray, IntArray, FloatSums, npt.NDArray[np.bool_], IntArray]] = []
        pointers = [0]
        for begin, end in pairwise(pool.first_rows.tolist()):
            places = np.arange(pool.pointers[begin], pool.pointers[end])  # by row, then by token
            rows = np.repeat(np.arange(begin, end), np.diff(pool.pointers[begin : end + 1]))
            allowed = ~pool.barred[pool.tokens[places]]
            rows, places = rows[allowed], places[allowed]
            tokens = pool.tokens[places].astype(np.int64)
            sums = pool.sums[rows] - pool.normalizers[rows] + pool.logits[rows, tokens]
            share = (self.counts[places] + SMOOTHING) / (self.index.n_tokens + SMOOTHING)
            odds, free = sums - np.log(share), np.ones(len(rows), np.bool_)
            pointers.append(pointers[-1])
            for round_ in range(self.search.rounds + 1):
                eligible = np.flatnonzero(free & (self.layers[rows] <= round_))
                ranked = (odds if round_ else sums)[eligible]
                best = greatest(ranked, 2 * self.search.beams)
                at = eligible[best[np.argsort(-ranked[best], kind="stable")]]
                goes_on = np.zeros(len(at), np.bool_)
                goes_on[np.flatnonzero(~self.ended(tokens[at]))[: self.search.beams]] = True
                free[at[goes_on]] = False
                layer = np.full(len(at), round_)
                parts.append((rows[at], tokens[at], sums[at], goes_on, layer))
                pointers[-1] += len(at)
        rows, tokens, sums, on, layers = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        self._after = layers[on]
        return Step(np.array(pointers), rows, tokens, sums, on)

    def extend(self, parents: IntArray, tokens: IntArray) -> None:
        """Go on with rows in the index, each in its round."""
        super().extend(parents, tokens)
        self.layers = self._after

    def record(self, step: Step, written: IntArray) -> None:
        """Keep each n-gram once, whatever rounds write it."""
        ended = self.ended(step.tokens).tolist()
        sums = step.sums.tolist()
        for question, (hypotheses, known) in enumerate(
            zip(self.hypotheses, self._known, strict=True)
        ):
            begin, end = step.pointers[question], step.pointers[question + 1]
            for at, ngram in enumerate(map(tuple, written[begin:end].tolist()), start=begin):
                if ngram not in known:
                    known.add(ngram)
                    hypotheses.ngrams.append(ngram)
                    hypotheses.log_probabilities.append(sums[at])
                    hypotheses.ended.append(ended[at])


def beam_search(
    model: Seq2Seq,
    sources: Sources,
    index: NgramIndex,
    search: Search,
    timings: Timings | None = None,
    observer: Observer | None = None,
) -> tuple[list[Hypotheses], FloatArray]:
    """Return the n-grams of each source, and the log-probabilities of its first token.

    (n, V), for the tokens of the index. A model may have more, of which none exists. observer:
    changes nothing but when to stop. The n-grams found until then are returned.
    """
    import torch

    with torch.inference_mode():
        begun = time.perf_counter()
        kind = BacktrackingBeams if search.rounds else Beams
        beams = kind(model.begin(sources), index, search, timings or Timings())
        for _ in range(search.longest):
            pool = beams.pool()
            if observer is not None and not observer(pool):
                break
            if not beams.step(pool):
                break
        if timings is not None:
            timings.total += time.perf_counter() - begun
        return beams.hypotheses, beams.first


EXPECTED = (
    "a function of (model, sources, index, search) that returns n-grams of each source, as pairs "
    "of tokens and a log-probability"
)


def own_search(
    spec: str, model: Seq2Seq, sources: Sources, index: NgramIndex, search: Search
) -> tuple[list[Hypotheses], FloatArray]:
    """Return what a user's decoding writes, as `beam_search` does. spec: `FILE.py:NAME`.

    Raises InputError for a file without such a function, ArgusError where it fails or writes what
    the corpus does not have.
    """
    import torch

    _, decode = load_own(spec, callable, EXPECTED)
    with torch.inference_mode():
        first = model.begin(sources).first().log_softmax(1)[:, : index.vocabulary_size]
        found = call_own(spec, decode, model, sources, index, search)
    try:
        written = [
            [(tuple(map(int, tokens)), float(log_p)) for tokens, log_p in one] for one in found
        ]
    except (TypeError, ValueError) as error:
        raise ArgusError(f"{spec} returned something else; expected {EXPECTED}.") from error
    if len(written) != len(sources.hidden):
        raise ArgusError(f"{spec} gave {len(written)} lists for {len(sources.hidden)} sources.")
    hypotheses = []
    for one in written:
        ngrams = [tokens for tokens, _ in one]
        counts = index.counts([(*search.prefix, *tokens) for tokens in ngrams])
        if ngrams and not (counts.all() and all(ngrams)):
            absent = next(t for t, n in zip(ngrams, counts, strict=True) if not (n and t))
            raise ArgusError(f"{spec} wrote {absent}, which the corpus does not have.")
        ended = [search.last is not None and tokens[-1] == search.last for tokens in ngrams]
        hypotheses.append(Hypotheses(ngrams, [log_p for _, log_p in one], ended))
    return hypotheses, np.asarray(first.cpu().numpy(), np.float32)
