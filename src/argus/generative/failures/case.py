"""A question of an analysis: the passages found, their n-grams as words and tokens, positives."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.indexes.lexical import words as split

Split = Callable[[Sequence[str]], Sequence[Sequence[Hashable]]]
"""Split texts into the tokens of the analysis."""
TITLE, BODY, QUERY = "title", "body", "query"
"""Source of an n-gram: a title, a text, or (MINDER) a pseudo-query."""


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, as BM25 has them: "U.S." is two, "ﬁ" is "fi"."""
    return tuple(split(text))


def split_words(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of each text: a `Split` where no tokenizer was given."""
    return [words(text) for text in texts]


def holds_any(text: Sequence[str], parts: Iterable[Sequence[str]]) -> bool:
    """Return whether one of several word sequences stands in a text, word after word.

    An empty sequence stands in none.
    """
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for part in parts:
        if part:
            by_first.setdefault(part[0], []).append(tuple(part))
    return any(
        tuple(text[at : at + len(part)]) == part
        for at, word in enumerate(text)
        for part in by_first.get(word, ())
    )


@dataclass(frozen=True, slots=True)
class Ngram:
    """An identifier of a question, once, whatever passages it found.

    text: without markers, stripped. view: TITLE, BODY or QUERY. tokens: of the text, by the
    tokenizer of the analysis. words: of the text, lower-cased (see `words`). count: occurrences in
    the corpus. None if the file does not say.
    """

    text: str
    view: str
    tokens: tuple[Hashable, ...]
    words: tuple[str, ...]
    count: int | None


@dataclass(frozen=True, slots=True)
class Keys:
    """The n-grams of a passage, as the file orders them.

    ngrams: (n,) places in `Case.ngrams`, each once. weights: (n,) float64, the part of each in the
    passage's score.
    """

    ngrams: IntArray
    weights: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.ngrams)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that was found.

    correct: whether it is a positive. None without judgements. keys: None if the file has none
    for it.
    """

    id: str
    title: str
    text: str
    correct: bool | None
    keys: Keys | None


@dataclass(frozen=True, slots=True)
class Positive:
    """A passage that is annotated as correct. id, text: None if they are not known."""

    id: str | None
    title: str
    text: str | None


@dataclass(frozen=True)
class Case:
    """A question, the passages found (best first, each once), and the correct ones.

    question_tokens: of the question, by the tokenizer of the analysis. positives: each once. None
    if none are annotated, or correctness goes by answers. ngrams: all identifiers of all
    passages, each once. by_answer: correctness goes by answers: a passage is correct when its text
    holds one.
    """

    id: str
    question: str
    question_tokens: tuple[Hashable, ...]
    answers: tuple[str, ...]
    positives: tuple[Positive, ...] | None
    passages: tuple[Passage, ...]
    ngrams: tuple[Ngram, ...]
    by_answer: bool = False

    @property
    def judged(self) -> bool:
        """Whether correct passages are known, even if no passage was found."""
        if self.positives or (self.by_answer and self.answers):
            return True
        return any(passage.correct is not None for passage in self.passages)
