"""A question of an analysis: the passages found, their n-grams as words and tokens, positives."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.indexes.words import STOP_WORDS
from argus.indexes.words import words as split

if TYPE_CHECKING:
    from argus.generative.vocabulary import Vocabulary


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, as BM25 has them: "U.S." is two, "ﬁ" is "fi"."""
    return tuple(split(text))


def holds(text: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether the words of `part` stand in `text` one after the other. False for no word."""
    n = len(part)
    if not n:
        return False
    whole = tuple(part)
    return any(
        text[at] == whole[0] and tuple(text[at : at + n]) == whole
        for at in range(len(text) - n + 1)
    )


def holds_any(text: Sequence[str], parts: Iterable[Sequence[str]]) -> bool:
    """Return whether any of several word sequences stands in a text."""
    return any(holds(text, part) for part in parts)


def content(question: Sequence[str]) -> list[str]:
    """Return the different words of a question that are not stop words, in order."""
    return [word for word in dict.fromkeys(question) if word not in STOP_WORDS]


class Tokens(Protocol):
    """Splits texts. name: its name in the report."""

    name: str

    def split(self, texts: Sequence[str]) -> list[tuple[Hashable, ...]]:
        """Return the tokens of each text."""
        ...


class WordTokens:
    """Words in place of tokens, where no tokenizer was given."""

    name = "words"

    def split(self, texts: Sequence[str]) -> list[tuple[Hashable, ...]]:
        """Return the words of each text, case-folded."""
        return [words(text) for text in texts]


class VocabularyTokens:
    """The tokens of an index or of a model. name: of the folder that it was opened from."""

    def __init__(self, vocabulary: Vocabulary, name: str) -> None:
        self.vocabulary, self.name = vocabulary, name

    def split(self, texts: Sequence[str]) -> list[tuple[Hashable, ...]]:
        """Return the tokens of each text as it is, after a space."""
        return [tuple(ids) for ids in self.vocabulary.encode(texts)]


class PublishedTokens(VocabularyTokens):
    """The tokens of texts as they stand, nothing added or taken off: as the thesis counts."""

    def split(self, texts: Sequence[str]) -> list[tuple[Hashable, ...]]:
        """Return the tokens of each text."""
        return [tuple(ids) for ids in self.vocabulary.encode_as_is(texts)]


T = TypeVar("T")

_ATTRIBUTE = "_memo"
"""Results of a case that `once` keeps."""
TITLE, BODY, QUERY = "title", "body", "query"
"""Source of an n-gram: a title, a text, or (MINDER) a pseudo-query."""


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

    correct: whether it is a positive. None without judgements. keys: None
    if the file has none for it.
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

    @property
    def first(self) -> Keys | None:
        """The n-grams of the first passage. None without a passage, or without n-grams."""
        keys = self.passages[0].keys if self.passages else None
        return keys if keys is not None and len(keys) else None


def once(case: Case, name: Hashable, make: Callable[[], T]) -> T:
    """Return the result of `make`. It is called once per question and name.

    It is kept with the question, as a cached property is, and goes with it.
    """
    memo = vars(case).setdefault(_ATTRIBUTE, {})
    if name not in memo:
        memo[name] = make()
    return cast(T, memo[name])
