"""One record of an output file: SEAL's and MINDER's DPR JSON, KILT lines, and this project's."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from argus.data.topics import TOPIC_ID_FIELDS
from argus.generative.failures.case import Case, Passage, Positive
from argus.generative.failures.reading.ngrams import Ngrams
from argus.generative.failures.reading.passages import ListedPassage, listed_passages
from argus.generative.failures.reading.positives import (
    answers_of,
    by_answers,
    by_positives,
    judged_positives,
    positives_of,
)
from argus.generative.failures.reading.problems import Notes, Problem, Problems
from argus.generative.failures.reading.settings import ANSWER, Reading, Record
from argus.generative.failures.reading.values import id_of, parsed, text_of
from argus.generative.failures.words import words

QUESTION_FIELDS = ("question", "input")


def read_case(content: bytes, number: int, settings: Reading, problems: Problems) -> Case | None:
    """Return the question of a record. None if there is none, which is noted.

    number: of the record in its file, from 0. Its id where it has none and `settings.ids` does not
    know its question, which is then not looked up in given judgements or answers. Read are

    * DPR JSON: question, answers, positive_ctxs, and in ctxs passages, best first, whose keys are
      `[n-gram, frequency, weight]`. A frequency may be null or left out, and a key an object.
    * KILT: input, and in output the passages of provenance, keys in their meta.
    * answers.jsonl of `argus research generative search`: hits. Its first line, the settings, is
    no problem.

    Unreadable parts are left out. All problems are noted in `problems`.
    """
    with _no_collection():
        return _read(content, settings, Notes(problems, number))


def _read(content: bytes, settings: Reading, note: Notes) -> Case | None:
    try:
        record = parsed(content, note)
    except ValueError as error:
        note(Problem.RECORDS, "", str(error))
        return None
    if not isinstance(record, dict):
        note(Problem.RECORDS, "", record)
        return None
    question = next((q for name in QUESTION_FIELDS if (q := text_of(record, name).strip())), None)
    if question is None:
        if not _is_header(record):
            note(Problem.RECORDS, "", f"no question, but {', '.join(map(repr, record))}")
        return None
    return _case(record, question, settings, note)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no reference cycles meanwhile: a record is thousands of lists and none has any.

    Looking through them and all n-grams remembered takes as long as the rest of the reading.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _is_header(record: Record) -> bool:
    return isinstance(record.get("settings"), dict) and "hits" not in record


def _case(record: Record, question: str, settings: Reading, note: Notes) -> Case:
    id_ = _id(record, question, settings, note)
    answers = answers_of(record, id_, settings, note)
    if not answers:
        note(Problem.NO_ANSWERS, "", question)
    listed = listed_passages(record, note)
    if not listed:
        note(Problem.NO_PASSAGES, "", question)
    positives = None
    if settings.correct != ANSWER:
        positives = _positives(record, id_, settings, listed, note)
        if not positives:
            note(Problem.NO_POSITIVES, "", question)
    by_answer = settings.correct == ANSWER
    correct = by_answers(answers, listed) if by_answer else by_positives(positives, listed)
    ngrams = Ngrams(note)
    passages = tuple(
        Passage(
            p.place if p.id is None else p.id,
            p.title,
            p.text,
            is_correct,
            ngrams.keys(p.keys, f"{p.place}.keys"),
        )
        for p, is_correct in zip(listed, correct, strict=True)
    )
    (question_tokens,), gathered = ngrams.gathered([question], settings)
    name = str(note.number) if id_ is None else id_
    return Case(name, question, question_tokens, answers, positives, passages, gathered, by_answer)


def _id(record: Record, question: str, settings: Reading, note: Notes) -> str | None:
    """Return the id of a question, by which it may be looked up. None if it is not known."""
    id_ = id_of(record, TOPIC_ID_FIELDS)
    if id_ is None and settings.ids is not None:
        id_ = settings.ids.get(words(question))
    if id_ is None and not (settings.qrels is None and settings.answers is None):
        note(Problem.NO_QUESTION_ID, "", question)
    return id_


def _positives(
    record: Record, id_: str | None, settings: Reading, listed: list[ListedPassage], note: Notes
) -> tuple[Positive, ...] | None:
    """Return the positives of the judgements where these are given, else those of the record."""
    annotated = positives_of(record, note)
    if settings.qrels is None:
        return annotated
    known = [Positive(p.id, p.title, p.text or None) for p in listed]
    grades = None if id_ is None else settings.qrels.get(id_)
    return judged_positives(grades, [*(annotated or ()), *known])
