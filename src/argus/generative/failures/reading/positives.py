"""Correct passages: those annotated for a question, and those of them that were found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from argus.generative.failures.case import Positive
from argus.generative.failures.reading.passages import ListedPassage, without_queries
from argus.generative.failures.reading.problems import Notes, Problem
from argus.generative.failures.reading.settings import Reading, Record
from argus.generative.failures.reading.values import id_of, text_of
from argus.generative.failures.words import holds_any, words

POSITIVE_IDS = ("passage_id", "psg_id", "id", "docid", "doc_id")
Words = tuple[tuple[str, ...], tuple[str, ...]]
"""A title and its text."""


def positives_of(record: Record, note: Notes) -> tuple[Positive, ...] | None:
    """Return the annotated positives of a record, each once. None if it says nothing of them."""
    listed = record.get("positive_ctxs")
    if not isinstance(listed, list):
        if listed is not None:
            note(Problem.POSITIVES, "positive_ctxs", listed)
        return None
    positives: dict[str | Words, Positive] = {}
    for position, value in enumerate(listed):
        positive = _positive(value)
        if positive is None:
            note(Problem.POSITIVES, f"positive_ctxs[{position}]", value)
            continue
        positives.setdefault(positive.id or _words(positive.title, positive.text or ""), positive)
    return tuple(positives.values())


def judged_positives(
    grades: Mapping[str, int] | None, known: Iterable[Positive]
) -> tuple[Positive, ...] | None:
    """Return the positives that judgements name. None for no judgement at all.

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


def by_positives(
    positives: Sequence[Positive] | None, listed: Sequence[ListedPassage]
) -> list[bool | None]:
    """Return of each passage, best first, whether it is a positive. None if there are none.

    It is when its id is a positive's. Where it or the positive has none, when title and text are.
    A positive counts once, at the first passage that is it.
    """
    if not positives:
        return [None] * len(listed)
    places = {one.id: place for place, one in enumerate(positives) if one.id is not None}
    same = _same_words(positives, {passage.id for passage in listed})
    titles = {title for title, _ in same}
    nameless = any(one.id is None for one in positives)
    left = set(range(len(positives)))
    correct: list[bool | None] = []
    for passage in listed:
        id_ = passage.id
        place = None if id_ is None else places.get(id_)
        if place is None and (id_ is None or nameless) and words(passage.title) in titles:
            alike = same.get(_words(passage.title, passage.text), ())
            fits = (p for p in alike if id_ is None or positives[p].id is None)
            place = next((p for p in fits if p in left), None)
        correct.append(place in left)
        left -= {place}
    return correct


def _same_words(positives: Sequence[Positive], listed: Set[str | None]) -> dict[Words, list[int]]:
    """Return places of the positives whose text is known by their words.

    Several may have the same words. Those with an id that is not listed come first, then those
    without id, since no other passage can be one of them.
    """
    same: dict[Words, list[int]] = {}
    for place, one in enumerate(positives):
        if one.text is not None:
            same.setdefault(_words(one.title, one.text), []).append(place)

    def claims(place: int) -> int:
        id_ = positives[place].id
        return 1 if id_ is None else 2 * (id_ in listed)

    return {both: sorted(alike, key=claims) for both, alike in same.items()}


def by_answers(answers: Sequence[str], listed: Sequence[ListedPassage]) -> list[bool | None]:
    """Return of each passage whether its text holds an answer. None without answers."""
    parts = [words(answer) for answer in answers]
    return [holds_any(words(passage.text), parts) if parts else None for passage in listed]


def answers_of(record: Record, id_: str | None, reading: Reading, note: Notes) -> tuple[str, ...]:
    """Return the different answers of a question: those of the settings, of the record, of KILT.

    id_: by which the settings may know it. None if it has none.
    """
    if id_ is not None and reading.answers is not None and id_ in reading.answers:
        answers: object = list(reading.answers[id_])
    elif "answers" in record:
        answers = record["answers"]
    else:
        output = record.get("output")
        outputs = output if isinstance(output, list) else []
        answers = [o["answer"] for o in outputs if isinstance(o, dict) and o.get("answer")]
    listed = answers if isinstance(answers, list) else [] if answers is None else [answers]
    for position, answer in enumerate(listed):
        if not isinstance(answer, str) or not words(answer):
            note(Problem.ANSWERS, f"answers[{position}]", answer)
    return tuple(dict.fromkeys(a for a in listed if isinstance(a, str) and words(a)))


def _positive(value: object) -> Positive | None:
    """Return an annotated passage. None if it names none."""
    if not isinstance(value, dict):
        return None
    id_, title = id_of(value, POSITIVE_IDS), text_of(value, "title")
    text = without_queries(text_of(value, "text")) or None
    return Positive(id_, title, text) if id_ is not None or text is not None else None


def _words(title: str, text: str) -> Words:
    return words(title), words(text)
