"""Settings of reading records: which passages are correct, and how texts are split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from argus.generative.failures.case import Ngram
from argus.generative.failures.tokens import Tokens

ANNOTATED, ANSWER = "annotated", "answer"
BORDER = "</s>"
REMEMBERED = 100_000
"""N-grams that a process remembers, some 50 MB."""


class NgramMemory(dict[str, Ngram]):
    """N-grams by their text in the file, so that none is split again.

    They do not go to another process.
    """

    def __reduce__(self) -> tuple[type[NgramMemory], tuple[()]]:
        return NgramMemory, ()


@dataclass(frozen=True)
class Reading:
    """Settings of reading the records of a file.

    tokens: splits questions and n-grams. correct: with ANNOTATED, a passage is correct if it
    is a positive. With ANSWER, it is correct if its text holds an answer. qrels: query id ->
    document id -> grade. Grades from 1 replace the file's positives. answers: query id -> answers,
    in place of the file's. A question that is not in them keeps its own. ids: the words of a
    question -> its id, for records without id. Texts of several ids are left out. Records
    without a known id are not looked up in qrels and answers. border: how a title's n-gram
    begins. strict: the markers of an n-gram count among its tokens, as in the thesis.
    """

    tokens: Tokens
    correct: Literal["annotated", "answer"] = "annotated"
    qrels: Mapping[str, Mapping[str, int]] | None = None
    answers: Mapping[str, tuple[str, ...]] | None = None
    ids: Mapping[tuple[str, ...], str] | None = None
    border: str = BORDER
    strict: bool = False
    memory: NgramMemory = field(default_factory=NgramMemory, init=False, repr=False, compare=False)

    def remember(self, ngrams: Mapping[str, Ngram]) -> None:
        """Keep n-grams for the next questions. At most REMEMBERED, else it starts anew."""
        if len(self.memory) + len(ngrams) > REMEMBERED:
            self.memory.clear()
        self.memory.update(ngrams)


Record = Mapping[str, object]
"""A record of a file, as it is: each value is checked where it is read."""
