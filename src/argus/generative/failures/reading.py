"""Open the outputs of one or two search systems, and parse their records.

`open_outputs`: files of DPR JSON, or runs with their corpus -> `Output`s, with one record per
question: the question, its answers and the passages that came back. `read_case`: a record -> a
`Case`, with the passages, their n-grams and the right passages. Troubles are counted in `Problems`,
with the first example of each. `measures` takes the cases.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic_core import from_json

from argus.corpora import NamedCorpus
from argus.corpora.opening import read_corpus
from argus.data.documents import TOPIC_ID_FIELDS, json_items, read_topics
from argus.data.fields import FieldNames
from argus.data.reading import parse_json
from argus.data.rows import suffix_of
from argus.data.runs import ranking, read_run
from argus.data.types import Document, IntArray, Qrels, Run, Topic
from argus.errors import InputError
from argus.generative.results import DPR, RUN, RUN_JSON
from argus.generative.results import FILE as ANSWERS
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
            if kind not in self.first:  # records are read in order
                shown = str(value) if len(str(value)) <= WIDTH else f"{str(value)[:WIDTH]}..."
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
Record = Mapping[str, Any]
"""A record of a file, as it is: each value is checked where it is read."""
# Largest frequency and weight: whole numbers up to it are exact as float64.
MAX_NUMBER = 2**53
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

    split: Split = split_words
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
    question, answers, positive_ctxs, and in ctxs passages, best first, whose keys are
    `[n-gram, frequency or null, weight]`.

    Unreadable parts are left out. All problems are noted in `problems`.
    """
    note = problems.of_record(number)
    try:
        record = from_json(content)
    except ValueError as error:
        note(Problem.RECORDS, "", error)
        return None
    question = _text(record, "question").strip() if isinstance(record, dict) else ""
    if not question:
        note(Problem.RECORDS, "", f"no question in {record!r:.{WIDTH}}")
        return None
    id_ = _id(record, TOPIC_ID_FIELDS) or (settings.ids or {}).get(words(question))
    if id_ is None and not (settings.qrels is None and settings.answers is None):
        note(Problem.NO_QUESTION_ID, "", question)
    given = (settings.answers or {}).get(id_ or "", record.get("answers"))
    answers: dict[str, None] = {}
    for position, answer in enumerate(given if isinstance(given, list | tuple) else []):
        if isinstance(answer, str) and words(answer):
            answers[answer] = None
        else:
            note(Problem.ANSWERS, f"answers[{position}]", answer)
    listed = _listed_passages(record, note)
    for kind, is_empty in ((Problem.NO_ANSWERS, not answers), (Problem.NO_PASSAGES, not listed)):
        if is_empty:
            note(kind, "", question)
    by_answer, positives = settings.correct == ANSWER, None
    correct: list[bool | None] = [None] * len(listed)
    if not by_answer:
        positives = _positives(record, id_ or "", settings.qrels, listed, note)
        if not positives:
            note(Problem.NO_POSITIVES, "", question)
        else:
            correct = _match_positives(positives, listed)
    elif answers:
        parts = [words(answer) for answer in answers]
        correct = [holds_any(words(passage.text), parts) for passage in listed]
    counts: dict[str, int | None] = {}
    weights = [_weights(p.keys, f"{p.place}.keys", counts, note) for p in listed]
    places = {written: place for place, written in enumerate(counts)}
    passages = tuple(
        Passage(
            p.place if p.id is None else p.id, p.title, p.text, is_correct,
            None if of_keys is None else Keys(
                np.array([places[written] for written in of_keys], np.int64),
                np.array(list(of_keys.values()), np.float64),
            ),
        )
        for p, is_correct, of_keys in zip(listed, correct, weights, strict=True)
    )  # fmt: skip
    bare = [_without_markers(one, settings.border) for one in counts]
    counted = list(counts) if settings.strict else [text for text, _ in bare]
    question_tokens, *tokens = map(tuple, settings.split([question, *counted]))
    ngrams = tuple(
        Ngram(text, view, of_text, words(text), count)
        for (text, view), of_text, count in zip(bare, tokens, counts.values(), strict=True)
    )
    name = str(number) if id_ is None else id_
    return Case(
        name, question, question_tokens, tuple(answers), positives, passages, ngrams, by_answer
    )


