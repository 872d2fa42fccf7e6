"""Split answers into words, and find the texts that hold one."""

from __future__ import annotations

from collections.abc import Iterable

from argus.generative.failures.case import Case, once
from argus.generative.failures.words import holds_any, words

Words = tuple[str, ...]


def answer_words(case: Case) -> tuple[Words, ...]:
    """Return the words of each different answer. An answer without a word is none."""
    return once(case, "answers", lambda: _different(map(words, case.answers)))


def texts_with_answer(case: Case, k: int) -> tuple[bool, ...] | None:
    """Return of each of the first k texts whether it holds an answer. None without answers."""
    answers = answer_words(case)
    if not answers:
        return None
    return once(case, ("texts", k), lambda: _holding(case, answers, k))


def hold_answer(parts: Iterable[Words], answers: tuple[Words, ...]) -> bool:
    """Return whether one of several texts, given as words, holds one of the answers."""
    beginnings = {answer[0] for answer in answers}
    return any(not beginnings.isdisjoint(part) and holds_any(part, answers) for part in parts)


def _different(answers: Iterable[Words]) -> tuple[Words, ...]:
    return tuple(answer for answer in dict.fromkeys(answers) if answer)


def _holding(case: Case, answers: tuple[Words, ...], k: int) -> tuple[bool, ...]:
    return tuple(hold_answer([words(passage.text)], answers) for passage in case.passages[:k])
