"""What is correct: the passages annotated for a question, and which of those found they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from argus.generative.failures.case import Positive
from argus.generative.failures.reading.passages import without_queries
from argus.generative.failures.reading.problems import Notes, Problem
from argus.generative.failures.reading.settings import Reading, Record
from argus.generative.failures.reading.values import id_of, text_of
from argus.generative.failures.words import holds_any, words

POSITIVE_IDS = ("passage_id", "psg_id", "id", "docid", "doc_id")
Words = tuple[tuple[str, ...], tuple[str, ...]]
"""Of a title and of its text."""
IsCorrect = Callable[[str | None, str, str], bool | None]
"""Id (None where a passage has none), title and text of a passage that was found."""


def positives_of(record: Record, note: Notes) -> tuple[Positive, ...] | None:
    """Return the annotated positives of a record, each once; None where it says nothing of them."""
    given = record.get("positive_ctxs")
    if not isinstance(given, list):
        if given is not None:
            note(Problem.POSITIVES, "positive_ctxs", given)
        return None
    found: dict[str | Words, Positive] = {}
    for position, value in enumerate(given):
        positive = _positive(value)
        if positive is None:
            note(Problem.POSITIVES, f"positive_ctxs[{position}]", value)
            continue
        found.setdefault(positive.id or _words(positive.title, positive.text or ""), positive)
    return tuple(found.values())


def judged_positives(
    grades: Mapping[str, int] | None, known: Iterable[Positive]
) -> tuple[Positive, ...] | None:
    """Return the positives that judgements name; None for no judgement at all.

    grades: document id to grade, or None. known: passages whose titles and texts are taken where
    their ids are among the positives.
    """
    if grades is None:
        return None
    texts: dict[str | None, Positive] = {}
    for one in known:
        if one.id not in texts or texts[one.id].text is None:
            texts[one.id] = one
    named = (id_ for id_, grade in grades.items() if grade >= 1)
    return tuple(texts.get(id_, Positive(id_, "", None)) for id_ in named)


def by_positives(positives: Sequence[Positive] | None) -> IsCorrect:
    """Return the test of a passage: its id is a positive's; without ids, title and text are."""
    if not positives:
        return lambda id_, title, text: None
    ids = {positive.id for positive in positives if positive.id is not None}
    texts = [p for p in positives if p.text is not None]
    nameless = {_words(p.title, p.text or "") for p in texts if p.id is None}
    every = {_words(p.title, p.text or "") for p in texts}
    titles = {title for title, _ in every}

    def is_correct(id_: str | None, title: str, text: str) -> bool:
        if id_ in ids:
            return True
        wanted = every if id_ is None else nameless
        return bool(wanted) and words(title) in titles and _words(title, text) in wanted

    return is_correct


def by_answers(answers: Sequence[str]) -> IsCorrect:
    """Return the test of a passage: its text holds an answer."""
    parts = [words(answer) for answer in answers]
    return lambda id_, title, text: holds_any(words(text), parts) if parts else None


def answers_of(record: Record, id_: str, reading: Reading, note: Notes) -> tuple[str, ...]:
    """Return the different answers of a question: those of the settings, of the record, of KILT."""
    if reading.answers is not None:
        given: Any = list(reading.answers.get(id_, ()))
    elif "answers" in record:
        given = record["answers"]
    else:
        output = record.get("output")
        outputs = output if isinstance(output, list) else []
        given = [o["answer"] for o in outputs if isinstance(o, dict) and o.get("answer")]
    listed = given if isinstance(given, list) else [] if given is None else [given]
    for position, answer in enumerate(listed):
        if not isinstance(answer, str) or not words(answer):
            note(Problem.ANSWERS, f"answers[{position}]", answer)
    return tuple(dict.fromkeys(a for a in listed if isinstance(a, str) and words(a)))


def _positive(value: Any) -> Positive | None:
    """Return an annotated passage; None for what names none."""
    if not isinstance(value, dict):
        return None
    id_, title = id_of(value, POSITIVE_IDS), text_of(value, "title")
    text = without_queries(text_of(value, "text")) or None
    return Positive(id_, title, text) if id_ is not None or text is not None else None


def _words(title: str, text: str) -> Words:
    return words(title), words(text)
