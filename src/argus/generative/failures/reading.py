"""Parse records of an output file into cases: SEAL's and MINDER's DPR JSON, KILT, and Argus's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic_core import from_json

from argus.data.documents import TITLE_END, TOPIC_ID_FIELDS
from argus.data.types import IntArray
from argus.indexes.lexical import words as split

WIDTH = 80


class Problem(StrEnum):
    """A kind of trouble, and the remedy taken, in words after a count: "3 passages without id".

    N-grams are counted per passage.
    """

    RECORDS = "records that could not be read, left out"
    NO_QUESTION_ID = "questions without id, not looked up in the given judgements or answers"
    ANSWERS = "answers that are no text or have no letter or digit, left out"
    NO_ANSWERS = "questions without answers"
    POSITIVES = "positives that could not be read, left out"
    NO_POSITIVES = "questions without positives"
    NO_PASSAGES = "questions without passages"
    PASSAGES = "passages that could not be read, left out"
    NO_ID = "passages without id, compared by title and text"
    TWICE = "passages listed twice, counted once, at the better rank"
    ORDER = "lists not in the order of their scores, taken in the file's order"
    NO_KEYS = "passages without n-grams"
    KEYS = "n-grams that could not be read, left out"


Note = Callable[[Problem, str, object], None]
"""Count a problem at a place of one record, where a value stands."""


class Problems:
    """Counts of problems, each with its first example: number of the record, and words."""

    def __init__(self) -> None:
        self.counts: Counter[Problem] = Counter()
        self.first: dict[Problem, tuple[int, str]] = {}

    def of_record(self, number: int) -> Note:
        """Return the function that notes problems of a record. number: of it, from 0."""

        def note(kind: Problem, place: str, value: object) -> None:
            self.counts[kind] += 1
            if kind not in self.first or number < self.first[kind][0]:
                text = value if isinstance(value, str) else repr(value)
                shown = text if len(text) <= WIDTH else text[:WIDTH] + "..."
                self.first[kind] = number, f"[{number}]{'.' if place else ''}{place}: {shown}"

        return note

    def merge(self, other: Problems) -> None:
        """Add the problems of other records."""
        self.counts += other.counts
        for kind, example in other.first.items():
            self.first[kind] = min(example, self.first.get(kind, example))

    def listed(self) -> dict[Problem, dict[str, Any]]:
        """Return by kind, in their order, what it is, the count, and the first example."""
        return {
            kind: {"what": kind.value, "count": self.counts[kind], "first": self.first[kind][1]}
            for kind in filter(self.counts.get, Problem)
        }


Split = Callable[[Sequence[str]], Sequence[Sequence[Hashable]]]
"""Split texts into the tokens of the analysis."""
TITLE, BODY, QUERY = "title", "body", "query"
"""Source of an n-gram: a title, a text, or (MINDER) a pseudo-query."""


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, as BM25 has them: "U.S." is two, "ﬁ" is "fi"."""
    return tuple(split(text))


