"""Search by generation: a language model writes n-grams for a question, and they rank passages.

`GenerativeSearcher.search`: questions -> `Answer`s. It writes the n-grams of each view (bodies,
titles, pseudo-queries) by beam search under the index (`decode`), adds the question's own n-grams,
scores them again and ranks (`evidence`). `search` runs it as a command, `failures.replay` repeats
it.
"""

from __future__ import annotations

import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from argus.data.types import FloatArray, Query
from argus.devices import is_out_of_memory
from argus.errors import ArgusError, InputError
from argus.generative.decode.beams import Hypotheses, Search, Timings, beam_search, own_search
from argus.generative.decode.model import Seq2Seq, Sources, Targets, score_all
from argus.generative.evidence import Key, aggregate
from argus.generative.index import NgramIndex
from argus.generative.results import Answer, Hit, HitKey
from argus.generative.settings import Decoding, Mode, Scoring
from argus.generative.vocabulary import Vocabulary
from argus.progress import announce, progress

BODY, TITLE, QUERY, QUESTION = "body", "title", "query", "question"


@dataclass(frozen=True)
class KeyView:
    """One view. name: also its marker for the model. search: None for the question's own words.

    rescored_by: the marker of the encoder input when keys are scored again, None for the plain
    question. before, after: tokens left out there, at the beginning and at the end.
    """

    name: str
    search: Search | None
    rescored_by: str | None
    before: frozenset[int]
    after: frozenset[int]

    def scored(self, key: tuple[int, ...]) -> tuple[int, ...]:
        """Return the tokens of a key that are scored."""
        begin, end = 0, len(key)
        while begin < end and key[begin] in self.before:
            begin += 1
        while end > begin and key[end - 1] in self.after:
            end -= 1
        return key[begin:end]


def key_views(
    mode: Mode,
    vocabulary: Vocabulary,
    decoding: Decoding,
    *,
    titles: bool,
    start: int,
    limit: int | None = None,
) -> list[KeyView]:
    """Return the views of SEAL or MINDER, in the order in which their keys are merged.

    titles: whether the index has titles. start: the decoder's start token. limit: tokens that the
    model writes at most, None for any number: views are searched no longer than that.
    """
    v = vocabulary
    room = sys.maxsize if limit is None else limit - 1  # one place is the pseudo-query's opening
    never = frozenset(t for t in (v.border, v.pad, v.unknown) if t is not None)
    frame = frozenset({v.border, v.title_end, start})
    closing = frozenset({v.title_end, v.query_start, v.border})
    nothing: frozenset[int] = frozenset()

    plain = Search(0, decoding.beams, barred=never)
    body = replace(plain, longest=min(decoding.body_tokens, room))
    own_words = KeyView(QUESTION, None, BODY, nothing, nothing)
    views = [KeyView(BODY, body, None, frame, closing), own_words]
    if titles:
        longest = min(decoding.title_tokens, room)
        title = replace(plain, longest=longest, prefix=(v.border,), last=v.title_end)
        views.append(KeyView(TITLE, title, TITLE, frame, frozenset({v.border})))
    if mode is Mode.MINDER:
        opening = (v.query_start,)
        longest = min(decoding.query_tokens, room)
        query = replace(plain, longest=longest, prefix=opening, opening=opening, last=v.title_end)
        framed = frame | {v.query_start}
        views.append(KeyView(QUERY, query, QUERY, framed, frozenset({v.border})))
    return views


# Words in an n-gram of the question, at most (SEAL).
LONGEST = 3
_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")


def question_ngrams(question: str, longest: int = LONGEST) -> list[str]:
    """Return all n-grams of 1 to `longest` words, without repetition.

    Every word comes as it is and with its first letter in upper case, in all combinations: a
    question writes "reba mcentire", a passage "Reba McEntire". Short n-grams come first, then those
    that start first, then spellings that differ late and least from the question's.
    """
    question = " ".join(question.split())
    words = list(_WORD.finditer(question))
    spellings = [dict.fromkeys((w.group(), w.group()[0].upper() + w.group()[1:])) for w in words]
    gaps = [question[a.end() : b.start()] for a, b in pairwise(words)]
    ngrams: dict[str, None] = {}
    for n in range(1, longest + 1):
        for first in range(len(words) - n + 1):
            between = [*gaps[first : first + n - 1], ""]
            for spelling in product(*spellings[first : first + n]):
                parts = zip(spelling, between, strict=True)
                ngrams["".join(word + gap for word, gap in parts)] = None
    return list(ngrams)


