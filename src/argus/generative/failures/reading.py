"""Parse records of an output file into cases: SEAL's and MINDER's DPR JSON, KILT, and Argus's."""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from pydantic_core import from_json

from argus.data.topics import TITLE_END, TOPIC_ID_FIELDS
from argus.generative.failures.case import (
    BODY,
    QUERY,
    TITLE,
    Case,
    Keys,
    Ngram,
    Passage,
    Positive,
    Tokens,
    holds_any,
    words,
)
from argus.generative.failures.problems import Notes, Problem, Problems

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


GREATEST = 2**53
"""Largest frequency: whole numbers up to it are exact as float64, in which means are taken."""
GREATEST_NUMBER = 1e100
"""Largest score or weight: sums of such stay finite."""


def parsed(content: bytes, note: Notes) -> object:
    """Parse JSON, NaN and Infinity included. The last of equal names counts.

    Bytes and halves of characters that no text can hold are replaced and noted. Raises ValueError
    for anything else that is no JSON. (pydantic_core reads such records in 2/3 of json's time.)
    """
    try:
        value: object = from_json(content)
        return value
    except ValueError as error:
        text = content.decode("utf-8", "replace")
        try:
            whole = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")
            mended: object = from_json(whole.replace("\ufffd".encode(), b"?"))
        except RecursionError:
            raise error from None
        note(Problem.CHARACTERS, "", str(error))
        return mended


def number(value: object, note: Notes, place: str) -> float | None:
    """Return a number up to GREATEST_NUMBER, else None. One written as text is noted."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    if not abs(result) <= GREATEST_NUMBER:
        return None
    if isinstance(value, str):
        note(Problem.NUMBERS, place, value)
    return result


def count(value: object, note: Notes, place: str) -> int | None:
    """Return a whole number from 0 to GREATEST, None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value <= GREATEST else None
    result = number(value, note, place)
    if result is None or not result.is_integer() or not 0 <= result <= GREATEST:
        return None
    return int(result)


def id_of(record: Record, names: tuple[str, ...]) -> str | None:
    """Return the first id that a record has under one of the names. A whole number becomes text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def text_of(record: Record, name: str) -> str:
    """Return a text, empty for a missing value or another type."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


_QUERY_MARKER, _TITLE_MARKER = "||", "@@"
_TEXT, _COUNT, _WEIGHT = ("ngram", "text"), ("count", "freq", "frequency"), ("weight", "score")


@dataclass(frozen=True, slots=True)
class _Key:
    """A key as it is written. count: None if it is missing."""

    text: object
    count: object
    weight: object


class Ngrams:
    """The different n-grams of one question, by their text as the file has it."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._places: dict[str, int] = {}
        self._counts: list[int | None] = []

    def keys(self, listed: object, place: str) -> Keys | None:
        """Return the keys of a passage: `[text, count, weight]` each, or as `read_case` says."""
        if listed is None:
            self._note(Problem.NO_KEYS, place, "none")
            return None
        if not isinstance(listed, list):
            self._note(Problem.KEYS, place, listed)
            return None
        if not listed:
            self._note(Problem.NO_KEYS, place, "an empty list")
        regular = self._regular(listed)
        return self._mended(listed, place) if regular is None else regular

    def gathered(
        self, texts: list[str], reading: Reading
    ) -> tuple[list[tuple[Hashable, ...]], tuple[Ngram, ...]]:
        """Return the tokens of each of `texts`, and all n-grams. Splits new texts in one go."""
        new = {raw: _bare(raw, reading.border) for raw in self._places if raw not in reading.memory}
        counted = new if reading.strict else (text for text, _ in new.values())
        split = reading.tokens.split([*texts, *counted])
        first = {
            raw: Ngram(text, view, tokens, words(text), self._counts[self._places[raw]])
            for (raw, (text, view)), tokens in zip(new.items(), split[len(texts) :], strict=True)
        }
        known = {**{raw: reading.memory[raw] for raw in self._places if raw not in first}, **first}
        reading.remember(first)
        ngrams = (
            known[raw] if known[raw].count == times else replace(known[raw], count=times)
            for raw, times in zip(self._places, self._counts, strict=True)
        )
        return split[: len(texts)], tuple(ngrams)

    def _regular(self, listed: list[Any]) -> Keys | None:  # of a file: anything may be in it
        """Return the keys of a list that is as it should be. None for any other."""
        try:
            texts, counts, weights, *_ = zip(*listed, strict=True)
        except (TypeError, ValueError):
            return None
        regular = (
            {*map(type, texts)} == {str}
            and {*map(type, counts)} == {int}
            and {*map(type, weights)} <= {float, int}
            and min(counts) >= 0
            and max(counts) <= GREATEST
            and len({*texts}) == len(texts)
        )
        if not regular:
            return None
        try:
            added = np.array(weights, np.float64)
        except OverflowError:
            return None
        if not (np.abs(added) <= GREATEST_NUMBER).all():
            return None
        n, places = len(self._counts), self._places
        at = [places.setdefault(text, len(places)) for text in texts]
        self._counts.extend(times for i, times in zip(at, counts, strict=True) if i >= n)
        if any(self._counts[i] != times for i, times in zip(at, counts, strict=True)):
            return None
        return Keys(np.array(at, np.int64), added)

    def _mended(self, listed: list[object], place: str) -> Keys:
        """Return the keys of any list, and note problems."""
        weights: dict[int, float] = {}
        for position, value in enumerate(listed):
            where = f"{place}[{position}]"
            key = _key(value)
            weight = number(key.weight, self._note, where) if key else None
            times = count(key.count, self._note, where) if key else None
            readable = key and weight is not None and (times is not None or key.count is None)
            if not key or not isinstance(key.text, str) or weight is None or not readable:
                self._note(Problem.KEYS, where, value)
                continue
            at = self._place(key.text, times, where)
            if at in weights:
                self._note(Problem.KEYS_TWICE, where, key.text)
            weights[at] = weights.get(at, 0.0) + weight
        return Keys(np.array(list(weights), np.int64), np.array(list(weights.values()), np.float64))

    def _place(self, text: str, times: int | None, where: str) -> int:
        """Return where an n-gram is among the question's. Its first frequency stays."""
        at = self._places.setdefault(text, len(self._places))
        if at == len(self._counts):
            self._counts.append(times)
        known = self._counts[at]
        if times is None:
            self._note(Problem.NO_FREQUENCY, where, text)
        elif known is None:
            self._counts[at] = times
        elif known != times:
            self._note(Problem.FREQUENCIES, where, f"{text!r}: {known} and {times}")
        return at


