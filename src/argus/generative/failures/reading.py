"""Parse records of an output file into cases: SEAL's and MINDER's DPR JSON, KILT, and Argus's."""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic_core import from_json

from argus.data.documents import TITLE_END, TOPIC_ID_FIELDS
from argus.generative.failures.case import (
    BODY,
    QUERY,
    TITLE,
    Case,
    Keys,
    Ngram,
    Passage,
    Positive,
    Split,
    holds_any,
    words,
)
from argus.generative.failures.problems import Note, Problem, Problems

ANSWER = "answer"
REMEMBERED = 100_000
"""N-grams that a process remembers, some 50 MB."""
Record = Mapping[str, object]
"""A record of a file, as it is: each value is checked where it is read."""
MAX_COUNT = 2**53
"""Largest frequency: whole numbers up to it are exact as float64, in which means are taken."""
MAX_NUMBER = 1e100
"""Largest score or weight: sums of such stay finite."""
QUESTION_FIELDS = ("question", "input")
PASSAGE_IDS = ("passage_id", "id", "psg_id", "docid", "doc_id")
POSITIVE_IDS = ("passage_id", "psg_id", "id", "docid", "doc_id")
_QUERY_MARKER, _TITLE_MARKER, _QUERY_START = "||", "@@", " || "
_KEY_FIELDS = (("ngram", "text"), ("count", "freq", "frequency"), ("weight", "score"))


@dataclass(frozen=True)
class Reading:
    """Settings of reading the records of a file.

    split: makes tokens of questions and n-grams. correct: with "annotated", a passage is correct if
    it is a positive. With ANSWER, it is correct if its text holds an answer. qrels: query id ->
    document id -> grade. Grades from 1 replace the file's positives. answers: query id -> answers,
    in place of the file's. A question that is not in them keeps its own. ids: the words of a
    question -> its id, for records without id. Texts of several ids are left out. Records
    without a known id are not looked up in qrels and answers. border: how a title's n-gram
    begins. strict: the markers of an n-gram count among its tokens, as in the thesis. memory:
    n-grams by their text in the file, so that none is split again.
    """

    split: Split
    correct: Literal["annotated", "answer"] = "annotated"
    qrels: Mapping[str, Mapping[str, int]] | None = None
    answers: Mapping[str, tuple[str, ...]] | None = None
    ids: Mapping[tuple[str, ...], str] | None = None
    border: str = "</s>"
    strict: bool = False
    memory: dict[str, Ngram] = field(default_factory=dict, init=False, repr=False, compare=False)


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
    # A record is thousands of lists without a cycle: looking for some takes as long as the rest.
    was = gc.isenabled()
    gc.disable()
    try:
        note = problems.of_record(number)
        record = read_record(content, note)
        if record is None:
            return None
        if question := question_of(record):
            return _case(record, question, number, settings, note)
        if not isinstance(record.get("settings"), dict) or "hits" in record:
            note(Problem.RECORDS, "", f"no question, but {', '.join(map(repr, record))}")
        return None
    finally:
        if was:
            gc.enable()


def read_record(content: bytes, note: Note) -> Record | None:
    """Return a record. None for anything else, which is noted."""
    try:
        record = _parsed(content, note)
    except ValueError as error:
        record = error
    if isinstance(record, dict):
        return record
    note(Problem.RECORDS, "", str(record) if isinstance(record, ValueError) else record)
    return None


def question_of(record: Record) -> str:
    """Return the question of a record, empty if there is none."""
    return next(filter(None, (_text(record, name).strip() for name in QUESTION_FIELDS)), "")


