"""Make training examples from a corpus: a question or title in, an n-gram of its passage out.

`build_examples`: documents, questions with right passages, pseudo-queries -> `TrainingSet`, whose
texts are drawn anew in every epoch. Spans are drawn where a passage is similar to its question
(SEAL). `seq2seq_task` makes tensors and the loss of them for `argus.training`. `job` learns from
them, and `tune` from some beside its rankings (`ranking`). `write_held_out` keeps titles for a
test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.documents import read_queries
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.runs import read_judgements
from argus.data.types import Document, Qrels, Query
from argus.data.writing import write_jsonl, write_whole
from argus.errors import InputError
from argus.generative.decode.model import padded
from argus.generative.passages import pseudo_queries_of
from argus.generative.settings import ExampleConfig
from argus.generative.vocabulary import GOLD, UNSUPERVISED, Vocabulary
from argus.indexes.lexical import STOP_WORDS, query_words, words
from argus.jobs.workspace import read_documents
from argus.training.loop import Task

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Pair:
    """One example: encoder input, decoder input after the start token, and target.

    view: "body", "title" or "query".
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    view: str
    forced: tuple[int, ...] = ()


def seq2seq_task(start: int, pad: int, *, label_smoothing: float, dtype: str) -> Task[Pair]:
    """Return how pairs are learnt: the mean of -log p(token | source, start, tokens before it).

    start: the decoder's first token. Padding and forced tokens are not learnt. Where the network is
    not in training mode, labels are not smoothed.
    """

    def summed_loss(network: Any, batch: Sequence[Pair], device: str) -> torch.Tensor:
        import torch

        sources, mask, inputs, labels = (t.to(device) for t in tensors(batch, start, pad))
        half = dtype == "bfloat16"
        with torch.autocast(device.partition(":")[0], torch.bfloat16, enabled=half):
            logits = network(
                input_ids=sources, attention_mask=mask, decoder_input_ids=inputs, use_cache=False
            ).logits
        learnt = labels >= 0
        return torch.nn.functional.cross_entropy(
            logits[learnt].float(), labels[learnt], reduction="sum",
            label_smoothing=label_smoothing if network.training else 0.0,
        )  # fmt: skip

    return Task(
        summed_loss=summed_loss,
        read=lambda p: len(p.source) + len(p.forced) + len(p.target),
        learnt=lambda p: len(p.target),
    )


