"""Beam search that goes back to the beginnings it dropped (docs/ngrams.md, "False pruning")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.generative.decode.beams import Beams, Pool, Search, Step, Timings
from argus.generative.decode.candidates import FloatSums
from argus.generative.decode.model import Decoder
from argus.generative.index import NgramIndex
from argus.generative.scoring import greatest
from argus.generative.settings import Scoring

SMOOTHING = Scoring.smoothing


@dataclass(frozen=True)
class Candidates:
    """All that may follow the rows of one question: row, token, sum and occurrences, (n,) each."""

    rows: IntArray
    tokens: IntArray
    sums: FloatSums
    counts: IntArray

    @classmethod
    def of(cls, pool: Pool, counts: IntArray, question: int) -> Candidates:
        """Return the candidates of a question, by row, then by token."""
        begin, end = pool.first_rows[question], pool.first_rows[question + 1]
        places = np.arange(pool.pointers[begin], pool.pointers[end])
        rows = np.repeat(np.arange(begin, end), np.diff(pool.pointers[begin : end + 1]))
        allowed = ~pool.barred[pool.tokens[places]]
        rows, places = rows[allowed], places[allowed]
        tokens = pool.tokens[places].astype(np.int64)
        sums = pool.sums[rows] - pool.normalizers[rows] + pool.logits[rows, tokens]
        return cls(rows, tokens, sums, counts[places])


@dataclass(frozen=True)
class Choice:
    """Output of a round: places among the candidates, best first, and which of them go on."""

    places: IntArray
    goes_on: npt.NDArray[np.bool_]


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

    def choices(self, candidates: Candidates) -> list[Choice]:
        """Return the n-grams of each round."""
        layers = self.layers[candidates.rows]
        free = np.ones(len(layers), np.bool_)
        share = (candidates.counts + SMOOTHING) / (self.index.n_tokens + SMOOTHING)
        odds = candidates.sums - np.log(share)
        choices = []
        for round_ in range(self.search.rounds + 1):
            mine = np.flatnonzero(free & (layers <= round_))
            ranked = (odds if round_ else candidates.sums)[mine]
            choice = self.choice(candidates, mine, ranked, self.search.beams)
            free[choice.places[choice.goes_on]] = False
            choices.append(choice)
        return choices

    def selection(self, pool: Pool) -> Step:
        """Return the n-grams of all rounds. One hypothesis may go on in several."""
        parts: list[tuple[IntArray, IntArray, FloatSums, npt.NDArray[np.bool_]]] = []
        layers: list[IntArray] = []
        pointers = [0]
        for question in range(len(self.hypotheses)):
            candidates = Candidates.of(pool, self.counts, question)
            choices = self.choices(candidates)
            for layer, choice in enumerate(choices):
                at = choice.places
                parts.append(
                    (candidates.rows[at], candidates.tokens[at], candidates.sums[at],
                     choice.goes_on)
                )  # fmt: skip
                layers.append(np.full(len(at), layer))
            pointers.append(pointers[-1] + sum(len(choice.places) for choice in choices))
        rows, tokens, sums, goes_on = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        self._after = np.concatenate(layers)[goes_on]
        return Step(np.array(pointers), rows, tokens, sums, goes_on)

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

    def choice(
        self, candidates: Candidates, eligible: IntArray, ranked: FloatArray | FloatSums, beams: int
    ) -> Choice:
        """Return the 2 x beams best of some candidates, of which the beams best not ended go on.

        ranked: (len(eligible),), the values that rank them. The first of equal ones is better.
        """
        best = greatest(ranked, 2 * beams)
        best = best[np.argsort(-ranked[best], kind="stable")]
        places = eligible[best]
        goes_on = np.zeros(len(places), np.bool_)
        goes_on[np.flatnonzero(~self.ended(candidates.tokens[places]))[:beams]] = True
        return Choice(places, goes_on)
