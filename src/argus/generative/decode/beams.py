"""Write n-grams for questions by beam search, where only n-grams of the index are allowed.

`beam_search`: a model, encoded questions and an index -> `Hypotheses` with log-probabilities.
`own_search` calls a user's function instead. `searcher` uses them. `model` computes the logits.
`CorpusConstraint` is the same constraint for `generate()` of transformers: a logits processor, in
which tokens that the index does not have next get -inf.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.errors import ArgusError
from argus.generative.decode.model import Seq2Seq, Sources
from argus.generative.index import NgramIndex, Rows
from argus.python_file import call_own, load_own

if TYPE_CHECKING:
    import torch

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


def beam_search(
    model: Seq2Seq,
    sources: Sources,
    index: NgramIndex,
    search: Search,
    timings: Timings | None = None,
) -> tuple[list[Hypotheses], FloatArray]:
    """Return the n-grams of each source, and the log-probabilities of its first token.

    (n, V), for the tokens of the index. A model may have more, of which none exists. Each step
    writes the 2 x beams best continuations that the index has. The best that do not end go on.
    """
    import torch

    timings, n = timings or Timings(), len(sources.hidden)
    found = [Hypotheses() for _ in range(n)]
    barred = np.zeros(index.vocabulary_size, np.bool_)
    barred[list(search.barred)] = True
    rows = index.rows(search.prefix, n)
    first_rows, sums = np.arange(n + 1), np.zeros(n)  # of the live hypotheses, by question
    written = np.zeros((n, 0), np.int64)  # (rows, tokens so far)
    with torch.inference_mode():
        begun = time.perf_counter()
        decoder = model.begin(sources)
        logits = decoder.first()
        logs = logits - logits.logsumexp(1, keepdim=True)
        first = logs[:, : index.vocabulary_size].cpu().numpy()
        for token in search.opening:
            logits = decoder.advance(np.arange(n), np.full(n, token))
        for length in range(1, search.longest + 1):
            normalizers, values = logits.logsumexp(1).double().cpu().numpy(), logits.cpu().numpy()
            start = time.perf_counter()
            pointers, allowed, _ = index.next_tokens(rows)
            bounds, parents, tokens, totals = best_continuations(
                values, normalizers, sums, pointers, allowed, first_rows, 2 * search.beams, barred
            )
            timings.constraint += time.perf_counter() - start
            written = np.concatenate([written[parents], tokens[:, None]], axis=1)
            ended = tokens == (-1 if search.last is None else search.last)
            going: list[IntArray] = []
            for hypotheses, (begin, end) in zip(found, pairwise(bounds.tolist()), strict=True):
                hypotheses.ngrams.extend(map(tuple, written[begin:end].tolist()))
                hypotheses.log_probabilities.extend(totals[begin:end].tolist())
                hypotheses.ended.extend(ended[begin:end].tolist())
                going.append(begin + np.flatnonzero(~ended[begin:end])[: search.beams])
            live = np.concatenate(going)
            if not len(live) or length == search.longest:
                break
            first_rows = np.cumsum([0, *map(len, going)])
            sums, written = totals[live], written[live]
            start = time.perf_counter()
            rows = index.step(rows.take(parents[live]), tokens[live])
            timings.constraint += time.perf_counter() - start
            logits = decoder.advance(parents[live], tokens[live])
        timings.total += time.perf_counter() - begun
    return found, first


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


class CorpusConstraint:
    """Allow only tokens that the index has after a hypothesis. Give it to `generate` in a list.

    A hypothesis is `prefix` and all tokens after the decoder's start token. One that ended
    in `last` or the border can only be padded, as can one without continuation. Exact: a token that
    exists after the hypothesis keeps its score. Scores on the CPU are masked in place, as
    transformers 5 hands them over in a fresh tensor. Never combine it with a minimum length: at the
    end of a passage only the border is left.
    """

    def __init__(
        self, index: NgramIndex, pad: int, *, prefix: Sequence[int] = (), last: int | None = None
    ) -> None:
        self.index, self.pad = index, pad
        self.prefix, self.last = tuple(prefix), last

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores, (rows, V), with -inf for tokens that cannot follow `input_ids`.

        Raises ValueError for scores of fewer tokens than the index has.
        """
        import torch

        if scores.shape[1] < self.index.vocabulary_size:
            raise ValueError(
                f"scores of {scores.shape[1]} tokens; the index has {self.index.vocabulary_size}"
            )
        written = input_ids[:, 1:].cpu().numpy()
        ended = np.zeros(len(written), np.bool_)
        if written.shape[1]:
            stops = [self.index.border, self.pad, *([] if self.last is None else [self.last])]
            ended = np.isin(written[:, -1], stops)
        prefixes = np.tile(np.array(self.prefix, np.int64), (len(written), 1))
        ngrams = np.concatenate([prefixes, written], axis=1)
        whole = self.index.find(ngrams)
        rows = Rows(whole.depth, np.where(ended, 0, whole.low), np.where(ended, 0, whole.high))
        pointers, tokens, _ = self.index.next_tokens(rows)
        lengths = np.diff(pointers)
        if not lengths.all():  # only padding may follow
            tokens = np.insert(tokens, pointers[:-1][lengths == 0], self.pad).astype(np.int32)
            pointers = np.concatenate([[0], np.cumsum(np.maximum(lengths, 1))])
        if scores.device.type == "cpu" and scores.dtype == torch.float32:
            mask_rows(scores.detach().numpy(), pointers, tokens)
            return scores
        masked = torch.full_like(scores, -torch.inf)
        owners = torch.from_numpy(np.repeat(np.arange(len(written)), np.diff(pointers)))
        places = owners.to(scores.device), torch.from_numpy(tokens).long().to(scores.device)
        masked[places] = scores[places]
        return masked