def tensors(
    batch: Sequence[Pair], start: int, pad: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return encoder inputs and their mask (n, longest source), decoder inputs and labels (n, m).

    Labels are -1 where nothing is learnt.
    """
    import torch

    sources, mask = padded([p.source for p in batch], pad)
    width = max(len(p.forced) + len(p.target) for p in batch)
    inputs = torch.full((len(batch), width), pad)
    labels = torch.full_like(inputs, -1)
    for row, pair in enumerate(batch):
        written = (start, *pair.forced, *pair.target)
        inputs[row, : len(written) - 1] = torch.tensor(written[:-1])
        labels[row, len(pair.forced) : len(written) - 1] = torch.tensor(pair.target)
    return sources, mask, inputs, labels


Floats = npt.NDArray[np.float64]
# Words of a span that is learnt (SEAL).
SPAN_WORDS = 10
TARGET_TOKENS = 64
# Share of the sources of spans that have no markers, since spans are scored without.
PLAIN_SHARE = 0.5
# Share of unsupervised spans that are drawn by similarity to their source, which teaches to find
# the source's words again. The rest is drawn evenly, which teaches the passage.
COPIED = 0.5
LEAST_WORDS, MOST_WORDS = 4, 14
"""Words of a span of a passage that is a source."""
# Titles, and questions, that are validated with.
VALIDATION_MOST = 100
# Words in an n-gram of a span, letters in an n-gram of a word.
_N = 3


def likeness(passage: Sequence[str], question: str) -> Floats:
    """Return how much each word of a passage is like some word of the question: (n,), 0 to 1.

    Dice's coefficient of the words' letter 3-grams, a sign for the word's border counted on either
    side: 1 for equal words whatever their case, 0.57 for "directed" and "director". Stop words of
    the question do not count, unless there are no others.
    """
    terms = [_letters(word) for word in dict.fromkeys(query_words(question))]
    like = {}
    for word in set(passage):
        a = _letters("".join(words(word)))
        dice = (2 * len(a & b) / (len(a) + len(b)) for b in terms if a and b)
        like[word] = max(dice, default=0.0)
    return np.array([like[word] for word in passage], np.float64)


def start_probabilities(passage: Sequence[str], question: str, span: int) -> Floats:
    """Return the probabilities of a span's start: (n - span + 1,), one for a short passage.

    The softmax, over starts at words that are no stop words (over all, where there are no such), of
    the span's similarity: the sum over its 3-grams of words of their fuzzy similarity to the
    question, which is the mean likeness of their words (SEAL; its fuzzy similarity is
    a choice of ours). A passage of at most `span` words has one span, all of it.
    """
    starts = max(1, len(passage) - span + 1)
    if starts == 1:
        return np.ones(1)
    like = likeness(passage, question)
    n = min(_N, span)
    grams = np.convolve(like, np.ones(n) / n, "valid")  # (words - n + 1,)
    sums = np.convolve(grams, np.ones(span - n + 1), "valid")  # (starts,)
    stop = np.array([is_stop_word(word) for word in passage[:starts]])
    if not stop.all():
        sums[stop] = -np.inf
    weights = np.exp(sums - sums.max())
    return np.asarray(weights / weights.sum(), np.float64)


@lru_cache(maxsize=1 << 16)
def is_stop_word(word: str) -> bool:
    """Whether a word of a text says nothing of its topic. Punctuation alone is such a word."""
    return STOP_WORDS.issuperset(words(word))


@lru_cache(maxsize=1 << 16)
def _letters(word: str) -> frozenset[str]:
    """Return the letter 3-grams of a word, its borders marked."""
    marked = f"\0{word}\0"
    return frozenset(marked[i : i + _N] for i in range(len(marked) - _N + 1))


Slots = npt.NDArray[np.int32]
"""(n, 4): source, view, number of the document, number of the question (-1 for none)."""


class Source(IntEnum):
    """A source: the input of the encoder."""

    QUESTION = 0
    TITLE = 1
    SPAN = 2
    PSEUDO = 3


class View(IntEnum):
    """A target: the text to write."""

    BODY = 0
    TITLE = 1
    QUERY = 2


SUPERVISED = (Source.QUESTION, Source.TITLE)


@dataclass(frozen=True)
class Question:
    """A question with the numbers of the documents that answer it."""

    id: str
    text: str
    gold: tuple[int, ...]


@dataclass(frozen=True)
class Material:
    """Texts that examples are drawn from. pseudo: pseudo-queries by number of the document."""

    documents: Sequence[Document]
    questions: Sequence[Question]
    pseudo: Mapping[int, Sequence[str]]


def title_key(text: str) -> str:
    """Return the key of a title: its words in lower case. Spellings of one title share it."""
    return " ".join(words(text)) or " ".join(text.split())


def plan(
    material: Material, held_out: Collection[str], config: ExampleConfig
) -> tuple[Slots, Slots]:
    """Return the slots to train on and those to validate with.

    held_out: keys (`title_key`) of titles that are neither source nor target. Titles and questions
    to validate with are drawn by hashes of themselves. No example with them is learnt. Spans of
    their passages are learnt, because searches need them. Without titles and questions, documents
    are drawn for validation instead.
    """
    titles = [title_key(d.title) for d in material.documents]
    usable = [bool(t) and t not in held_out for t in titles]
    slots = list_slots(material, usable, held_out, config)
    rows = np.fromiter(slots, np.int32).reshape(-1, 4)
    named = sorted({t for t in titles if t and t not in held_out})
    validation_titles = _sample(named, config)
    questions = [q.id for q in material.questions if title_key(q.text) not in held_out]
    validation_questions = _sample(questions, config)
    if not (named or questions):
        documents = _sample([d.id for d in material.documents], config)
        validation = np.array([d.id in documents for d in material.documents], bool)[rows[:, 2]]
        return rows[~validation], _some(rows[validation], config)
    of_title = np.array([t in validation_titles for t in titles], bool)[rows[:, 2]]
    chosen = [q.id in validation_questions for q in material.questions] or [False]
    of_question = (rows[:, 3] >= 0) & np.array(chosen, bool)[rows[:, 3]]
    by_title = (rows[:, 0] == Source.TITLE) | (rows[:, 1] == View.TITLE)
    validation = (by_title & of_title) | of_question
    return rows[~validation], _some(rows[validation], config)


def list_slots(
    material: Material, usable: Sequence[bool], held_out: Collection[str], config: ExampleConfig
) -> Iterator[int]:
    """Yield the numbers of all slots, four each. usable: of each document, whether its title is."""

    def views(document: int, bodies: int) -> list[View]:
        found = [View.BODY] * bodies if material.documents[document].text.strip() else []
        found += [View.TITLE] if usable[document] else []
        return found + ([View.QUERY] if material.pseudo.get(document) else [])

    for number, question in enumerate(material.questions):
        for document in question.gold if title_key(question.text) not in held_out else ():
            for view in views(document, config.bodies):
                yield from (Source.QUESTION, view, document, number)
    for document in range(len(material.documents)):
        if config.title_questions and usable[document]:
            for view in views(document, config.bodies):
                yield from (Source.TITLE, view, document, -1)
        ours, asked = views(document, 1), bool(material.pseudo.get(document))
        of_text = ours if View.BODY in ours else []
        others = [view for view in ours if asked and view != View.QUERY]
        for _ in range(config.unsupervised):
            for source, wanted in ((Source.SPAN, of_text), (Source.PSEUDO, others)):
                for view in wanted:
                    yield from (source, view, document, -1)


def _sample(names: Sequence[str], config: ExampleConfig) -> set[str]:
    """Return those to validate with, at least one of two."""
    n = min(max(1, round(config.validation_share * len(names))), VALIDATION_MOST)
    ranked = sorted(names, key=lambda name: content_hash("generative-validation", name))
    return set(ranked[: min(n, len(names) - 1)])


def _some(rows: Slots, config: ExampleConfig) -> Slots:
    """Return at most five slots for each title or question that may be validated with."""
    most = 5 * VALIDATION_MOST
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng([config.seed, len(rows)])
    return rows[np.sort(rng.choice(len(rows), most, replace=False))]


# An epoch that no training reaches.
_VALIDATION = 2**31


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
        encoded = self.vocabulary.encode([target for _, target, _, _ in drafts])
        pairs = []
        for (source, _, view, forced), ids in zip(drafts, encoded, strict=True):
            end = [] if view == View.BODY else [self.vocabulary.title_end]
            target = tuple((ids + end)[:TARGET_TOKENS])
            pairs.append(Pair(source, target, view.name.lower(), forced))
        return pairs

    def _draft(self, epoch: int, number: int) -> tuple[tuple[int, ...], str, View, tuple[int, ...]]:
        """Return source, target as text, view, and the tokens that are forced, of an example."""
        origin, at, document, question = (int(value) for value in self.slots[number])
        view, material, config = View(at), self.material, self.config
        rng = np.random.default_rng([config.seed, epoch, number])
        if origin == Source.QUESTION:
            source = material.questions[question].text
        elif origin == Source.TITLE:
            source = material.documents[document].title
        elif origin == Source.PSEUDO:
            source = _one(material.pseudo[document], rng)
        else:
            n = int(rng.integers(LEAST_WORDS, MOST_WORDS + 1))
            source = _span(material.documents[document].text.split(), n, rng)
        if view == View.TITLE:
            target = material.documents[document].title
        elif view == View.QUERY:
            target = _one(material.pseudo[document], rng)
        else:
            words, n = material.documents[document].text.split(), SPAN_WORDS
            if origin in SUPERVISED or rng.random() < COPIED:
                probabilities = start_probabilities(words, source, n)
                start = int(rng.choice(len(probabilities), p=probabilities))
                target = " ".join(words[start : start + n])
            else:
                target = _span(words, n, rng)
        is_plain = view == View.BODY and rng.random() < PLAIN_SHARE
        is_forced = view == View.QUERY and rng.random() < 0.5
        kind = GOLD if origin in SUPERVISED else self.kind
        marker = None if is_plain else view.name.lower()
        (ids,) = self.vocabulary.sources([source], marker, limit=config.source_tokens, kind=kind)
        return tuple(ids), target, view, (self.vocabulary.query_start,) if is_forced else ()


def _span(words: Sequence[str], n: int, rng: np.random.Generator) -> str:
    start = int(rng.integers(max(1, len(words) - n + 1)))
    return " ".join(words[start : start + n])


def _one(texts: Sequence[str], rng: np.random.Generator) -> str:
    return texts[int(rng.integers(len(texts)))]


@dataclass(frozen=True)
class Inputs:
    """Training data.

    qrels: a document graded above 0 answers a question. pseudo_queries: by document id. files: by
    option, None for an option without a file.
    """

    documents: Sequence[Document]
    questions: Sequence[Query]
    qrels: Qrels
    pseudo_queries: Mapping[str, Sequence[str]]
    files: Mapping[str, Origin | None]


def build_examples(
    inputs: Inputs, vocabulary: Vocabulary, config: ExampleConfig, held_out: Collection[str] = ()
) -> TrainingSet:
    """Return the examples of a corpus.

    held_out: ids of documents whose title is neither source nor target, nor are questions and
    pseudo-queries that say the same. Titles that other documents share are left out with them.
    Unsupervised sources are marked as such where there are questions. Where there are none, they
    carry the sign of judged ones, or the model would not know the sign that searches use.
    """
    documents = inputs.documents
    number = {d.id: i for i, d in enumerate(documents)}
    hidden = {title_key(d.title) for d in documents if d.id in set(held_out)} - {""}
    questions, gold_unknown = [], 0
    for query in inputs.questions:
        grades = sorted(inputs.qrels.get(query.id, {}).items())
        judged = [doc for doc, grade in grades if grade > 0]
        gold = tuple(number[doc] for doc in judged if doc in number)
        gold_unknown += len(judged) - len(gold)
        if gold and query.text.strip():
            questions.append(Question(query.id, query.text, gold))
    counts = {
        "questions": len(questions),
        "questions_without_gold": len(inputs.questions) - len(questions),
        "gold_unknown": gold_unknown,
    }
    pseudo = {}
    for id_, texts in inputs.pseudo_queries.items():
        usable = [text for text in texts if text.strip() and title_key(text) not in hidden]
        if id_ in number and usable:
            pseudo[number[id_]] = usable
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


def read_inputs(
    corpus: Corpus,
    queries: Path | str | None,
    qrels: Path | str | None,
    pseudo_queries: Path | str | None,
    fields: FieldNames,
    limit: int | None,
) -> Inputs:
    """Read a corpus and its questions. limit: only the first documents.

    queries, qrels: both or neither. Raises InputError for one without the other, and for files that
    are not valid.
    """
    documents, path = read_documents(corpus, fields, limit, None)
    if (queries is None) != (qrels is None):
        there, missing = ("--questions", "--qrels")[:: 1 if qrels is None else -1]
        raise InputError(
            f"given without {missing}",
            expected="questions and the passages that answer them, or neither",
            fix=f"Add {missing}, or leave out {there}.",
            where=there,
        )
    questions: list[Query] = []
    judged: Qrels = {}
    files: dict[str, Origin | None] = {"corpus": path, "queries": None, "qrels": None}
    if queries is not None and qrels is not None:
        questions = read_queries(Path(queries), coerce_ids=fields.coerce_ids)
        judged = read_judgements(qrels)
        files |= {"queries": Path(queries), "qrels": Path(qrels)}
    pseudo, file = pseudo_queries_of(pseudo_queries, documents, coerce_ids=fields.coerce_ids)
    return Inputs(documents, questions, judged, pseudo, {**files, "pseudo_queries": file})


QUESTIONS, QRELS = "held_out.jsonl", "held_out.tsv"


def choose(documents: Sequence[Document], hold_out: int) -> list[str]:
    """Return the ids of the documents whose titles are held out, in the order of the corpus.

    Drawn by the hashes of their ids among those with a title. Raises InputError for too many.
    """
    titled = [d.id for d in documents if d.title.strip()]
    if hold_out > len(titled):
        raise InputError(
            f"{hold_out:,} titles to hold out, of {len(titled):,}",
            expected="a number from 0 to the titles that the corpus has",
            fix="Give another number.",
            where="--hold-out",
        )
    ranked = sorted(titled, key=lambda id_: content_hash("generative-hold-out", id_))
    chosen = set(ranked[:hold_out])
    return [id_ for id_ in titled if id_ in chosen]


def write_held_out(folder: ArtifactFolder, documents: Sequence[Document], ids: list[str]) -> None:
    """Write held-out titles as questions (BEIR queries and qrels), each with its document's id."""
    if not ids:
        return
    titles = {d.id: d.title for d in documents}
    write_jsonl(folder.own(QUESTIONS), ({"_id": id_, "text": titles[id_]} for id_ in ids))
    rows = ("query-id\tcorpus-id\tscore", *(f"{id_}\t{id_}\t1" for id_ in ids))
    write_whole(folder.own(QRELS), "\n".join(rows) + "\n")
