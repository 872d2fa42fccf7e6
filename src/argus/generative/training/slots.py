"""List the examples: source and target of each, before any text is drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.types import Document
from argus.generative.training.settings import ExampleConfig
from argus.indexes.words import words

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
    rows = np.fromiter(
        (value for slot in _slots(material, titles, held_out, config) for value in slot), np.int32
    ).reshape(-1, 4)
    named = sorted({t for t in titles if t and t not in held_out})
    validation_titles = _sample(named, config)
    questions = [q.id for q in material.questions if title_key(q.text) not in held_out]
    validation_questions = _sample(questions, config)
    if not (named or questions):
        documents = _sample([d.id for d in material.documents], config)
        validation = np.array([d.id in documents for d in material.documents], bool)[rows[:, 2]]
        return rows[~validation], _some(rows[validation], config)
    ours = np.array([t in validation_titles for t in titles], bool)
    theirs = np.array([q.id in validation_questions for q in material.questions] or [False], bool)
    by_title = (rows[:, 0] == Source.TITLE) | (rows[:, 1] == View.TITLE)
    validation = (by_title & ours[rows[:, 2]]) | ((rows[:, 3] >= 0) & theirs[rows[:, 3]])
    return rows[~validation], _some(rows[validation], config)


def _slots(
    material: Material, titles: Sequence[str], held_out: Collection[str], config: ExampleConfig
) -> Iterator[tuple[int, int, int, int]]:
    usable = [bool(t) and t not in held_out for t in titles]
    for number, question in enumerate(material.questions):
        if title_key(question.text) in held_out:
            continue
        for document in question.gold:
            for view in _views(material, usable, document, config.bodies):
                yield Source.QUESTION, view, document, number
    for document in range(len(material.documents)):
        if config.title_questions and usable[document]:
            for view in _views(material, usable, document, config.bodies):
                yield Source.TITLE, view, document, -1
        for _ in range(config.unsupervised):
            views = list(_views(material, usable, document, 1))
            if material.documents[document].text.strip():
                yield from ((Source.SPAN, view, document, -1) for view in views)
            if material.pseudo.get(document):
                others = [v for v in views if v != View.QUERY]
                yield from ((Source.PSEUDO, view, document, -1) for view in others)


def _views(
    material: Material, usable: Sequence[bool], document: int, bodies: int
) -> Iterator[View]:
    if material.documents[document].text.strip():
        yield from [View.BODY] * bodies
    if usable[document]:
        yield View.TITLE
    if material.pseudo.get(document):
        yield View.QUERY


def _sample(names: Sequence[str], config: ExampleConfig) -> set[str]:
    """Return those to validate with, at least one of two."""
    n = min(max(1, round(config.validation_share * len(names))), config.validation_most)
    ranked = sorted(names, key=lambda name: content_hash("generative-validation", name))
    return set(ranked[: min(n, len(names) - 1)])


def _some(rows: Slots, config: ExampleConfig) -> Slots:
    """Return at most five slots for each title or question that may be validated with."""
    most = 5 * config.validation_most
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng([config.seed, len(rows)])
    return rows[np.sort(rng.choice(len(rows), most, replace=False))]