def _case(record: Record, question: str, number: int, settings: Reading, note: Note) -> Case:
    id_ = question_id(record, question, settings.ids or {})
    if id_ is None and not (settings.qrels is None and settings.answers is None):
        note(Problem.NO_QUESTION_ID, "", question)
    answers = _answers(record, id_, settings, note)
    if not answers:
        note(Problem.NO_ANSWERS, "", question)
    listed = listed_passages(record, note)
    if not listed:
        note(Problem.NO_PASSAGES, "", question)
    by_answer, positives = settings.correct == ANSWER, None
    correct: list[bool | None] = [None] * len(listed)
    if not by_answer:
        positives = _positives(record, note)
        if settings.qrels is not None:
            positives = _judged_positives(settings.qrels.get(id_ or ""), positives or (), listed)
        if not positives:
            note(Problem.NO_POSITIVES, "", question)
        else:
            correct = _by_positives(positives, listed)
    elif answers:
        parts = [words(answer) for answer in answers]
        correct = [holds_any(words(passage.text), parts) for passage in listed]
    ngrams = _Ngrams(note)
    passages = tuple(
        Passage(p.place if p.id is None else p.id, p.title, p.text, is_correct,
                ngrams.keys(p.keys, f"{p.place}.keys"))
        for p, is_correct in zip(listed, correct, strict=True)
    )  # fmt: skip
    tokens, gathered = ngrams.gathered(question, settings)
    name = str(number) if id_ is None else id_
    return Case(name, question, tokens, answers, positives, passages, gathered, by_answer)


def question_id(record: Record, question: str, ids: Mapping[tuple[str, ...], str]) -> str | None:
    """Return the id of a question, by which it may be looked up. None if it is not known."""
    return _id(record, TOPIC_ID_FIELDS) or ids.get(words(question))


def _parsed(content: bytes, note: Note) -> object:
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
            repaired: object = from_json(whole.replace("\ufffd".encode(), b"?"))
        except RecursionError:
            raise error from None
        note(Problem.CHARACTERS, "", str(error))
        return repaired


