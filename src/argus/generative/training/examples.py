"""Examples to learn from: a source, and a span, title or pseudo-query of its passage.

* supervised: a question (or a title) asks for spans, title and pseudo-queries of the passage that
  answers it. A span is drawn by its similarity to the question (`similarity`).
* unsupervised: a span of a passage, or one of its pseudo-queries, asks for the same.

Spans are learnt without an end: a model writes ten tokens of them and is stopped. Titles and
pseudo-queries end with ` @@`, by which the model ends them itself. (MINDER learns pseudo-queries
without it; its searcher asks for it anyway, and mends their scores by a bonus.) The searcher
makes the model begin pseudo-queries with ` ||` and scores them without, so half of them are learnt
after a ` ||` that is given. See docs/generative-training.md, "Training targets".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import Document, Qrels, Query
from argus.generative.training.settings import ExampleConfig
from argus.generative.training.similarity import start_probabilities
from argus.generative.training.slots import (
    SUPERVISED,
    Material,
    Question,
    Slots,
    Source,
    View,
    plan,
    title_key,
)
from argus.generative.training.task import Pair
from argus.generative.vocabulary import GOLD, UNSUPERVISED, Vocabulary

_VALIDATION = 2**31
"""An epoch that no training reaches."""


@dataclass(frozen=True)
class TrainingSet:
    """Examples by use. counts: of examples by source and view, and of texts left out."""

    train: Drawn
    validation: list[Pair]
    counts: dict[str, int]

    @property
    def views(self) -> list[str]:
        """The views that are learnt."""
        return [v.name.lower() for v in View if (self.train.slots[:, 1] == v).any()]


class Drawn:
    """Examples with texts drawn on access, in every epoch anew.

    Number, epoch and seed alone decide the draw. Nothing but the slots, 16 bytes each, is
    kept. kind: the sign of unsupervised sources (see `Vocabulary.sources`).
    """

    def __init__(
        self,
        slots: Slots,
        material: Material,
        vocabulary: Vocabulary,
        config: ExampleConfig,
        kind: str,
    ) -> None:
        self.slots, self.material = slots, material
        self.vocabulary, self.config, self.kind = vocabulary, config, kind

    def __len__(self) -> int:
        return len(self.slots)

    def batch(self, epoch: int, numbers: Sequence[int]) -> list[Pair]:
        """Return the examples of those numbers in an epoch."""
        drafts = [self._draft(epoch, number) for number in numbers]
        encoded = self.vocabulary.encode([d.target for d in drafts])
        return [self._pair(d, ids) for d, ids in zip(drafts, encoded, strict=True)]

    def _pair(self, draft: _Draft, ids: list[int]) -> Pair:
        config, vocabulary = self.config, self.vocabulary
        marker = None if draft.plain else draft.view.name.lower()
        source = vocabulary.sources(
            [draft.source], marker, limit=config.source_tokens, kind=draft.kind
        )[0]
        end = [] if draft.view == View.BODY else [vocabulary.title_end]
        target = (ids + end)[: config.target_tokens]
        forced = (vocabulary.query_start,) if draft.forced else ()
        return Pair(tuple(source), tuple(target), draft.view.name.lower(), forced)

    def _draft(self, epoch: int, number: int) -> _Draft:
        origin, view, document, question = (int(value) for value in self.slots[number])
        rng = np.random.default_rng([self.config.seed, epoch, number])
        source = self._source(Source(origin), document, question, rng)
        if view == View.TITLE:
            target = self.material.documents[document].title
        elif view == View.QUERY:
            target = _one(self.material.pseudo[document], rng)
        else:
            target = self._span(document, source, origin in SUPERVISED, rng)
        return _Draft(
            source=source,
            target=target,
            view=View(view),
            plain=view == View.BODY and rng.random() < self.config.plain_share,
            forced=view == View.QUERY and rng.random() < 0.5,
            kind=GOLD if origin in SUPERVISED else self.kind,
        )

    def _source(
        self, origin: Source, document: int, question: int, rng: np.random.Generator
    ) -> str:
        if origin == Source.QUESTION:
            return self.material.questions[question].text
        if origin == Source.TITLE:
            return self.material.documents[document].title
        if origin == Source.PSEUDO:
            return _one(self.material.pseudo[document], rng)
        words = self.material.documents[document].text.split()
        n = int(rng.integers(self.config.least_words, self.config.most_words + 1))
        start = int(rng.integers(max(1, len(words) - n + 1)))
        return " ".join(words[start : start + n])

    def _span(self, document: int, source: str, similar: bool, rng: np.random.Generator) -> str:
        words, n = self.material.documents[document].text.split(), self.config.span_words
        if similar or rng.random() < self.config.copied:
            probabilities = start_probabilities(words, source, n)
            start = int(rng.choice(len(probabilities), p=probabilities))
        else:
            start = int(rng.integers(max(1, len(words) - n + 1)))
        return " ".join(words[start : start + n])


@dataclass(frozen=True, slots=True)
class _Draft:
    source: str
    target: str
    view: View
    plain: bool
    forced: bool
    kind: str


def build_examples(
    documents: Sequence[Document],
    vocabulary: Vocabulary,
    config: ExampleConfig,
    *,
    queries: Sequence[Query] = (),
    qrels: Qrels | None = None,
    pseudo_queries: Mapping[str, Sequence[str]] | None = None,
    held_out: Collection[str] = (),
) -> TrainingSet:
    """Return the examples of a corpus.

    qrels: a document graded above 0 answers a query. pseudo_queries: by document id. held_out: ids
    of documents whose title is neither source nor target, nor are questions and pseudo-queries that
    say the same. Titles that other documents share are left out with them. Unsupervised sources are
    marked as such where there are questions. Where there are none, they carry the sign of judged
    ones, or the model would not know the sign that searches use.
    """
    number = {d.id: i for i, d in enumerate(documents)}
    hidden = {title_key(d.title) for d in documents if d.id in set(held_out)} - {""}
    counts: dict[str, int] = {}
    questions = _questions(queries, qrels or {}, number, counts)
    pseudo = _pseudo(pseudo_queries or {}, number, hidden)
    material = Material(documents, questions, pseudo)
    train, validation = plan(material, hidden, config)
    kind = UNSUPERVISED if questions else GOLD
    drawn = Drawn(train, material, vocabulary, config, kind)
    checked = Drawn(validation, material, vocabulary, config, kind)
    pairs = checked.batch(_VALIDATION, range(len(checked)))
    for origin in Source:
        for view in View:
            name = f"{origin.name.lower()}_to_{view.name.lower()}"
            counts[name] = int(((train[:, 0] == origin) & (train[:, 1] == view)).sum())
    counts |= {"train": len(train), "validation": len(validation), "held_out": len(set(held_out))}
    return TrainingSet(drawn, pairs, counts)


def fingerprint(examples: TrainingSet) -> str:
    """Return a hash of all that examples are drawn from."""
    material, settings = examples.train.material, asdict(examples.train.config)
    parts = [f"{name}={value}" for name, value in sorted(settings.items())]
    parts += [examples.train.vocabulary.fingerprint, examples.train.kind]
    parts += [text for d in material.documents for text in (d.id, d.title, d.text)]
    parts += [text for q in material.questions for text in (q.id, q.text, str(q.gold))]
    parts += [f"{n} {list(queries)}" for n, queries in sorted(material.pseudo.items())]
    parts.append(str(examples.validation))
    return content_hash(*parts, examples.train.slots.tobytes()).hex()


def _questions(
    queries: Sequence[Query], qrels: Qrels, number: Mapping[str, int], counts: dict[str, int]
) -> list[Question]:
    answerable = []
    unknown = 0
    for query in queries:
        judged = [doc for doc, grade in sorted(qrels.get(query.id, {}).items()) if grade > 0]
        gold = tuple(number[doc] for doc in judged if doc in number)
        unknown += len(judged) - len(gold)
        if gold and query.text.strip():
            answerable.append(Question(query.id, query.text, gold))
    counts |= {
        "questions": len(answerable),
        "questions_without_gold": len(queries) - len(answerable),
    }
    counts["gold_unknown"] = unknown
    return answerable


def _pseudo(
    pseudo_queries: Mapping[str, Sequence[str]], number: Mapping[str, int], hidden: Collection[str]
) -> dict[int, list[str]]:
    by_number = {}
    for id_, texts in pseudo_queries.items():
        usable = [text for text in texts if text.strip() and title_key(text) not in hidden]
        if id_ in number and usable:
            by_number[number[id_]] = usable
    return by_number


def _one(texts: Sequence[str], rng: np.random.Generator) -> str:
    return texts[int(rng.integers(len(texts)))]