def _number(value: object) -> float | None:
    """Return a number up to MAX_NUMBER, None for anything else."""
    is_number = type(value) in (int, float) and abs(value) <= MAX_NUMBER  # type: ignore[arg-type]
    return float(value) if is_number else None  # type: ignore[arg-type]


def _id(record: Record, names: Iterable[str]) -> str | None:
    """Return the first id that a record has under one of the names. A whole number becomes text."""
    values = (record.get(name) for name in names)
    ids = (str(value) for value in values if type(value) in (str, int) and value != "")
    return next(ids, None)


def _text(record: Record, name: str) -> str:
    """Return a text, empty for a missing value or another type.

    Without the pseudo-queries that MINDER's files append to it: ` || query @@`, ... What a model
    made up cannot hold an answer.
    """
    value = record.get(name)
    text = value if isinstance(value, str) else ""
    at = text.find(_QUERY_START)
    return text[:at] if at >= 0 and text.rstrip().endswith(_TITLE_MARKER) else text


class ListedPassage(NamedTuple):
    """A passage as it is listed. id: None if it has none. place: in the record. keys: as is."""

    id: str | None
    place: str
    title: str
    text: str
    keys: object


def _listed_passages(record: Record, note: Note) -> list[ListedPassage]:
    """Return the passages of a record in its order, each once. Problems are noted."""
    listed = record.get("ctxs")
    if listed is not None and not isinstance(listed, list):
        note(Problem.PASSAGES, "ctxs", listed)
    passages: dict[str | tuple[str, str], ListedPassage] = {}
    last, in_order = math.inf, True
    for position, value in enumerate(listed if isinstance(listed, list) else ()):
        where, known = f"ctxs[{position}]", value if isinstance(value, dict) else {}
        id_, title, text = _id(known, PASSAGE_IDS), _text(known, "title"), _text(known, "text")
        if id_ is None and not title and not text:
            note(Problem.PASSAGES, where, value)
            continue
        if id_ is None:
            note(Problem.NO_ID, where, title or text)
        score = _number(value.get("score"))
        in_order = in_order and (score is None or score <= last)
        last = last if score is None else score
        same = (title, text) if id_ is None else id_
        if same in passages:
            note(Problem.TWICE, where, id_ or title)
        passages.setdefault(same, ListedPassage(id_, where, title, text, value.get("keys")))
    if not in_order:
        note(Problem.ORDER, "ctxs", "a score is above the one before it")
    return list(passages.values())


