"""Split texts into words to compare: without case or punctuation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from argus.indexes.words import STOP_WORDS
from argus.indexes.words import words as split


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
