"""One question of an analysis: passages found, their n-grams, and positives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray

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
