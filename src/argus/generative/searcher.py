"""SEAL and MINDER from end to end: answer a question with passages and their n-grams."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from argus.data.types import FloatArray, Query, Run
from argus.devices import is_out_of_memory
from argus.errors import ArgusError, InputError
from argus.generative.answer import Answer, Hit, HitKey
from argus.generative.decode.beam import beam_search
from argus.generative.decode.beams import Hypotheses, Timings
from argus.generative.decode.model import Seq2Seq, Sources
from argus.generative.decode.rescore import Targets, score_all
from argus.generative.decode.settings import Decoding
from argus.generative.evidence import Ranked, aggregate
from argus.generative.index import NgramIndex
from argus.generative.keys import Key
from argus.generative.question_ngrams import question_ngram_tokens
from argus.generative.settings import Mode, Scoring
from argus.generative.views import BODY, QUESTION, TITLE, KeyView, key_views
from argus.progress import announce, progress


@dataclass
class QuestionKeys:
    """The keys for one question, and log P of every token at the first place. (V,)."""

    keys: list[Key]
    unigrams: FloatArray


class GenerativeSearcher:
    """Ranks the passages of an index by the n-grams that a model writes for a question.

    mode: SEAL writes body n-grams and titles, MINDER pseudo-queries, too. seconds: where time
    went, by step. "constraint" is part of "decoding". Raises InputError if the mode needs a view
    that the index does not have.
    """

    def __init__(
        self,
        index: NgramIndex,
        model: Seq2Seq,
        mode: Mode = Mode.SEAL,
        decoding: Decoding | None = None,
        scoring: Scoring | None = None,
    ) -> None:
        self.index, self.model = index, model
        self.decoding, self.scoring = decoding or Decoding(), scoring or Scoring()
        self.batch = self.decoding.batch
        self.seconds: defaultdict[str, float] = defaultdict(float)
        v = model.vocabulary
        if mode is Mode.MINDER and not index.count([v.query_start]):
            raise InputError(
                "the index holds no pseudo-queries",
                expected="pseudo-queries in the index, MINDER's third view",
                fix="Use --mode seal, or build the index with --pseudo-queries FILE.",
                where="--mode minder",
            )
        if mode is Mode.SEAL:  # the bonus is MINDER's; SEAL may find a pseudo-query in a body
            self.scoring = replace(self.scoring, query_bonus=0.0)
        self.views = key_views(
            mode, v, self.decoding,
            titles=index.titles, start=model.start, limit=model.target_tokens,
        )  # fmt: skip

    def search(self, queries: Sequence[Query], k: int) -> Iterator[Answer]:
        """Yield the answer to each query, in order. One without text finds nothing.

        A batch that does not fit into memory is halved, and so are all that follow. Raises
        InputError for k below 1 and for an id that is given twice.
        """
        _check(queries, k)
        left = list(queries)
        with progress("searching", len(left)) as on:
            while left:
                part = left[: self.batch]
                written = self._keys_or_less(part)
                if written is None:
                    continue  # the batch is smaller now
                for query, keys in zip(part, written, strict=True):
                    yield self._answer(query, keys, k)
                    on(1)
                left = left[len(part) :]

    def run(self, queries: Sequence[Query], k: int) -> Run:
        """Return the scores of the k best documents of each query."""
        return {answer.query_id: answer.scores() for answer in self.search(queries, k)}

    def keys(self, questions: Sequence[str]) -> list[QuestionKeys]:
        """Return the keys that the model writes for questions with text, and their scores."""
        sources, places = self.encode(questions)
        keys: list[list[list[Key]]] = [[] for _ in questions]
        unigrams: FloatArray = np.zeros((0, 0), np.float32)
        for view in self.views:
            if view.search is None:
                of_view = [self._own_words(question) for question in questions]
            else:
                written, first = self._decode(view, _part(sources, places, view.name, questions))
                unigrams = first if view.name == BODY else unigrams
                of_view = [self._keys_of(view, hypotheses) for hypotheses in written]
            if self.decoding.rescore or view.search is None:
                of_view = self.rescored(view, of_view, sources, places[view.rescored_by])
            for mine, scored in zip(keys, of_view, strict=True):
                mine.append(scored)
        return [QuestionKeys(list(chain(*mine)), u) for mine, u in zip(keys, unigrams, strict=True)]

    def encode(self, questions: Sequence[str]) -> tuple[Sources, dict[str | None, int]]:
        """Return the encoder inputs of questions, and where those of each marker begin.

        All that the views are written and scored by. A marker's inputs are in the questions' order.
        """
        import torch

        markers = {v.name for v in self.views if v.search} | {v.rescored_by for v in self.views}
        ordered = sorted(markers, key=str)
        limit = self.model.source_tokens
        with self._timed("encoding"), torch.inference_mode():
            sources = self.model.encode(
                [
                    source
                    for marker in ordered
                    for source in self.model.vocabulary.sources(questions, marker, limit=limit)
                ]
            )
        return sources, {marker: i * len(questions) for i, marker in enumerate(ordered)}

    def rescored(
        self, view: KeyView, keys: Sequence[Sequence[Key]], sources: Sources, first_source: int
    ) -> list[list[Key]]:
        """Return keys of a view with teacher-forced scores, for each question.

        first_source: the first question's place in `sources` (see `encode`). A key that is framing
        alone is left out, and one that is longer than the model can write.
        """
        longest = self.model.target_tokens or sys.maxsize
        parts = [[view.scored(key.tokens) for key in mine] for mine in keys]
        targets = [
            Targets(first_source + i, frozenset(p for p in mine if 0 < len(p) <= longest))
            for i, mine in enumerate(parts)
        ]
        with self._timed("rescoring"):
            scores = score_all(self.model, sources, targets)
        return [
            [
                Key(key.tokens, min(0.0, logs[part]), key.view)
                for key, part in zip(mine, bare, strict=True)
                if part in logs
            ]
            for mine, bare, logs in zip(keys, parts, scores, strict=True)
        ]

    def _keys_or_less(self, queries: Sequence[Query]) -> list[QuestionKeys | None] | None:
        """Return the evidence for each query, None for one without text.

        None for all where memory did not suffice. The batch is then half as large.
        """
        texts = [q.text for q in queries if q.text.strip()]
        try:
            keys = iter(self.keys(texts) if texts else [])
            return [next(keys) if q.text.strip() else None for q in queries]
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if len(queries) == 1:
                raise ArgusError(
                    f"not enough memory for one question with {self.decoding.beams} beams. Use "
                    "fewer --beams, a smaller model, or a machine with more memory."
                ) from error
        self.batch = max(1, len(queries) // 2)
        announce(f"out of memory: {self.batch} questions at once instead of {len(queries)}")
        return None

    def _decode(self, view: KeyView, sources: Sources) -> tuple[list[Hypotheses], FloatArray]:
        assert view.search is not None
        timings = Timings()
        decoded = beam_search(self.model, sources, self.index, view.search, timings)
        self.seconds["decoding"] += timings.total
        self.seconds["constraint"] += timings.constraint
        return decoded

    def _own_words(self, question: str) -> list[Key]:
        """Return the n-grams of the question that the index has, unscored."""
        ngrams = question_ngram_tokens(question, self.model.vocabulary)
        counts = self.index.counts(ngrams)
        unknown = self.model.vocabulary.unknown
        return [
            Key(ngram, 0.0, QUESTION)
            for ngram, count in zip(ngrams, counts, strict=True)
            if count and unknown not in ngram
        ]

    def _keys_of(self, view: KeyView, hypotheses: Hypotheses) -> list[Key]:
        """Return hypotheses as keys: titles and pseudo-queries whole, unless partial are wanted."""
        assert view.search is not None
        whole_only = view.search.last is not None and not (
            view.name == TITLE and self.decoding.partial_titles
        )
        least = 1 if view.search.last is None else 2  # ` @@` alone is no title
        return [
            Key((*view.search.prefix, *ngram), min(0.0, log_probability), view.name)
            for ngram, log_probability, ended in zip(
                hypotheses.ngrams, hypotheses.log_probabilities, hypotheses.ended, strict=True
            )
            if len(ngram) >= least and (ended or not whole_only)
        ]

    def _answer(self, query: Query, written: QuestionKeys | None, k: int) -> Answer:
        if written is None:
            return Answer(query.id)
        with self._timed("ranking"):
            ranked = aggregate(self.index, written.keys, written.unigrams, self.scoring, k)
        with self._timed("reading"):
            return Answer(query.id, self._hits(ranked))

    def _hits(self, ranked: Ranked) -> list[Hit]:
        ngrams = list(dict.fromkeys(m.tokens for matched in ranked.matched for m in matched))
        texts = dict(zip(ngrams, self.model.vocabulary.decode_all(ngrams), strict=True))
        return [
            Hit(
                self.index.id_of(document),
                score,
                *self.index.title_and_text(document),
                [HitKey(texts[m.tokens], m.count, m.weight, ranked.view_of(m)) for m in matched],
            )
            for document, score, matched in zip(
                ranked.documents.tolist(), ranked.scores.tolist(), ranked.matched, strict=True
            )
        ]

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.seconds[step] += time.perf_counter() - begun


def _part(
    sources: Sources, places: dict[str | None, int], marker: str, questions: Sequence[str]
) -> Sources:
    mine = slice(places[marker], places[marker] + len(questions))
    return Sources(sources.hidden[mine], sources.mask[mine])


def _check(queries: Sequence[Query], k: int) -> None:
    if k < 1:
        raise InputError(
            f"k = {k}", expected="at least 1", fix="Ask for one document or more.", where="--k"
        )
    twice = next((id_ for id_, n in Counter(q.id for q in queries).items() if n > 1), None)
    if twice is not None:
        raise InputError(
            f"two queries have the id {twice!r}",
            expected="one query per id",
            fix="Rename one of the two.",
            where="queries",
        )