def split_words(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of each text: a `Split` where no tokenizer was given."""
    return [words(text) for text in texts]


def holds_any(text: Sequence[str], parts: Iterable[Sequence[str]]) -> bool:
    """Return whether one of several word sequences stands in a text, word after word.

    An empty sequence stands in none.
    """
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for part in parts:
        if part:
            by_first.setdefault(part[0], []).append(tuple(part))
    return any(
        tuple(text[at : at + len(part)]) == part
        for at, word in enumerate(text)
        for part in by_first.get(word, ())
    )


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

    correct: whether it is a positive. None without judgements. keys: None if the file has none
    for it.
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


ANSWER = "answer"
Record = Mapping[str, object]
"""A record of a file, as it is: each value is checked where it is read."""
MAX_COUNT = 2**53
"""Largest frequency: whole numbers up to it are exact as float64, in which means are taken."""
MAX_NUMBER = 1e100
"""Largest score or weight: sums of such stay finite."""
QUESTION_FIELDS = ("question", "input")
PASSAGE_IDS = ("passage_id", "psg_id", "id", "docid", "doc_id")
_QUERY_MARKER, _TITLE_MARKER, _QUERY_START = "||", "@@", " || "


@dataclass(frozen=True)
class Reading:
    """Settings of reading the records of a file.

    split: makes tokens of questions and n-grams. correct: with "annotated", a passage is correct if
    it is a positive. With ANSWER, it is correct if its text holds an answer. qrels: query id ->
    document id -> grade. Grades from 1 replace the file's positives. answers: query id -> answers,
    in place of the file's. A question that is not in them keeps its own. ids: the words of a
    question -> its id, for records without id. Texts of several ids are left out. Records
    without a known id are not looked up in qrels and answers. border: how a title's n-gram
    begins. strict: the markers of an n-gram count among its tokens, as in the thesis.
    """

    split: Split
    correct: Literal["annotated", "answer"] = "annotated"
    qrels: Mapping[str, Mapping[str, int]] | None = None
    answers: Mapping[str, tuple[str, ...]] | None = None
    ids: Mapping[tuple[str, ...], str] | None = None
    border: str = "</s>"
    strict: bool = False


def read_case(content: bytes, number: int, settings: Reading, problems: Problems) -> Case | None:
    """Return the question of a record. None if there is none, which is noted.

    number: of the record in its file, from 0. Its id where it has none and `settings.ids` does not
    know its question, which is then not looked up in given judgements or answers. Read are

    * DPR JSON: question, answers, positive_ctxs, and in ctxs passages, best first, whose keys are
      `[n-gram, frequency or null, weight]`.
    * KILT: input, and in output the passages of provenance, keys in their meta.
    * answers.jsonl of `argus research generative search`: hits. Its first line, the settings, is
    no problem.

    Unreadable parts are left out. All problems are noted in `problems`.
    """
    note = problems.of_record(number)
    record = read_record(content, note)
    if record is None:
        return None
    question = question_of(record)
    if not question:
        if not isinstance(record.get("settings"), dict) or "hits" in record:
            note(Problem.RECORDS, "", f"no question, but {', '.join(map(repr, record))}")
        return None
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
    places: dict[str, int] = {}
    counts: list[int | None] = []
    passages = tuple(
        Passage(p.place if p.id is None else p.id, p.title, p.text, is_correct,
                _keys(p.keys, f"{p.place}.keys", places, counts, note))
        for p, is_correct in zip(listed, correct, strict=True)
    )  # fmt: skip
    tokens, ngrams = _ngrams(question, places, counts, settings)
    name = str(number) if id_ is None else id_
    return Case(name, question, tokens, answers, positives, passages, ngrams, by_answer)


def read_record(content: bytes, note: Note) -> Record | None:
    """Return a record. None for anything else, which is noted."""
    try:
        record = from_json(content)
    except ValueError as error:
        note(Problem.RECORDS, "", str(error))
        return None
    if isinstance(record, dict):
        return record
    note(Problem.RECORDS, "", record)
    return None


def question_of(record: Record) -> str:
    """Return the question of a record, empty if there is none."""
    return next(filter(None, (_text(record, name).strip() for name in QUESTION_FIELDS)), "")


def question_id(record: Record, question: str, ids: Mapping[tuple[str, ...], str]) -> str | None:
    """Return the id of a question, by which it may be looked up. None if it is not known."""
    return _id(record, TOPIC_ID_FIELDS) or ids.get(words(question))


def _number(value: object) -> float | None:
    """Return a number up to MAX_NUMBER, None for anything else."""
    is_number = type(value) in (int, float) and abs(value) <= MAX_NUMBER  # type: ignore[arg-type]
    return float(value) if is_number else None  # type: ignore[arg-type]


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
    listed: object
    if id_ is not None and reading.answers is not None and id_ in reading.answers:
        listed = list(reading.answers[id_])
    elif "answers" in record:
        listed = record["answers"]
    else:
        output = record.get("output")
        outputs = output if isinstance(output, list) else []
        listed = [o["answer"] for o in outputs if isinstance(o, dict) and o.get("answer")]
    readable: dict[str, None] = {}
    for position, answer in enumerate(listed if isinstance(listed, list) else []):
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
    for position, one in enumerate(output if isinstance(output, list) else ()):
        if place not in record and isinstance(one, dict) and "provenance" in one:
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
        score = _number(value.get("score"))
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


@lru_cache(maxsize=1 << 10)
def _both(title: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a title and of its text."""
    return words(title), words(text)


def _positives(record: Record, note: Note) -> tuple[Positive, ...] | None:
    """Return the annotated positives of a record, each once. None if it says nothing of them."""
    listed = record.get("positive_ctxs")
    if not isinstance(listed, list):
        return None
    positives: dict[object, Positive] = {}
    for position, value in enumerate(listed):
        id_, text = None, ""
        if isinstance(value, dict):
            id_, text = _id(value, PASSAGE_IDS), _passage_text(value)
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
    """Return of each passage, best first, whether it is a positive that none before it was.

    It is when its id is a positive's. Where it or the positive has none, when title and text are.
    """
    left, named = list(positives), {one.id: one for one in positives if one.id is not None}
    ids = {passage.id for passage in listed}

    def rank(one: Positive) -> int:
        """Return 0 for a positive that no other passage can be, 2 for one that is listed."""
        return 1 if one.id is None else 2 * (one.id in ids)

    correct: list[bool | None] = []
    for passage in listed:
        if passage.id in named:
            fits = [named[passage.id]]
        else:
            fits = [
                one
                for one in sorted(left, key=rank)
                if (one.id is None or passage.id is None)
                and one.text is not None
                and _both(one.title, one.text) == _both(passage.title, passage.text)
            ]
        match = next((one for one in fits if one in left), None)
        correct.append(match is not None)
        if match is not None:
            left.remove(match)
    return correct


def _keys(
    listed: object, place: str, places: dict[str, int], counts: list[int | None], note: Note
) -> Keys | None:
    """Return the keys of a passage, `[text, count, weight]` each. None where it lists none.

    places: of the n-grams of the question, as the file writes them, in `counts`. New ones are
    added. The first count of an n-gram stays. The weights of one that is listed twice are added.
    """
    if not isinstance(listed, list):
        note(Problem.NO_KEYS if listed is None else Problem.KEYS, place, listed)
        return None
    if not listed:
        note(Problem.NO_KEYS, place, "an empty list")
    weights: dict[int, float] = {}
    for position, value in enumerate(listed):
        is_key = isinstance(value, list) and len(value) > 2
        text, count, heavy = value[:3] if is_key else (None, None, None)
        weight, times = _number(heavy), _number(count)
        is_count = times is not None and 0 <= times <= MAX_COUNT and times == int(times)
        if not isinstance(text, str) or weight is None or not (is_count or count is None):
            note(Problem.KEYS, f"{place}[{position}]", value)
            continue
        at = places.setdefault(text, len(places))
        if at == len(counts):
            counts.append(None)
        if counts[at] is None and times is not None:
            counts[at] = int(times)
        weights[at] = weights.get(at, 0.0) + weight
    return Keys(np.array(list(weights), np.int64), np.array(list(weights.values()), np.float64))


def _ngrams(
    question: str, raw: Iterable[str], counts: Iterable[int | None], reading: Reading
) -> tuple[tuple[Hashable, ...], tuple[Ngram, ...]]:
    """Return the tokens of the question, and its n-grams. Splits all texts in one go."""
    bare = [_bare(one, reading.border) for one in raw]
    counted = list(raw) if reading.strict else [text for text, _ in bare]
    question_tokens, *tokens = map(tuple, reading.split([question, *counted]))
    parts = zip(bare, tokens, counts, strict=True)
    return question_tokens, tuple(
        Ngram(text, view, of_text, words(text), count) for (text, view), of_text, count in parts
    )


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