def _number(value: object, note: Note, place: str) -> float | None:
    """Return a number up to MAX_NUMBER, else None. One written as text is noted."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    if not abs(result) <= MAX_NUMBER:
        return None
    if isinstance(value, str):
        note(Problem.NUMBERS, place, value)
    return result


def _count(value: object, note: Note, place: str) -> int | None:
    """Return a whole number from 0 to MAX_COUNT, None for anything else."""
    result = value if type(value) is int else _number(value, note, place)
    if result is None or not 0 <= result <= MAX_COUNT or result != int(result):
        return None
    return int(result)


def _id(record: Record, names: Iterable[str]) -> str | None:
    """Return the first id that a record has under one of the names. A whole number becomes text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _text(record: Record, name: str) -> str:
    """Return a text, empty for a missing value or another type."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def _passage_text(record: Record) -> str:
    """Return a text without the pseudo-queries that MINDER's files append: ` || query @@`, ...

    Text that a model made up cannot hold an answer.
    """
    text = _text(record, "text")
    at = text.find(_QUERY_START)
    return text[:at] if at >= 0 and text.rstrip().endswith(TITLE_END.strip()) else text


def _answers(record: Record, id_: str | None, reading: Reading, note: Note) -> tuple[str, ...]:
    """Return the different answers of a question: those of the settings, of the record, of KILT.

    id_: by which the settings may know it. None if it has none.
    """
    answers: object
    if id_ is not None and reading.answers is not None and id_ in reading.answers:
        answers = list(reading.answers[id_])
    elif "answers" in record:
        answers = record["answers"]
    else:
        output = record.get("output")
        outputs = output if isinstance(output, list) else []
        answers = [o["answer"] for o in outputs if isinstance(o, dict) and o.get("answer")]
    listed = answers if isinstance(answers, list) else [] if answers is None else [answers]
    readable: dict[str, None] = {}
    for position, answer in enumerate(listed):
        if isinstance(answer, str) and words(answer):
            readable[answer] = None
        else:
            note(Problem.ANSWERS, f"answers[{position}]", answer)
    return tuple(readable)


class ListedPassage(NamedTuple):
    """A passage as it is listed. id: None if it has none. place: in the record. keys: as is."""

    id: str | None
    place: str
    title: str
    text: str
    keys: object


def listed_passages(record: Record, note: Note) -> list[ListedPassage]:
    """Return the passages of a record in its order, each once. Problems are noted."""
    place = next((name for name in ("ctxs", "hits") if name in record), "ctxs")
    listed, output = record.get(place), record.get("output")
    in_kilt = False
    if listed is None and place not in record and isinstance(output, list):
        for position, one in enumerate(output):
            if isinstance(one, dict) and "provenance" in one:
                place, listed, in_kilt = f"output[{position}].provenance", one["provenance"], True
                break
    if listed is not None and not isinstance(listed, list):
        note(Problem.PASSAGES, place, listed)
    passages: dict[str | tuple[str, str], ListedPassage] = {}
    last, in_order = math.inf, True
    for position, value in enumerate(listed if isinstance(listed, list) else ()):
        where = f"{place}[{position}]"
        passage = _passage(value, where, in_kilt=in_kilt)
        if passage is None:
            note(Problem.PASSAGES, where, value)
            continue
        if passage.id is None:
            note(Problem.NO_ID, where, passage.title or passage.text)
        score = _number(value.get("score"), note, f"{where}.score")
        in_order = in_order and (score is None or score <= last)
        last = last if score is None else score
        same = (passage.title, passage.text) if passage.id is None else passage.id
        if same in passages:
            note(Problem.TWICE, where, passage.id or passage.title)
        passages.setdefault(same, passage)
    if not in_order:
        note(Problem.ORDER, place, "a score is above the one before it")
    return list(passages.values())


def _passage(value: object, place: str, *, in_kilt: bool) -> ListedPassage | None:
    """Return a passage. None without id, title and text."""
    if not isinstance(value, dict):
        return None
    id_, title, text = _id(value, PASSAGE_IDS), _text(value, "title"), _passage_text(value)
    if id_ is None and not title and not text:
        return None
    meta = value.get("meta")
    keys = value.get("keys", meta.get("keys") if isinstance(meta, dict) else None)
    head, marker, body = text.partition(TITLE_END)
    if in_kilt and title:
        text = text.removeprefix(title + TITLE_END)
    elif in_kilt and marker:
        title, text = head, body
    return ListedPassage(id_, place, title, text, keys)


Both = tuple[tuple[str, ...], tuple[str, ...]]
"""The words of a title and of its text."""


def _both(title: str, text: str) -> Both:
    return words(title), words(text)


def _positives(record: Record, note: Note) -> tuple[Positive, ...] | None:
    """Return the annotated positives of a record, each once. None if it says nothing of them."""
    listed = record.get("positive_ctxs")
    if not isinstance(listed, list):
        if listed is not None:
            note(Problem.POSITIVES, "positive_ctxs", listed)
        return None
    positives: dict[str | Both, Positive] = {}
    for position, value in enumerate(listed):
        id_, text = None, ""
        if isinstance(value, dict):
            id_, text = _id(value, POSITIVE_IDS), _passage_text(value)
        if id_ is None and not text:
            note(Problem.POSITIVES, f"positive_ctxs[{position}]", value)
            continue
        title = _text(value, "title")
        positives.setdefault(id_ or _both(title, text), Positive(id_, title, text or None))
    return tuple(positives.values())


def _judged_positives(
    grades: Mapping[str, int] | None, annotated: Iterable[Positive], listed: list[ListedPassage]
) -> tuple[Positive, ...] | None:
    """Return the positives that judgements name. None for no judgement at all.

    grades: document id to grade, or None. annotated, listed: passages whose titles and texts are
    taken where their ids are among the positives.
    """
    if grades is None:
        return None
    texts: dict[str | None, Positive] = {}
    for one in (*annotated, *(Positive(p.id, p.title, p.text or None) for p in listed)):
        if one.id not in texts or texts[one.id].text is None:
            texts[one.id] = one
    named = (id_ for id_, grade in grades.items() if grade >= 1)
    return tuple(texts.get(id_, Positive(id_, "", None)) for id_ in named)


def _by_positives(
    positives: Sequence[Positive], listed: Sequence[ListedPassage]
) -> list[bool | None]:
    """Return of each passage, best first, whether it is a positive.

    It is when its id is a positive's. Where it or the positive has none, when title and text are.
    A positive counts once, at the first passage that is it. Of several with the same words, those
    with an id that is not listed come first, then those without id, since no other passage can be
    one of them.
    """
    places = {one.id: place for place, one in enumerate(positives) if one.id is not None}
    ids = {passage.id for passage in listed}
    same: dict[Both, list[int]] = {}
    for place, one in enumerate(positives):
        if one.text is not None:
            same.setdefault(_both(one.title, one.text), []).append(place)
    for alike in same.values():
        alike.sort(key=lambda at: 1 if positives[at].id is None else 2 * (positives[at].id in ids))
    titles = {title for title, _ in same}
    nameless = any(one.id is None for one in positives)
    left = set(range(len(positives)))
    correct: list[bool | None] = []
    for passage in listed:
        id_ = passage.id
        match = None if id_ is None else places.get(id_)
        if match is None and (id_ is None or nameless) and words(passage.title) in titles:
            alike = same.get(_both(passage.title, passage.text), [])
            fits = (at for at in alike if id_ is None or positives[at].id is None)
            match = next((at for at in fits if at in left), None)
        correct.append(match in left)
        left -= {match}
    return correct


class _Ngrams:
    """The different n-grams of one question, by their text as the file has it."""

    def __init__(self, note: Note) -> None:
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
        return self._repaired(listed, place) if regular is None else regular

    def gathered(
        self, question: str, reading: Reading
    ) -> tuple[tuple[Hashable, ...], tuple[Ngram, ...]]:
        """Return the tokens of the question, and all n-grams. Splits new texts in one go."""
        memory, places = reading.memory, self._places
        new = {raw: _bare(raw, reading.border) for raw in places if raw not in memory}
        counted = new if reading.strict else [text for text, _ in new.values()]
        question_tokens, *split = map(tuple, reading.split([question, *counted]))
        known = {raw: memory[raw] for raw in places if raw not in new}
        if len(memory) + len(new) > REMEMBERED:
            memory.clear()
        for (raw, (text, view)), tokens in zip(new.items(), split, strict=True):
            memory[raw] = Ngram(text, view, tokens, words(text), self._counts[places[raw]])
            known[raw] = memory[raw]
        ngrams = (
            known[raw] if known[raw].count == times else replace(known[raw], count=times)
            for raw, times in zip(places, self._counts, strict=True)
        )
        return question_tokens, tuple(ngrams)

    def _regular(self, listed: list[Any]) -> Keys | None:  # of a file: anything may be in it
        """Return the keys of a list that is as it should be. None for any other."""
        try:
            texts, counts, weights, *_ = zip(*listed, strict=True)
            regular = (
                {*map(type, texts)} == {str}
                and {*map(type, counts)} == {int}
                and {*map(type, weights)} <= {float, int}
                and min(counts) >= 0
                and max(counts) <= MAX_COUNT
                and len({*texts}) == len(texts)
            )
            added = np.array(weights if regular else (), np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
        if not regular or not (np.abs(added) <= MAX_NUMBER).all():
            return None
        n, places = len(self._counts), self._places
        at = [places.setdefault(text, len(places)) for text in texts]
        self._counts.extend(times for i, times in zip(at, counts, strict=True) if i >= n)
        if any(self._counts[i] != times for i, times in zip(at, counts, strict=True)):
            return None
        return Keys(np.array(at, np.int64), added)

    def _repaired(self, listed: list[object], place: str) -> Keys:
        """Return the keys of any list, and note problems."""
        weights: dict[int, float] = {}
        for position, value in enumerate(listed):
            where = f"{place}[{position}]"
            text, written, heavy = _parts(value)
            weight, times = _number(heavy, self._note, where), _count(written, self._note, where)
            if not isinstance(text, str) or weight is None or (times is None) != (written is None):
                self._note(Problem.KEYS, where, value)
                continue
            at = self._place(text, times, where)
            if at in weights:
                self._note(Problem.KEYS_TWICE, where, text)
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


def _parts(value: object) -> tuple[object, object, object]:
    """Return text, count and weight of a key: a pair, a triple or more, or an object.

    None for what is missing.
    """
    if isinstance(value, dict):
        text, times, weight = (
            next((value[name] for name in names if value.get(name) is not None), None)
            for names in _KEY_FIELDS
        )
        return text, times, weight
    if not isinstance(value, list) or len(value) < 2:
        return None, None, None
    return (value[0], None, value[1]) if len(value) == 2 else (value[0], value[1], value[2])


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