def question_ngram_tokens(
    question: str, vocabulary: Vocabulary, longest: int = LONGEST
) -> list[tuple[int, ...]]:
    """Return the n-grams of a question as tokens of passages, without repetition.

    Whether a passage holds them is for the index to say.
    """
    ngrams = vocabulary.encode(question_ngrams(question, longest))
    return list(dict.fromkeys(tuple(tokens) for tokens in ngrams if tokens))


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

        A batch that does not fit into memory is halved, and so are all that follow.
        """
        left = list(queries)
        with progress("searching", len(left)) as on:
            while left:
                part = left[: self.batch]
                written = self._keys_or_less(part)
                if written is None:
                    continue  # the batch is smaller now
                for query, keys in zip(part, written, strict=True):
                    yield Answer(query.id, [] if keys is None else self._hits(keys, k))
                    on(1)
                left = left[len(part) :]

    def keys(self, questions: Sequence[str]) -> list[QuestionKeys]:
        """Return the keys that the model writes for questions with text, and their scores."""
        sources, places = self.encode(questions)
        keys: list[list[Key]] = [[] for _ in questions]
        unigrams: FloatArray = np.zeros((0, 0), np.float32)
        for view in self.views:
            if view.search is None:
                of_view = [self._own_words(question) for question in questions]
            else:
                mine = slice(places[view.name], places[view.name] + len(questions))
                source = Sources(sources.hidden[mine], sources.mask[mine])
                written, first = self._decode(source, view.search)
                unigrams = first if view.name == BODY else unigrams
                of_view = [self._keys_of(view, hypotheses) for hypotheses in written]
            of_view = self.rescored(view, of_view, sources, places[view.rescored_by])
            for own, scored in zip(keys, of_view, strict=True):
                own += scored
        return [QuestionKeys(own, first) for own, first in zip(keys, unigrams, strict=True)]

    def encode(self, questions: Sequence[str]) -> tuple[Sources, dict[str | None, int]]:
        """Return the encoder inputs of questions, and where those of each marker begin.

        All that the views are written and scored by. A marker's inputs are in the questions' order.
        """
        import torch

        markers = {v.name for v in self.views if v.search} | {v.rescored_by for v in self.views}
        ordered, vocabulary = sorted(markers, key=str), self.model.vocabulary
        inputs: list[list[int]] = []
        for marker in ordered:
            inputs += vocabulary.sources(questions, marker, limit=self.model.source_tokens)
        with self._timed("encoding"), torch.inference_mode():
            sources = self.model.encode(inputs)
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

    def _decode(self, source: Sources, search: Search) -> tuple[list[Hypotheses], FloatArray]:
        if self.decoding.own is not None:
            with self._timed("decoding"):
                return own_search(self.decoding.own, self.model, source, self.index, search)
        timings = Timings()
        decoded = beam_search(self.model, source, self.index, search, timings)
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
        """Return hypotheses as keys: titles and pseudo-queries whole."""
        assert view.search is not None
        whole_only = view.search.last is not None
        least = 1 if view.search.last is None else 2  # ` @@` alone is no title
        return [
            Key((*view.search.prefix, *ngram), min(0.0, log_probability), view.name)
            for ngram, log_probability, ended in zip(
                hypotheses.ngrams, hypotheses.log_probabilities, hypotheses.ended, strict=True
            )
            if len(ngram) >= least and (ended or not whole_only)
        ]

    def _hits(self, written: QuestionKeys, k: int) -> list[Hit]:
        with self._timed("ranking"):
            ranked = aggregate(self.index, written.keys, written.unigrams, self.scoring, k)
        with self._timed("reading"):
            ngrams = list(dict.fromkeys(m.tokens for matched in ranked.matched for m in matched))
            texts = dict(zip(ngrams, self.model.vocabulary.decode_all(ngrams), strict=True))
            scores = zip(ranked.documents.tolist(), ranked.scores.tolist(), strict=True)
            return [
                Hit(
                    self.index.id_of(document),
                    score,
                    *self.index.title_and_text(document),
                    [HitKey(texts[m.tokens], m.count, m.weight, ranked.view_of(m)) for m in mine],
                )
                for (document, score), mine in zip(scores, ranked.matched, strict=True)
            ]

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.seconds[step] += time.perf_counter() - begun