def _key(value: object) -> _Key | None:
    """Return a key written as a pair, a triple or more, or an object. None for anything else."""
    if isinstance(value, dict):
        text, times, weight = (
            next((value[name] for name in names if value.get(name) is not None), None)
            for names in (_TEXT, _COUNT, _WEIGHT)
        )
        return _Key(text, times, weight)
    if not isinstance(value, list) or len(value) < 2:
        return None
    return _Key(value[0], None, value[1]) if len(value) == 2 else _Key(*value[:3])


def _bare(raw: str, border: str) -> tuple[str, str]:
    """Return the text of an n-gram without its markers, and its view."""
    text, view = raw.strip(), BODY
    if text.startswith(border):
        text, view = text.removeprefix(border).lstrip(), TITLE
    elif text.startswith(_QUERY_MARKER):
        text, view = text.removeprefix(_QUERY_MARKER).lstrip(), QUERY
    if text == _TITLE_MARKER or text.endswith(" " + _TITLE_MARKER):
        text = text.removesuffix(_TITLE_MARKER).rstrip()
    return text, view


QUERY_START = " || "
PASSAGE_IDS = ("passage_id", "id", "psg_id", "docid", "doc_id")


@dataclass(frozen=True, slots=True)
class ListedPassage:
    """A passage as it is listed. id: None if it has none. place: in the record. keys: as is."""

    id: str | None
    place: str
    title: str
    text: str
    keys: object


def listed_passages(record: Record, note: Notes) -> list[ListedPassage]:
    """Return the passages of a record in its order, each once. Problems are noted."""
    place, listed = _list(record)
    if listed is not None and not isinstance(listed, list):
        note(Problem.PASSAGES, place, listed)
    passages: dict[str | tuple[str, str], ListedPassage] = {}
    last, falling = math.inf, True
    for position, value in enumerate(listed if isinstance(listed, list) else ()):
        where = f"{place}[{position}]"
        passage = _passage(value, where, in_kilt=place.startswith("output"))
        if passage is None:
            note(Problem.PASSAGES, where, value)
            continue
        if passage.id is None:
            note(Problem.NO_ID, where, passage.title or passage.text)
        score = number(value.get("score"), note, f"{where}.score")
        falling = falling and (score is None or score <= last)
        last = last if score is None else score
        same = (passage.title, passage.text) if passage.id is None else passage.id
        if same in passages:
            note(Problem.TWICE, where, passage.id or passage.title)
        passages.setdefault(same, passage)
    if not falling:
        note(Problem.ORDER, place, "a score is above the one before it")
    return list(passages.values())


def _list(record: Record) -> tuple[str, object]:
    """Return the name of the list of passages in a record, and its value."""
    for name in ("ctxs", "hits"):
        if name in record:
            return name, record[name]
    output = record.get("output")
    for position, one in enumerate(output if isinstance(output, list) else ()):
        if isinstance(one, dict) and "provenance" in one:
            return f"output[{position}].provenance", one["provenance"]
    return "ctxs", None


def _passage(value: object, place: str, *, in_kilt: bool) -> ListedPassage | None:
    """Return a passage. None without id, title and text."""
    if not isinstance(value, dict):
        return None
    id_, title = id_of(value, PASSAGE_IDS), text_of(value, "title")
    text = without_queries(text_of(value, "text"))
    if id_ is None and not title and not text:
        return None
    meta = value.get("meta")
    keys = value.get("keys", meta.get("keys") if isinstance(meta, dict) else None)
    if in_kilt:
        title, text = _apart(title, text)
    return ListedPassage(id_, place, title, text, keys)


def without_queries(text: str) -> str:
    """Return a text without the pseudo-queries that MINDER's files append: ` || query @@`, ...

    Text that a model made up cannot hold an answer.
    """
    at = text.find(QUERY_START)
    return text[:at] if at >= 0 and text.rstrip().endswith(TITLE_END.strip()) else text


def _apart(title: str, text: str) -> tuple[str, str]:
    """Return title and body of KILT's `title @@ body`."""
    head, marker, body = text.partition(TITLE_END)
    if title and text.startswith(title + TITLE_END):
        return title, text.removeprefix(title + TITLE_END)
    return (head, body) if marker and not title else (title, text)


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