@lru_cache(maxsize=1 << 10)
def _both(title: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a title and of its text."""
    return words(title), words(text)


def _positives(
    record: Record,
    id_: str,
    qrels: Mapping[str, Mapping[str, int]] | None,
    listed: Sequence[ListedPassage],
    note: Note,
) -> tuple[Positive, ...] | None:
    """Return the positives of a record, each once. None if nothing is said of them.

    qrels: judgements, in place of those of the record: their titles and texts are those of passages
    with their ids, annotated or listed.
    """
    annotated = record.get("positive_ctxs")
    positives: dict[object, Positive] = {}
    for position, value in enumerate(annotated if isinstance(annotated, list) else ()):
        known = value if isinstance(value, dict) else {}
        own, title, text = _id(known, PASSAGE_IDS), _text(known, "title"), _text(known, "text")
        if own is None and not text:
            note(Problem.POSITIVES, f"positive_ctxs[{position}]", value)
            continue
        positives.setdefault(own or _both(title, text), Positive(own, title, text or None))
    if qrels is None:
        return tuple(positives.values()) if isinstance(annotated, list) else None
    grades = qrels.get(id_)
    if grades is None:
        return None
    texts: dict[str | None, Positive] = {}
    for one in (*positives.values(), *(Positive(p.id, p.title, p.text or None) for p in listed)):
        if one.id not in texts or texts[one.id].text is None:
            texts[one.id] = one
    named = (name for name, grade in grades.items() if grade >= 1)
    return tuple(texts.get(name, Positive(name, "", None)) for name in named)


def _match_positives(
    positives: Sequence[Positive], listed: Sequence[ListedPassage]
) -> list[bool | None]:
    """Return of each passage, best first, whether it is a positive that none before it was.

    It is when its id is a positive's. Where it or the positive has none, when title and text are.
    """
    left, named = list(positives), {one.id: one for one in positives if one.id is not None}
    ids = {passage.id for passage in listed}
    # First those that no other passage can be, last those that are listed.
    ordered = sorted(positives, key=lambda one: 1 if one.id is None else 2 * (one.id in ids))
    correct: list[bool | None] = []
    for passage in listed:
        if passage.id in named:
            fits = [named[passage.id]]
        else:
            fits = [
                one
                for one in ordered
                if (one.id is None or passage.id is None)
                and one.text is not None
                and _both(one.title, one.text) == _both(passage.title, passage.text)
            ]
        match = next((one for one in fits if one in left), None)
        correct.append(match is not None)
        if match is not None:
            left.remove(match)
    return correct


def _weights(
    listed: object, place: str, counts: dict[str, int | None], note: Note
) -> dict[str, float] | None:
    """Return the weights of a passage's keys, `[text, count, weight]` each. None without keys.

    counts: of the n-grams of the question, as the file writes them. New ones are added. The first
    count of an n-gram stays. The weights of one that is listed twice are added.
    """
    if not isinstance(listed, list):
        note(Problem.NO_KEYS if listed is None else Problem.KEYS, place, listed)
        return None
    if not listed:
        note(Problem.NO_KEYS, place, "an empty list")
    weights: dict[str, float] = {}
    for position, value in enumerate(listed):
        is_key = isinstance(value, list) and len(value) > 2 and isinstance(value[0], str)
        text, count, heavy = value[:3] if is_key else ("", None, None)
        weight, times = _number(heavy), _number(count)
        is_count = count is None or (times is not None and times >= 0 and times == int(times))
        if weight is None or not is_count:
            note(Problem.KEYS, f"{place}[{position}]", value)
            continue
        if counts.get(text) is None:
            counts[text] = None if times is None else int(times)
        weights[text] = weights.get(text, 0.0) + weight
    return weights


def _without_markers(raw: str, border: str) -> tuple[str, str]:
    """Return the text of an n-gram without its markers, and its view."""
    text, view = raw.strip(), BODY
    if text.startswith(border):
        text, view = text.removeprefix(border).lstrip(), TITLE
    elif text.startswith(_QUERY_MARKER):
        text, view = text.removeprefix(_QUERY_MARKER).lstrip(), QUERY
    if text == _TITLE_MARKER or text.endswith(" " + _TITLE_MARKER):
        text = text.removesuffix(_TITLE_MARKER).rstrip()
    return text, view


_PLAIN_NAMES = {"dpr", "run", "output", "outputs", "results"}


@dataclass
class Output:
    """The output of one system, as records that are read one at a time.

    settings: of the search that made it, where its answers stand beside it.
    border: text that a generative model puts before a title. None if it is not known.
    records: yields the objects made of a run, which have no n-grams. None where the file itself
        holds them.
    """

    name: str
    file: Path
    settings: Mapping[str, object] = field(default_factory=dict)
    border: str | None = None
    records: Callable[[], Iterator[bytes]] | None = None

    def items(self) -> Iterator[bytes]:
        """Yield the records. Raises InputError where the file breaks off."""
        return json_items(self.file) if self.records is None else self.records()


def open_outputs(
    paths: list[Path],
    *,
    corpus: NamedCorpus | None,
    queries: Path | None,
    fields: FieldNames,
    qrels: Qrels | None = None,
) -> list[Output]:
    """Open the outputs of one or two systems. Names tell them apart.

    A path is a file, or the folder of a search. qrels: of a run. Raises InputError for more than
    two, for none, and for a run without the texts and questions that belong to it.
    """
    if not 1 <= len(paths) <= 2:
        raise InputError(
            f"{len(paths)} outputs",
            expected="one, or two to compare",
            fix="Give the files of one or two systems.",
            where="OUTPUT",
        )
    outputs = []
    documents: dict[str, Document] | None = None
    for path in paths:
        inside = (path / name for name in (DPR, RUN, RUN_JSON) if (path / name).is_file())
        file = path if path.is_file() else next(inside, None)
        if file is None:
            raise InputError(
                f"the folder holds none of {DPR}, {RUN}" if path.is_dir() else "no such file",
                expected="DPR JSON, a run, or the folder of argus research generative search",
                fix="Check the path.",
                where=path,
            )
        stem, home = file.name.split(".")[0], file.resolve().parent.name
        output = Output(home if stem.lower() in _PLAIN_NAMES and home else stem, file)
        outputs.append(output)
        is_run = suffix_of(file) not in (".json", ".jsonl", ".ndjson")
        if suffix_of(file) == ".json":
            with file.open("rb") as opened:  # a file that is written on one line is long
                is_run = opened.read(64).lstrip()[:1] == b"{"
        if not is_run:
            answers = file.with_name(ANSWERS)
            if file.name == DPR and answers.is_file():
                header = parse_json(next(json_items(answers)))
                output.settings, output.border = header["settings"], header["border"]
            continue
        if corpus is None or queries is None:
            raise InputError(
                "a run, which has ids alone",
                expected="--corpus and --queries with it: texts of passages and questions",
                fix="Give both, or the DPR JSON of the search.",
                where=file,
            )
        documents = documents or {d.id: d for d in read_corpus(corpus, fields)}
        topics = {t.query.id: t for t in read_topics(queries, coerce_ids=fields.coerce_ids)}
        output.records = _run_records(file, read_run(file), topics, documents, qrels or {})
    if len({output.name for output in outputs}) < len(outputs):
        for number, output in enumerate(outputs, start=1):
            output.name = f"{output.name} ({number})"
    return outputs


def _run_records(
    file: Path,
    run: Run,
    topics: Mapping[str, Topic],
    corpus: Mapping[str, Document],
    qrels: Qrels,
) -> Callable[[], Iterator[bytes]]:
    """Return the function that yields a record per question of a run.

    Relevant documents come with their texts, too. Raises InputError where questions or corpus are
    of another run.
    """
    if unknown := [query for query in run if query not in topics]:
        raise InputError(
            f"{len(unknown):,} questions of the run are not in --queries, the first {unknown[0]!r}",
            expected="the questions that the run answers",
            fix="Check that both belong together.",
            where=file,
        )
    if not any(doc in corpus for scores in run.values() for doc in scores):
        raise InputError(
            "none of its documents is in --corpus",
            expected="the corpus that was searched",
            fix="Check that both belong together; --coerce-ids for ids that are numbers.",
            where=file,
        )

    def passage(id_: str) -> dict[str, str]:
        known = corpus.get(id_)
        title, text = (known.title, known.text) if known else ("", "")
        return {"passage_id": id_, "title": title, "text": text}

    def records() -> Iterator[bytes]:
        for query, scores in run.items():
            topic = topics[query]
            record: dict[str, object] = {"id": query, "question": topic.query.text}
            if "positive_ctxs" in topic.given:
                record["positive_ctxs"] = topic.given["positive_ctxs"]
            if topic.answers:
                record["answers"] = list(topic.answers)
            if judged := [doc for doc, grade in qrels.get(query, {}).items() if grade > 0]:
                record["positive_ctxs"] = [passage(doc) for doc in judged]
            record["ctxs"] = [{**passage(d), "score": scores[d]} for d in ranking(scores)]
            yield json.dumps(record, ensure_ascii=False).encode("utf-8")

    return records
